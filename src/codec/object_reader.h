// What reading objects one by one, in lists, in events and in dumps have in common.
//
// Not thread-safe.
#pragma once

#include <simdjson.h>

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "disruption_budget_reader.h"
#include "fluid_reader.h"
#include "json_document.h"
#include "json_fields.h"
#include "koordinator.h"
#include "node_reader.h"
#include "numa_topology_reader.h"
#include "object_kinds.h"
#include "pod_reader.h"
#include "policy_reader.h"
#include "resource_slice_reader.h"

namespace berth::codec {

struct ObjectReader::State {
  model::ResourceNames resources;
  JsonDocument document;
};

// `known_kind` is taken where the object names none: items of a typed list carry neither kind nor apiVersion.
template <class T>
void read_object(T& out, simdjson::dom::object json, std::string_view known_kind, const model::ResourceNames& resources,
                 Reading& reading) {
  const auto [kind, version] = pick<2>(json, {std::string_view("kind"), "apiVersion"}, reading);
  std::string_view found = text(kind, reading);
  if (found.empty()) found = known_kind;
  if (!found.empty() && !is_kind<T>(found)) {
    return reading.fail("is " + std::string(found.substr(0, 64)) + ", not " + std::string(Kind<T>::kName), "kind");
  }
  if (const std::string_view group = text(version, reading); !group.empty() && !Kind<T>::in_group(group)) {
    return reading.fail("is " + std::string(group.substr(0, 64)) + ", not the group of " + std::string(Kind<T>::kName),
                        "apiVersion");
  }
  if constexpr (std::is_same_v<T, model::CacheRuntime>) {
    if (found.empty()) return reading.fail("is missing", "kind");
    out.type = runtime_kind(found)->type;
  }
  if constexpr (requires { read_into(out, json, resources, reading); }) {
    read_into(out, json, resources, reading);
  } else {
    read_into(out, json, reading);
  }
  if (Kind<T>::name(out).empty()) reading.fail("is missing", "metadata.name");
}

// Parts of objects that were passed over because they could not be read.
struct PassedOver {
  std::size_t objects = 0;  // with such parts
  std::string first_why;

  template <class T>
  void note(const T& object, const Reading& reading) {
    if (reading.passed_over().empty() || objects++ > 0) return;
    first_why = std::string(Kind<T>::kName) + " " + Kind<T>::name(object) + " " + reading.passed_over();
  }
};

// One item of a list. An error is named by what can be read of the object's identity.
template <class T>
core::Result<T> read_item(simdjson::dom::element item, std::string_view known_kind, std::size_t index,
                          const model::ResourceNames& resources, PassedOver& passed_over) {
  T out;
  Reading reading;
  if (const auto json = item_object(item, reading)) read_object(out, *json, known_kind, resources, reading);
  if (!reading.failed()) {
    passed_over.note(out, reading);
    return out;
  }
  core::Error error = reading.error();
  std::string where = "items[" + std::to_string(index) + "]";
  if (const std::string name = Kind<T>::name(out); !name.empty()) {
    where += " (" + std::string(Kind<T>::kName) + " " + name + ")";
  }
  if (!error.where.empty()) where += " " + error.where;
  error.where = std::move(where);
  return tl::unexpected(std::move(error));
}

core::Result<simdjson::dom::object> parse_object(JsonDocument& document, std::string& text);

// "Node" of "NodeList"; empty for what is no list of objects.
inline std::string_view kind_of_items(std::string_view kind) {
  constexpr std::string_view kList = "List";
  return kind.ends_with(kList) ? kind.substr(0, kind.size() - kList.size()) : std::string_view();
}

}  // namespace berth::codec
