#include "berth/codec/node_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "coverage_fields.h"
#include "free_gpus_json.h"

namespace berth::codec {
namespace {

using model::NodeState;
using nlohmann::ordered_json;

// What other programs wrote need not be UTF-8.
std::string text_of(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

template <class T>
ordered_json known(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

std::string_view source_of(const NodeState& state) {
  if (state.machine) return to_string(state.machine->source);
  return state.shape ? to_string(model::TopologySource::kLabels) : "unknown";
}

// How many pairs have each class of link.
ordered_json pairs_by_link(const NodeState& state) {
  ordered_json pairs = ordered_json::object();
  if (!state.shape) return nullptr;
  const model::LinkMatrix& links = state.shape->links;
  for (int a = 0; a < links.gpus; ++a) {
    for (int b = a + 1; b < links.gpus; ++b) {
      ordered_json& count = pairs[model::link_name(links.at(a, b))];
      count = count.is_null() ? 1 : count.get<int>() + 1;
    }
  }
  return pairs;
}

ordered_json to_json(const NodeState& state, const model::FreeGpus& left, core::WallTime now) {
  const auto age = state.machine ? age_seconds(state.machine->at, now) : std::nullopt;
  ordered_json free = nullptr;
  if (state.free_known) {
    free = ordered_json::array();
    for (int gpu = 0; gpu < model::kMaxGpus; ++gpu) {
      if (model::contains(state.free, gpu)) free.push_back(gpu);
    }
  }
  return {{"node", state.node->name},
          {"product", state.node->gpu_product},
          {"gpus", state.gpus},
          {"used", state.used},
          {"promised", state.firm},
          {"topologySource", source_of(state)},
          {"ageSeconds", known(age)},
          {"pairs", pairs_by_link(state)},
          {"clique", state.machine ? state.machine->clique : ""},
          {"freeSource", to_string(state.free_source)},
          {"free", std::move(free)},
          {"freeGpus", free_gpus_json(left)}};
}

// Pods that hold GPU `gpu` or a part of it.
ordered_json holders_of(const NodeState& state, int gpu) {
  ordered_json pods = ordered_json::array();
  if (!state.occupants) return pods;
  for (const model::Occupant& pod : *state.occupants) {
    const bool slot = std::ranges::any_of(pod.placement.slots, [gpu](const auto& one) { return one.gpu == gpu; });
    if (slot || model::contains(pod.placement.gpus, gpu)) pods.push_back(pod.ns + "/" + pod.name);
  }
  return pods;
}

ordered_json gpu_json(const NodeState& state, const model::Gpu& gpu, int index) {
  const auto at = static_cast<std::size_t>(index);
  ordered_json json = {{"index", index},
                       {"uuid", gpu.uuid},
                       {"product", gpu.product},
                       {"memoryMiB", gpu.memory_mib},
                       {"healthy", gpu.healthy}};
  const int numa = state.shape && index < state.shape->links.gpus ? state.shape->numa[at] : gpu.numa;
  json["numa"] = numa < 0 ? ordered_json(nullptr) : ordered_json(numa);
  json["pcie"] = gpu.pcie;
  json["mig"] = gpu.mig;
  json["instances"] = ordered_json::array();
  for (const model::MigInstance& one : gpu.instances) {
    json["instances"].push_back({{"profile", one.profile}, {"start", one.start}});
  }
  if (state.uses && at < state.uses->size()) {
    json["usedMiB"] = (*state.uses)[at].used_mib;
    json["usedMilli"] = (*state.uses)[at].used_milli;
  }
  json["pods"] = holders_of(state, index);
  return json;
}

// The GPUs one by one, as far as they can be told apart.
std::vector<model::Gpu> gpus_of(const NodeState& state) {
  if (state.machine) return state.machine->gpus;
  const int gpus = state.shape ? state.shape->links.gpus : 0;
  const model::Gpu one{.uuid = {},
                       .product = state.node->gpu_product,
                       .memory_mib = state.node->gpu_memory_mib,
                       .pcie = {},
                       .instances = {}};
  return std::vector<model::Gpu>(static_cast<std::size_t>(gpus), one);
}

}  // namespace

std::string write_nodes(const model::Snapshot& snapshot, const model::FreeGpusView& free, core::WallTime now,
                        std::size_t limit) {
  std::vector<model::Slot> slots;
  for (model::Slot slot = 0; slot < snapshot.index->slots(); ++slot) {
    if (snapshot.at(slot).node) slots.push_back(slot);
  }
  const std::size_t count = slots.size();
  const auto end = slots.begin() + static_cast<std::ptrdiff_t>(std::min(limit, count));
  std::ranges::partial_sort(slots, end, {}, [&](model::Slot slot) { return snapshot.index->rank(slot); });
  ordered_json nodes = ordered_json::array();
  for (auto slot = slots.begin(); slot != end; ++slot) {
    nodes.push_back(to_json(snapshot.at(*slot), free.nodes[*slot], now));
  }
  return text_of({{"count", count}, {"nodes", std::move(nodes)}});
}

std::optional<std::string> write_node(const model::Snapshot& snapshot, const model::FreeGpusView& free,
                                      core::WallTime now, std::string_view name) {
  const model::Slot slot = snapshot.find(name);
  if (slot == model::kNoSlot || !snapshot.at(slot).node) return std::nullopt;
  const NodeState& state = snapshot.at(slot);
  ordered_json json = to_json(state, free.nodes[slot], now);
  json["gpuTable"] = ordered_json::array();
  int index = 0;
  for (const model::Gpu& gpu : gpus_of(state)) json["gpuTable"].push_back(gpu_json(state, gpu, index++));
  return text_of(json);
}

}  // namespace berth::codec
