#include "berth/codec/api_resources.h"

#include <simdjson.h>

#include <string_view>

#include "json_document.h"
#include "json_fields.h"

namespace berth::codec {

core::Result<std::vector<std::string>> read_resource_names(std::string& json) {
  JsonDocument document;
  const auto root = document.parse(json);
  if (!root) return tl::unexpected(root.error());
  simdjson::dom::object list;
  if (root->get(list) != simdjson::SUCCESS) {
    return core::fail(core::ErrorCode::kInvalid, wrong_type("an object", *root));
  }
  Reading reading;
  std::vector<std::string> names;
  const auto [kind, resources] = pick<2>(list, {std::string_view("kind"), "resources"}, reading);
  if (text(kind, reading) != "APIResourceList") reading.fail("must be APIResourceList", "kind");
  if (const auto items = array(resources, reading)) {
    const Reading::Step in_resources(reading, resources.name);
    std::size_t index = 0;
    for (const auto item : *items) {
      const Reading::Step in_item(reading, index++);
      const auto resource = item_object(item, reading);
      if (!resource) continue;
      const auto [name] = pick<1>(*resource, {std::string_view("name")}, reading);
      const std::string_view found = text(name, reading);
      if (found.empty()) reading.fail("is missing", "name");
      if (found.find('/') == std::string_view::npos) names.emplace_back(found);
    }
  }
  if (reading.failed()) return tl::unexpected(reading.error());
  return names;
}

}  // namespace berth::codec
