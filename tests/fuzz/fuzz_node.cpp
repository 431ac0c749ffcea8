// A core/v1 Node: alone, as an item of a list and in a watch event, which must all read the same.
#include <algorithm>

#include "berth/codec/kubernetes_objects.h"
#include "object_properties.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using berth::fuzz::check;
  using berth::fuzz::require;
  static berth::codec::ObjectReader reader({});
  const std::string text(data, data + size);
  std::string alone = text;
  const auto node = reader.read_node(alone);
  if (!node) {
    check(node.error());
    return 0;
  }
  check(*node);
  // Around it, the text must not reach the limit on depth.
  if (std::count(text.begin(), text.end(), '[') + std::count(text.begin(), text.end(), '{') > 1000) return 0;
  std::string list = R"({"kind":"NodeList","items":[)" + text + "]}";
  const auto page = reader.read_node_list(list);
  require(page && page->broken == 0 && page->items.size() == 1 && page->items[0] == *node, "reads the same in a list");
  std::string line = R"({"type":"MODIFIED","object":)" + text + "}";
  const auto event = reader.read_node_event(line);
  if (event) {
    require(event->object == *node, "reads the same in a watch event");
  } else {
    require(event.error().where.find("resourceVersion") != std::string::npos, "only the version can be wrong there");
  }
  return 0;
}
