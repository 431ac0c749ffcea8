#include "berth/codec/extender_request.h"

#include <simdjson.h>

#include <algorithm>
#include <optional>

#include "json_document.h"
#include "json_fields.h"
#include "node_reader.h"
#include "node_text.h"
#include "pod_reader.h"

namespace berth::codec {
namespace {

constexpr std::string_view kNodes = "Nodes";
constexpr std::string_view kItems = "items";

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

}  // namespace

struct ExtenderReader::State {
  JsonDocument document;
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
    cut_nodes(request.raw_nodes, {body, state_->document.tokens()});
    if (request.raw_nodes.size() != request.names.size()) {
      return core::fail(core::ErrorCode::kInternal, "can't find the text of the nodes", std::string(kNodes));
    }
  }
  return &request;
}

void ExtenderReader::trim(std::size_t keep_bytes) {
  if (state_->longest > keep_bytes) state_ = std::make_unique<State>();
}

}  // namespace berth::codec
