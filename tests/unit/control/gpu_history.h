// Nodes and pods of random histories, the objects that the API server would hold of them, and a recount of their GPUs
// in plain loops, which shares nothing with `state`.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "berth/model/node.h"
#include "berth/model/placement_text.h"
#include "berth/model/pod.h"

namespace berth::tests {

using model::GpuMask;

inline constexpr const char* kHistoryProduct = "NVIDIA-A100-SXM4-40GB";
inline constexpr std::int64_t kHistoryMib = 40'960;

enum class Kind : std::uint8_t {
  kHgx,        // by labels alone, Bind on
  kDgx1V,      // likewise
  kHgxStock,   // by labels alone, bound by others, who tell nothing
  kPcie,       // by the agent, which reports who holds what
  kBridged,    // by the agent; the device plugin chooses as it likes, and the agent tells
  kSixteen,    // by the agent
  kMixed,      // by the agent: GPUs of two sizes, one dead
  kMig,        // by the agent: six whole GPUs and two with partitions made on demand
  kStaticMig,  // by the agent: partitions made beforehand
  kCount,
};

struct HistoryPod {
  std::string name;
  int whole = 0;
  model::GpuParts parts;
  model::GpuPlacement placement;  // as Bind wrote it or, where the plugin chooses, as it did
  bool bound = false;
  int created = 0;
};

struct HistoryNode {
  Kind kind = Kind::kHgx;
  std::string name;
  int gpus = 8;
  std::array<std::int64_t, 16> memory{};
  std::array<bool, 16> mig{};
  std::array<bool, 16> healthy{};
  std::vector<HistoryPod> pods;
  bool reports = false;  // the agent has told who holds what
};

inline bool has(GpuMask set, int gpu) { return ((set >> gpu) & 1U) != 0; }

inline int bits(GpuMask set) {
  int n = 0;
  for (int gpu = 0; gpu < 32; ++gpu) n += has(set, gpu) ? 1 : 0;
  return n;
}

inline HistoryNode new_node(int number) {
  HistoryNode node;
  node.kind = static_cast<Kind>(number % static_cast<int>(Kind::kCount));
  node.name = "node-" + std::to_string(number);
  if (node.kind == Kind::kSixteen) node.gpus = 16;
  if (node.kind == Kind::kStaticMig) node.gpus = 2;
  for (int gpu = 0; gpu < node.gpus; ++gpu) {
    const auto at = static_cast<std::size_t>(gpu);
    node.healthy[at] = true;
    node.memory[at] = node.kind == Kind::kMixed && gpu % 2 == 1 ? 81'920 : kHistoryMib;
    node.mig[at] = node.kind == Kind::kStaticMig || (node.kind == Kind::kMig && gpu >= 6);
  }
  if (node.kind == Kind::kMixed) node.healthy[3] = false;
  return node;
}

inline bool told_by_agent(const HistoryNode& node) { return node.kind >= Kind::kPcie; }
inline bool with_bind(const HistoryNode& node) { return node.kind != Kind::kHgxStock && node.kind != Kind::kBridged; }

inline model::LinkMatrix links_of(const HistoryNode& node) {
  using model::Link;
  if (node.kind == Kind::kSixteen) return model::LinkMatrix::uniform(16, model::nvlink(6));
  auto links = model::LinkMatrix::uniform(node.gpus, node.kind == Kind::kMig ? model::nvlink(12) : Link::kSys);
  if (node.kind == Kind::kPcie || node.kind == Kind::kMixed) {
    for (int a = 0; a < 8; ++a) {
      for (int b = a + 1; b < 8; ++b) {
        if (a / 4 == b / 4) links.set(a, b, Link::kPix);
      }
    }
  }
  if (node.kind == Kind::kBridged) {
    for (const auto& [a, b] : {std::pair(0, 2), std::pair(1, 3), std::pair(4, 5), std::pair(6, 7)}) {
      links.set(a, b, model::nvlink(12));
    }
  }
  return links;
}

inline model::Node object_of(const HistoryNode& node) {
  model::Node made;
  made.name = node.name;
  made.gpu_product = node.kind == Kind::kDgx1V ? "Tesla-V100-SXM2-32GB" : kHistoryProduct;
  made.gpu_memory_mib = kHistoryMib;
  for (int gpu = 0; gpu < node.gpus; ++gpu) {
    const auto at = static_cast<std::size_t>(gpu);
    made.gpus += node.healthy[at] && !node.mig[at] ? 1 : 0;
  }
  if (!told_by_agent(node)) return made;
  auto machine = std::make_shared<model::Machine>();
  machine->source = model::TopologySource::kAgent;
  machine->links = links_of(node);
  for (int gpu = 0; gpu < node.gpus; ++gpu) {
    const auto at = static_cast<std::size_t>(gpu);
    model::Gpu one;
    one.uuid = "GPU-" + std::to_string(gpu);
    one.product = kHistoryProduct;
    one.memory_mib = node.memory[at];
    one.healthy = node.healthy[at];
    one.numa = static_cast<std::int8_t>(gpu * 2 / node.gpus);
    one.mig = node.mig[at];
    if (node.kind == Kind::kStaticMig) one.instances = {{"3g.20gb", 0}, {"2g.10gb", 4}, {"1g.5gb", 6}};
    machine->gpus.push_back(std::move(one));
  }
  made.agent = std::move(machine);
  if (node.reports) {
    auto holders = std::make_shared<model::GpuHolders>();
    for (const HistoryPod& pod : node.pods) {
      if (pod.bound) holders->pods.push_back({"ns", pod.name, pod.placement});
    }
    std::sort(holders->pods.begin(), holders->pods.end(), [](const auto& a, const auto& b) { return a.pod < b.pod; });
    made.holders = std::move(holders);
  }
  return made;
}

inline model::Pod object_of(const HistoryNode& node, const HistoryPod& pod) {
  model::Pod made;
  made.ns = "ns";
  made.name = pod.name;
  made.uid = "uid-" + pod.name;
  made.gpus = pod.whole;
  made.parts = pod.parts;
  made.created = core::WallTime(std::chrono::seconds(pod.created));
  if (!pod.bound) return made;
  made.node = node.name;
  made.phase = model::PodPhase::kRunning;
  if (!with_bind(node)) return made;
  if (pod.placement.gpus != 0) {
    made.annotations.push_back({std::string(model::kGpusKey), model::write_gpu_list(pod.placement.gpus)});
  }
  if (!pod.placement.slots.empty()) {
    made.annotations.push_back({std::string(model::kMigSlotsKey), model::write_mig_slots(pod.placement.slots)});
  }
  return made;
}

// What is left for others, by the objects.
struct Room {
  std::array<bool, 16> whole{};  // held or promised whole
  std::array<std::int64_t, 16> mib{};
  std::array<int, 16> milli{};
  std::array<unsigned, 16> slices{};
};
// `wrong` says what is given to more pods than can have it, if anything is.
inline Room room_of(const HistoryNode& node, std::string& wrong) {
  Room room;
  for (const HistoryPod& pod : node.pods) {
    for (int gpu = 0; gpu < 16; ++gpu) {
      if (!has(pod.placement.gpus, gpu)) continue;
      const auto at = static_cast<std::size_t>(gpu);
      if (gpu >= node.gpus || node.mig[at]) wrong = "a GPU that can't be had";
      if (pod.whole > 0) {
        if (room.whole[at] || room.mib[at] > 0 || room.milli[at] > 0) wrong = "a whole GPU that another has too";
        room.whole[at] = true;
      } else {
        if (room.whole[at]) wrong = "a share of a GPU that another has whole";
        room.mib[at] += pod.parts.mib;
        room.milli[at] += pod.parts.milli;
        if (room.mib[at] > node.memory[at]) wrong = "more memory than there is";
        if (room.milli[at] > 1000) wrong = "more time than there is";
      }
    }
    for (const model::MigSlot& slot : pod.placement.slots) {
      const auto at = static_cast<std::size_t>(slot.gpu);
      if (slot.gpu >= node.gpus || !node.mig[at]) wrong = "a partition of a whole GPU";
      for (int slice = slot.start; slice < slot.start + slot.size; ++slice) {
        if ((room.slices[at] >> slice & 1U) != 0) wrong = "a slice that another has too";
        room.slices[at] |= 1U << slice;
      }
    }
  }
  return room;
}

// Whether there is room for the pod, tried in the plainest way.
inline bool could_take(const HistoryNode& node, const HistoryPod& pod) {
  std::string wrong;
  const Room room = room_of(node, wrong);
  int gpus = 0;
  for (int gpu = 0; gpu < node.gpus; ++gpu) {
    const auto at = static_cast<std::size_t>(gpu);
    if (!node.healthy[at] || node.mig[at] || room.whole[at]) continue;
    const bool fits = pod.whole > 0
                          ? room.mib[at] == 0 && room.milli[at] == 0
                          : room.mib[at] + pod.parts.mib <= node.memory[at] && room.milli[at] + pod.parts.milli <= 1000;
    gpus += fits ? 1 : 0;
  }
  if (gpus < pod.whole || gpus < pod.parts.gpus) return false;
  if (pod.parts.mig.empty()) return true;
  static const std::map<std::string, std::pair<int, std::vector<int>>> kPlaces = {
      {"1g.5gb", {1, {0, 1, 2, 3, 4, 5, 6}}}, {"2g.10gb", {2, {0, 2, 4}}}, {"3g.20gb", {4, {0, 4}}}};
  static const std::map<std::string, std::vector<int>> kMade = {{"1g.5gb", {6}}, {"2g.10gb", {4}}, {"3g.20gb", {0}}};
  const std::string& profile = pod.parts.mig.front().profile;
  const auto& [size, starts] = kPlaces.at(profile);
  for (int gpu = 0; gpu < node.gpus; ++gpu) {
    const auto at = static_cast<std::size_t>(gpu);
    if (!node.mig[at] || !node.healthy[at]) continue;
    for (const int start : node.kind == Kind::kStaticMig ? kMade.at(profile) : starts) {
      const unsigned slices = ((1U << size) - 1U) << start;
      if ((room.slices[at] & slices) == 0) return true;
    }
  }
  return false;
}

inline int healthy(const HistoryNode& node) {
  int n = 0;
  for (int gpu = 0; gpu < node.gpus; ++gpu) {
    const auto at = static_cast<std::size_t>(gpu);
    n += node.healthy[at] && !node.mig[at] ? 1 : 0;
  }
  return n;
}

}  // namespace berth::tests
