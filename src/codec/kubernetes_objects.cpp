#include "berth/codec/kubernetes_objects.h"

#include <simdjson.h>

#include <optional>
#include <string_view>
#include <type_traits>

#include "json_document.h"
#include "json_fields.h"
#include "node_reader.h"
#include "pod_reader.h"

namespace berth::codec {
namespace {

using std::string_view;
using Json = simdjson::dom::object;

template <class T>
constexpr string_view kKind = std::is_same_v<T, model::Node> ? "Node" : "Pod";

std::string label(const model::Node& node) { return "Node " + node.name; }
std::string label(const model::Pod& pod) { return "Pod " + pod.ns + "/" + pod.name; }

template <class T>
void read_object(T& out, Json json, const model::ResourceNames& resources, Reading& reading) {
  const auto [kind] = pick<1>(json, {string_view("kind")}, reading);
  // Items of a typed list carry no kind.
  if (const string_view found = text(kind, reading); !found.empty() && found != kKind<T>) {
    reading.fail("is " + std::string(found) + ", not " + std::string(kKind<T>), "kind");
    return;
  }
  read_into(out, json, resources, reading);
  if (out.name.empty()) reading.fail("is missing", "metadata.name");
}

// One item of a list. An error is named by what can be read of the object's identity.
template <class T>
core::Result<T> read_item(simdjson::dom::element item, std::size_t index, const model::ResourceNames& resources) {
  T out;
  Reading reading;
  if (const auto json = item_object(item, reading)) read_object(out, *json, resources, reading);
  if (!reading.failed()) return out;
  core::Error error = reading.error();
  std::string where = "items[" + std::to_string(index) + "]";
  if (!out.name.empty()) where += " (" + label(out) + ")";
  if (!error.where.empty()) where += " " + error.where;
  error.where = std::move(where);
  return tl::unexpected(std::move(error));
}

core::Result<Json> parse_object(JsonDocument& document, std::string& text) {
  const auto root = document.parse(text);
  if (!root) return tl::unexpected(root.error());
  Json object;
  if (root->get(object) == simdjson::SUCCESS) return object;
  return core::fail(core::ErrorCode::kInvalid, wrong_type("an object", *root));
}

template <class T>
core::Result<T> read_single(JsonDocument& document, std::string& text, const model::ResourceNames& resources) {
  const auto json = parse_object(document, text);
  if (!json) return tl::unexpected(json.error());
  T out;
  Reading reading;
  read_object(out, *json, resources, reading);
  if (reading.failed()) return tl::unexpected(reading.error());
  return out;
}

template <class T>
core::Result<ListPage<T>> read_list(JsonDocument& document, std::string& json, const model::ResourceNames& resources) {
  const auto root = parse_object(document, json);
  if (!root) return tl::unexpected(root.error());
  Reading reading;
  const auto [kind, metadata, items] = pick<3>(*root, {string_view("kind"), "metadata", "items"}, reading);
  // An answer of another kind must not pass for a list without items: it would empty our view of the cluster.
  const std::string wanted = std::string(kKind<T>) + "List";
  if (const string_view found = text(kind, reading); found != wanted) {
    reading.fail("is " + (found.empty() ? "missing" : std::string(found)) + ", not " + wanted, "kind");
  }
  ListPage<T> page;
  if (const auto fields = object(metadata, reading)) {
    const Reading::Step step(reading, "metadata");
    const auto [version, next] = pick<2>(*fields, {string_view("resourceVersion"), "continue"}, reading);
    page.resource_version = text(version, reading);
    page.continue_token = text(next, reading);
  }
  const auto list = array(items, reading);
  if (reading.failed()) return tl::unexpected(reading.error());
  if (!list) return page;  // Go writes an empty list as null
  page.items.reserve(list->size());
  std::size_t index = 0;
  for (const simdjson::dom::element item : *list) {
    auto object = read_item<T>(item, index++, resources);
    if (object) {
      page.items.push_back(std::move(*object));
    } else if (page.broken++ == 0) {
      page.first_broken_why = object.error().to_string();
    }
  }
  return page;
}

std::optional<WatchEventType> parse_event_type(string_view name) {
  if (name == "ADDED") return WatchEventType::kAdded;
  if (name == "MODIFIED") return WatchEventType::kModified;
  if (name == "DELETED") return WatchEventType::kDeleted;
  if (name == "BOOKMARK") return WatchEventType::kBookmark;
  if (name == "ERROR") return WatchEventType::kError;
  return std::nullopt;
}

template <class T>
void read_status(WatchEvent<T>& event, Json status, Reading& reading) {
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
void read_version(WatchEvent<T>& event, Json json, Reading& reading) {
  const auto [metadata] = pick<1>(json, {string_view("metadata")}, reading);
  if (const auto fields = object(metadata, reading)) {
    const Reading::Step step(reading, "metadata");
    const auto [version] = pick<1>(*fields, {string_view("resourceVersion")}, reading);
    event.resource_version = text(version, reading);
  }
}

template <class T>
core::Result<WatchEvent<T>> read_event(JsonDocument& document, std::string& line,
                                       const model::ResourceNames& resources) {
  const auto root = parse_object(document, line);
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
    if (event.type != WatchEventType::kBookmark) read_object(event.object, *json, resources, reading);
  }
  if (reading.failed()) return tl::unexpected(reading.error());
  return event;
}

// The kind of object that the items of a list are: "" for the mixed list of kubectl, nullopt if it is no list.
std::optional<string_view> item_kind(string_view kind) {
  if (kind == "List") return string_view();
  if (kind == "NodeList") return kKind<model::Node>;
  if (kind == "PodList") return kKind<model::Pod>;
  return std::nullopt;
}

template <class T>
std::optional<core::Error> add_item(std::vector<T>& to, simdjson::dom::element item, std::size_t index,
                                    const model::ResourceNames& resources) {
  auto object = read_item<T>(item, index, resources);
  if (!object) return object.error();
  to.push_back(std::move(*object));
  return std::nullopt;
}

std::optional<core::Error> add_to_dump(ClusterDump& dump, simdjson::dom::element item, string_view default_kind,
                                       std::size_t index, const model::ResourceNames& resources) {
  Reading reading;
  const Reading::Step in_items(reading, "items");
  const Reading::Step in_item(reading, index);
  const auto json = item_object(item, reading);
  if (!json) return reading.error();
  const auto [kind_field, version_field] = pick<2>(*json, {string_view("kind"), "apiVersion"}, reading);
  const string_view version = text(version_field, reading);
  string_view kind = text(kind_field, reading);
  if (kind.empty()) kind = default_kind;
  if (kind.empty()) reading.fail("is missing", "kind");
  if (reading.failed()) return reading.error();
  // Other API groups have Nodes too.
  const bool core_object = version.empty() || version == "v1";
  if (core_object && kind == kKind<model::Node>) return add_item(dump.nodes, item, index, resources);
  if (core_object && kind == kKind<model::Pod>) return add_item(dump.pods, item, index, resources);
  ++dump.skipped;
  return std::nullopt;
}

}  // namespace

struct ObjectReader::State {
  model::ResourceNames resources;
  JsonDocument document;
};

ObjectReader::ObjectReader(model::ResourceNames resources) : state_(std::make_unique<State>()) {
  state_->resources = std::move(resources);
}
ObjectReader::~ObjectReader() = default;
ObjectReader::ObjectReader(ObjectReader&&) noexcept = default;
ObjectReader& ObjectReader::operator=(ObjectReader&&) noexcept = default;

core::Result<model::Node> ObjectReader::read_node(std::string& json) {
  return read_single<model::Node>(state_->document, json, state_->resources);
}
core::Result<model::Pod> ObjectReader::read_pod(std::string& json) {
  return read_single<model::Pod>(state_->document, json, state_->resources);
}
core::Result<ListPage<model::Node>> ObjectReader::read_node_list(std::string& json) {
  return read_list<model::Node>(state_->document, json, state_->resources);
}
core::Result<ListPage<model::Pod>> ObjectReader::read_pod_list(std::string& json) {
  return read_list<model::Pod>(state_->document, json, state_->resources);
}
core::Result<WatchEvent<model::Node>> ObjectReader::read_node_event(std::string& line) {
  return read_event<model::Node>(state_->document, line, state_->resources);
}
core::Result<WatchEvent<model::Pod>> ObjectReader::read_pod_event(std::string& line) {
  return read_event<model::Pod>(state_->document, line, state_->resources);
}

core::Result<ClusterDump> ObjectReader::read_cluster_dump(std::string& json) {
  const auto root = parse_object(state_->document, json);
  if (!root) {
    core::Error error = root.error();
    error.message += " (a cluster file is what kubectl get ... -o json prints)";
    return tl::unexpected(std::move(error));
  }
  Reading reading;
  const auto [kind_field, items] = pick<2>(*root, {string_view("kind"), "items"}, reading);
  const string_view kind = text(kind_field, reading);
  ClusterDump dump;
  if (kind == kKind<model::Node> || kind == kKind<model::Pod>) {
    model::Node node;
    model::Pod pod;
    if (kind == kKind<model::Node>) {
      read_object(node, *root, state_->resources, reading);
      dump.nodes.push_back(std::move(node));
    } else {
      read_object(pod, *root, state_->resources, reading);
      dump.pods.push_back(std::move(pod));
    }
    if (reading.failed()) return tl::unexpected(reading.error());
    return dump;
  }
  const auto default_kind = item_kind(kind);
  if (!default_kind) {
    reading.fail((kind.empty() ? "is missing" : "is " + std::string(kind.substr(0, 64))) +
                     ": a cluster file holds a List, NodeList, PodList, Node or Pod",
                 "kind");
  }
  const auto list = array(items, reading);
  if (reading.failed()) return tl::unexpected(reading.error());
  if (!list) return dump;
  std::size_t index = 0;
  for (const simdjson::dom::element item : *list) {
    if (auto error = add_to_dump(dump, item, *default_kind, index++, state_->resources)) {
      return tl::unexpected(std::move(*error));
    }
  }
  return dump;
}

}  // namespace berth::codec
