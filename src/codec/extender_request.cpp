#include "berth/codec/extender_request.h"

#include <simdjson.h>

#include <algorithm>
#include <optional>

#include "json_document.h"
#include "json_fields.h"
#include "node_reader.h"
#include "pod_reader.h"

namespace berth::codec {
namespace {

constexpr std::string_view kNodes = "Nodes";
constexpr std::string_view kItems = "items";

std::string_view trim_space(std::string_view json) {
  const std::size_t last = json.find_last_not_of(" \t\r\n");
  return json.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

void read_names(std::vector<std::string_view>& names, simdjson::dom::array items, Reading& reading) {
  const Reading::Step in_list(reading, "NodeNames");
  for (const simdjson::dom::element item : items) {
    std::string_view name;
    if (item.get(name) != simdjson::SUCCESS || name.empty()) {
      const Reading::Step in_item(reading, names.size());
      return reading.fail(item.is_string() ? "is empty" : wrong_type("a string", item));
    }
    names.push_back(name);
  }
}

void read_whole_nodes(std::vector<std::string_view>& names, simdjson::dom::object list, Reading& reading) {
  const Reading::Step in_list(reading, kNodes);
  const auto [field] = pick<1>(list, {kItems}, reading, KeyCase::kAny);
  const auto items = array(field, reading);
  if (!items) return;
  const Reading::Step in_items(reading, kItems);
  for (const simdjson::dom::element item : *items) {
    const Reading::Step in_item(reading, names.size());
    if (const auto node = item_object(item, reading)) names.push_back(read_node_name(*node, reading));
    if (reading.failed()) return;
  }
}

// The one field of that name that isn't null.
std::optional<simdjson::ondemand::value> find_field(simdjson::ondemand::object& object, std::string_view name) {
  for (auto entry : object) {
    simdjson::ondemand::field field;
    std::string_view key;
    simdjson::ondemand::json_type type{};
    if (std::move(entry).get(field) != simdjson::SUCCESS || field.unescaped_key().get(key) != simdjson::SUCCESS) {
      return std::nullopt;
    }
    if (!same_but_case(key, name)) continue;
    if (field.value().type().get(type) != simdjson::SUCCESS) return std::nullopt;
    if (type != simdjson::ondemand::json_type::null) return field.value();
  }
  return std::nullopt;
}

// Cuts the items of Nodes out of `body`, which must have passed read_whole_nodes. The DOM doesn't know where in the
// text its elements were; On-Demand does.
bool cut_nodes(std::vector<std::string_view>& raw, simdjson::ondemand::parser& parser, const std::string& body) {
  simdjson::ondemand::document document;
  simdjson::ondemand::object args;
  simdjson::ondemand::object list;
  simdjson::ondemand::array items;
  const simdjson::padded_string_view padded(body.data(), body.size(), body.capacity());
  if (parser.iterate(padded).get(document) != simdjson::SUCCESS) return false;
  if (document.get_object().get(args) != simdjson::SUCCESS) return false;
  auto nodes = find_field(args, kNodes);
  if (!nodes || nodes->get_object().get(list) != simdjson::SUCCESS) return false;
  auto found = find_field(list, kItems);
  if (!found) return true;
  if (found->get_array().get(items) != simdjson::SUCCESS) return false;
  for (auto entry : items) {
    simdjson::ondemand::object node;
    std::string_view text;
    if (entry.get_object().get(node) != simdjson::SUCCESS) return false;
    if (node.raw_json().get(text) != simdjson::SUCCESS) return false;
    raw.push_back(trim_space(text));
  }
  return true;
}

}  // namespace

struct ExtenderReader::State {
  JsonDocument document;
  simdjson::ondemand::parser cutter;
  ExtenderRequest request;
  std::size_t longest = 0;
};

ExtenderReader::ExtenderReader() : state_(std::make_unique<State>()) {}
ExtenderReader::~ExtenderReader() = default;
ExtenderReader::ExtenderReader(ExtenderReader&&) noexcept = default;
ExtenderReader& ExtenderReader::operator=(ExtenderReader&&) noexcept = default;

core::Result<const ExtenderRequest*> ExtenderReader::read(std::string& body, const model::ResourceNames& resources) {
  ExtenderRequest& request = state_->request;
  request.pod = {};
  request.whole_nodes = false;
  request.names.clear();
  request.raw_nodes.clear();
  state_->longest = std::max(state_->longest, body.size());

  const auto root = state_->document.parse(body);
  if (!root) return tl::unexpected(root.error());
  simdjson::dom::object args;
  if (root->get(args) != simdjson::SUCCESS) {
    return core::fail(core::ErrorCode::kInvalid, "the body " + wrong_type("an object", *root));
  }
  Reading reading;
  const auto [pod, nodes, names] =
      pick<3>(args, {std::string_view("Pod"), kNodes, "NodeNames"}, reading, KeyCase::kAny);
  if (!pod.given) return core::fail(core::ErrorCode::kInvalid, "is missing or null", "Pod");
  if (const auto fields = object(pod, reading)) {
    const Reading::Step step(reading, "Pod");
    read_into(request.pod, *fields, resources, reading);
  }
  if (names.given) {
    if (const auto items = array(names, reading)) read_names(request.names, *items, reading);
  } else if (const auto list = object(nodes, reading)) {
    request.whole_nodes = true;
    read_whole_nodes(request.names, *list, reading);
  }
  if (reading.failed()) return tl::unexpected(reading.error());
  if (request.whole_nodes) {
    request.raw_nodes.reserve(request.names.size());
    if (!cut_nodes(request.raw_nodes, state_->cutter, body) || request.raw_nodes.size() != request.names.size()) {
      return core::fail(core::ErrorCode::kInternal, "can't find the text of the nodes", std::string(kNodes));
    }
  }
  return &request;
}

void ExtenderReader::trim(std::size_t keep_bytes) {
  if (state_->longest > keep_bytes) state_ = std::make_unique<State>();
}

}  // namespace berth::codec
