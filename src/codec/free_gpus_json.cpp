#include "free_gpus_json.h"

#include <string>
#include <utility>

#include "coverage_fields.h"

namespace berth::codec {

nlohmann::ordered_json free_gpus_json(const model::FreeGpus& free) {
  nlohmann::ordered_json sizes = nlohmann::ordered_json::object();
  for (std::size_t size = 1; size < free.by_island.size(); ++size) {
    if (free.by_island[size] > 0) sizes[std::to_string(size)] = free.by_island[size];
  }
  return {{"whole", free.whole},
          {"milli", free.milli},
          {"largestRequest", free.largest_request},
          {"fragmentation", rounded(free.fragmentation())},
          {"byIsland", std::move(sizes)}};
}

}  // namespace berth::codec
