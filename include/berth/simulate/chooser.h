// Chooses a node and GPUs for each task, by one of the policies that are compared.
//
// random, bestfit, packing, dotprod, clustering and fgd are those of Weng et al., "Beware of Fragmentation" (USENIX ATC
// '23) and their simulator (hkust-adsl/kubernetes-scheduler-simulator); docs/packing.md has their rules. berth is ours
// (packing.h of policy).
//
// Used by one thread; workload and cluster must outlive it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string_view>
#include <vector>

#include "berth/policy/packing.h"
#include "berth/simulate/cluster.h"

namespace berth::simulate {

enum class PolicyName : std::uint8_t { kRandom, kBestFit, kPacking, kDotProduct, kClustering, kFgd, kBerth };
inline constexpr int kPolicies = 7;
std::string_view to_string(PolicyName policy);  // "random", "bestfit", ...
std::optional<PolicyName> parse_policy(std::string_view text);

struct ChooserSettings {
  PolicyName policy = PolicyName::kBerth;
  policy::PackingKnobs knobs = {};  // of berth
  double nearly_whole = 1;          // b of usable_capacity.h; of berth
  int refresh = 50;                 // decisions between two looks at what the cluster can still give; of berth
  bool random_ties = false;         // among nodes of exactly equal score; else the first in the cluster's order
  bool islands = false;             // whole GPUs of one island are preferred on a node
};

struct Choice {
  NodeNumber node = 0;
  model::GpuMask gpus = 0;
};

// What a policy thinks of a task on a node where it fits.
struct Rating {
  double score = 0;  // higher is better
  model::GpuMask gpus = 0;
};

// One policy. A rating must hold as long as neither the node nor the scorer's word that all is new change it.
class Scorer {
 public:
  virtual ~Scorer() = default;
  virtual Rating rate(const Cluster::Node& node, NodeNumber number, const Kind& kind) = 0;
  // Before each decision; true: what was rated before no longer holds.
  virtual bool begin() { return false; }
  virtual void changed(const Cluster::Node& node, NodeNumber number);
  // Another mix is expected from now on; true if that changes ratings.
  virtual bool learn(const model::RequestMix& mix, Cluster& cluster);
};

class Chooser {
 public:
  // `mix` is what is expected to come. Sets the products of the cluster's rooms.
  Chooser(const ChooserSettings& settings, const Workload& workload, Cluster& cluster, const model::RequestMix& mix,
          std::uint64_t seed);

  // nullopt if the task fits nowhere.
  std::optional<Choice> choose(std::uint32_t kind, std::int64_t memory_mib);
  // On this node alone; no decision of its own, as far as the scorer counts them.
  std::optional<Choice> choose_on(NodeNumber number, std::uint32_t kind, std::int64_t memory_mib);
  // To be told of each change of a node.
  void changed(NodeNumber number);
  void learn(const model::RequestMix& mix);

 private:
  struct Known {
    std::uint32_t version = 0;  // of the node when it was rated
    std::uint32_t epoch = 0;
    bool fits = false;
    Rating rating;
  };

  const Workload* workload_;
  Cluster* cluster_;
  bool random_ties_;
  std::uint32_t epoch_ = 1;
  std::mt19937_64 random_;
  std::unique_ptr<Scorer> scorer_;
  std::vector<Known> known_;  // by kind and node
};

// GPUs of 8 that are linked with each other, where islands count: 0 to 3 and 4 to 7. All GPUs of other nodes.
int island_size(const model::Room& room);
// So many free GPUs: of the fullest island that has them, else of as few islands as possible; lowest indices first.
model::GpuMask pick_whole(const model::Room& room, int count, bool islands);
// Whether they are of one island.
bool in_one_island(const model::Room& room, model::GpuMask gpus);

// A number below `bound`, which must not be 0; the same on every platform.
std::uint64_t below(std::mt19937_64& random, std::uint64_t bound);

}  // namespace berth::simulate
