#include "berth/codec/kubernetes_objects.h"

#include <array>
#include <optional>

#include "object_reader.h"

namespace berth::codec {
namespace {

using std::string_view;

constexpr std::array kRuntimeKinds = {
    RuntimeKind{"AlluxioRuntime", "alluxioruntimes", "alluxio"},
    RuntimeKind{"JuiceFSRuntime", "juicefsruntimes", "juicefs"},
    RuntimeKind{"JindoRuntime", "jindoruntimes", "jindo"},
    RuntimeKind{"GooseFSRuntime", "goosefsruntimes", "goosefs"},
    RuntimeKind{"EFCRuntime", "efcruntimes", "efc"},
    RuntimeKind{"ThinRuntime", "thinruntimes", "thin"},
    RuntimeKind{"VineyardRuntime", "vineyardruntimes", "vineyard"},
};

std::optional<WatchEventType> parse_event_type(string_view name) {
  if (name == "ADDED") return WatchEventType::kAdded;
  if (name == "MODIFIED") return WatchEventType::kModified;
  if (name == "DELETED") return WatchEventType::kDeleted;
  if (name == "BOOKMARK") return WatchEventType::kBookmark;
  if (name == "ERROR") return WatchEventType::kError;
  return std::nullopt;
}

template <class T>
void read_status(WatchEvent<T>& event, simdjson::dom::object status, Reading& reading) {
  const auto [code, message, reason] = pick<3>(status, {string_view("code"), "message", "reason"}, reading);
  std::int64_t number = 0;
  if (code.given && (code.value.get(number) != simdjson::SUCCESS || number < 0 || number > 999)) {
    reading.fail("must be an HTTP status", code.name);
  }
  event.status_code = static_cast<int>(number);
  event.message = text(message, reading);
  if (event.message.empty()) event.message = text(reason, reading);
}

template <class T>
void read_version(WatchEvent<T>& event, simdjson::dom::object json, Reading& reading) {
  const auto [metadata] = pick<1>(json, {string_view("metadata")}, reading);
  if (const auto fields = object(metadata, reading)) {
    const Reading::Step step(reading, "metadata");
    const auto [version] = pick<1>(*fields, {string_view("resourceVersion")}, reading);
    event.resource_version = text(version, reading);
  }
}

}  // namespace

std::span<const RuntimeKind> runtime_kinds() { return kRuntimeKinds; }

core::Result<simdjson::dom::object> parse_object(JsonDocument& document, std::string& text) {
  const auto root = document.parse(text);
  if (!root) return tl::unexpected(root.error());
  simdjson::dom::object object;
  if (root->get(object) == simdjson::SUCCESS) return object;
  return core::fail(core::ErrorCode::kInvalid, wrong_type("an object", *root));
}

ObjectReader::ObjectReader(model::ResourceNames resources) : state_(std::make_unique<State>()) {
  state_->resources = std::move(resources);
}
ObjectReader::~ObjectReader() = default;
ObjectReader::ObjectReader(ObjectReader&&) noexcept = default;
ObjectReader& ObjectReader::operator=(ObjectReader&&) noexcept = default;

template <class T>
core::Result<T> ObjectReader::read(std::string& json) {
  const auto root = parse_object(state_->document, json);
  if (!root) return tl::unexpected(root.error());
  T out;
  Reading reading;
  read_object(out, *root, {}, state_->resources, reading);
  if (reading.failed()) return tl::unexpected(reading.error());
  return out;
}

template <class T>
core::Result<ListPage<T>> ObjectReader::read_list(std::string& json) {
  const auto root = parse_object(state_->document, json);
  if (!root) return tl::unexpected(root.error());
  Reading reading;
  const auto [kind, version, metadata, items] =
      pick<4>(*root, {string_view("kind"), "apiVersion", "metadata", "items"}, reading);
  // An answer of another kind must not pass for a list without items: it would empty our view of the cluster.
  const string_view found = text(kind, reading);
  const string_view item_kind = kind_of_items(found);
  const string_view group = text(version, reading);
  if (!is_kind<T>(item_kind) || (!group.empty() && !Kind<T>::in_group(group))) {
    reading.fail((found.empty() ? "is missing" : "is " + std::string(found) + " of " + std::string(group)) + ", not " +
                     std::string(Kind<T>::kName) + "List",
                 "kind");
  }
  ListPage<T> page;
  if (const auto fields = object(metadata, reading)) {
    const Reading::Step step(reading, "metadata");
    const auto [resource_version, next] = pick<2>(*fields, {string_view("resourceVersion"), "continue"}, reading);
    page.resource_version = text(resource_version, reading);
    page.continue_token = text(next, reading);
  }
  const auto list = array(items, reading);
  if (reading.failed()) return tl::unexpected(reading.error());
  if (!list) return page;  // Go writes an empty list as null
  page.items.reserve(list->size());
  std::size_t index = 0;
  PassedOver passed_over;
  for (const simdjson::dom::element item : *list) {
    auto object = read_item<T>(item, item_kind, index++, state_->resources, passed_over);
    if (object) {
      page.items.push_back(std::move(*object));
    } else if (page.broken++ == 0) {
      page.first_broken_why = object.error().to_string();
    }
  }
  if (page.broken == 0) page.first_broken_why = std::move(passed_over.first_why);
  page.broken += passed_over.objects;
  return page;
}

template <class T>
core::Result<WatchEvent<T>> ObjectReader::read_event(std::string& line) {
  const auto root = parse_object(state_->document, line);
  if (!root) return tl::unexpected(root.error());
  Reading reading;
  const auto [type, field] = pick<2>(*root, {string_view("type"), "object"}, reading);
  const string_view name = text(type, reading);
  const auto known = parse_event_type(name);
  if (!known) reading.fail("\"" + std::string(name.substr(0, 32)) + "\" is not a type of watch event", "type");
  const auto json = object(field, reading);
  if (!json) reading.fail("is missing", "object");
  if (reading.failed()) return tl::unexpected(reading.error());

  WatchEvent<T> event;
  event.type = *known;
  const Reading::Step step(reading, "object");
  if (event.type == WatchEventType::kError) {
    read_status(event, *json, reading);
  } else {
    read_version(event, *json, reading);
    if (event.type != WatchEventType::kBookmark) read_object(event.object, *json, {}, state_->resources, reading);
    PassedOver passed_over;
    passed_over.note(event.object, reading);
    event.broken_why = std::move(passed_over.first_why);
  }
  if (reading.failed()) return tl::unexpected(reading.error());
  return event;
}

template core::Result<model::Node> ObjectReader::read(std::string&);
template core::Result<ListPage<model::Node>> ObjectReader::read_list(std::string&);
template core::Result<WatchEvent<model::Node>> ObjectReader::read_event(std::string&);
template core::Result<model::Pod> ObjectReader::read(std::string&);
template core::Result<ListPage<model::Pod>> ObjectReader::read_list(std::string&);
template core::Result<WatchEvent<model::Pod>> ObjectReader::read_event(std::string&);
template core::Result<model::Claim> ObjectReader::read(std::string&);
template core::Result<ListPage<model::Claim>> ObjectReader::read_list(std::string&);
template core::Result<WatchEvent<model::Claim>> ObjectReader::read_event(std::string&);
template core::Result<model::Dataset> ObjectReader::read(std::string&);
template core::Result<ListPage<model::Dataset>> ObjectReader::read_list(std::string&);
template core::Result<WatchEvent<model::Dataset>> ObjectReader::read_event(std::string&);
template core::Result<model::CacheRuntime> ObjectReader::read(std::string&);
template core::Result<ListPage<model::CacheRuntime>> ObjectReader::read_list(std::string&);
template core::Result<WatchEvent<model::CacheRuntime>> ObjectReader::read_event(std::string&);
template core::Result<model::DataLoad> ObjectReader::read(std::string&);
template core::Result<ListPage<model::DataLoad>> ObjectReader::read_list(std::string&);
template core::Result<WatchEvent<model::DataLoad>> ObjectReader::read_event(std::string&);
template core::Result<model::DisruptionBudget> ObjectReader::read(std::string&);
template core::Result<ListPage<model::DisruptionBudget>> ObjectReader::read_list(std::string&);
template core::Result<WatchEvent<model::DisruptionBudget>> ObjectReader::read_event(std::string&);
template core::Result<KoordinatorDevice> ObjectReader::read(std::string&);
template core::Result<ListPage<KoordinatorDevice>> ObjectReader::read_list(std::string&);
template core::Result<WatchEvent<KoordinatorDevice>> ObjectReader::read_event(std::string&);
template core::Result<NumaTopology> ObjectReader::read(std::string&);
template core::Result<ListPage<NumaTopology>> ObjectReader::read_list(std::string&);
template core::Result<WatchEvent<NumaTopology>> ObjectReader::read_event(std::string&);
template core::Result<ResourceSlice> ObjectReader::read(std::string&);
template core::Result<ListPage<ResourceSlice>> ObjectReader::read_list(std::string&);
template core::Result<WatchEvent<ResourceSlice>> ObjectReader::read_event(std::string&);
template core::Result<model::SchedulingPolicy> ObjectReader::read(std::string&);
template core::Result<ListPage<model::SchedulingPolicy>> ObjectReader::read_list(std::string&);
template core::Result<WatchEvent<model::SchedulingPolicy>> ObjectReader::read_event(std::string&);

}  // namespace berth::codec
