// Random histories, checked against a recount from the objects that are left: the recount knows no increments.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "unit/state/cluster.h"

namespace berth::state {
namespace {

using std::chrono::milliseconds;

struct SoftPromise {
  std::string node;
  std::int64_t gpus = 0;
  core::SteadyTime until;
  model::BasicResources requests;
};

// The objects as the API server would hold them, and the promises made.
struct Truth {
  std::map<std::string, model::Node> nodes;
  std::map<std::string, model::Pod> pods;   // by name
  std::map<std::string, SoftPromise> soft;  // by UID

  static bool placeable(const model::Pod& pod) { return pod.node.empty() && !pod.ended() && !pod.deleting; }
  static bool has_firm(const model::Pod& pod) { return placeable(pod) && !pod.nominated_node.empty() && pod.gpus > 0; }

  [[nodiscard]] const model::Pod* by_uid(const std::string& uid) const {
    for (const auto& [name, pod] : pods) {
      if (pod.uid == uid) return &pod;
    }
    return nullptr;
  }
  // After every change: drops the promises that it broke. `gone` is the UID of a pod that was there before.
  void drop_broken(core::SteadyTime now, const std::string& gone = {}) {
    std::erase_if(soft, [&](const auto& entry) {
      const model::Pod* const pod = by_uid(entry.first);
      return entry.first == gone || !nodes.contains(entry.second.node) || entry.second.until <= now ||
             (pod != nullptr && (!placeable(*pod) || has_firm(*pod)));
    });
  }
};

// What pods ask for, summed by name: pods, cpu, memory, storage and the others.
class Asked {
 public:
  void add(const model::BasicResources& basic) {
    sums_["cpu"] += basic.cpu_milli;
    sums_["memory"] += basic.memory_bytes;
    sums_["ephemeral-storage"] += basic.ephemeral_storage_bytes;
    sums_["pods"] += 1;
  }
  void add(const model::Pod& pod) {
    add(pod.requests.basic);
    for (const auto& one : pod.requests.scalars) scalars_[one.name] += one.amount;
  }
  void expect_basic(const model::BasicResources& got, const char* what) {
    EXPECT_EQ(got.cpu_milli, sums_["cpu"]) << what;
    EXPECT_EQ(got.memory_bytes, sums_["memory"]) << what;
    EXPECT_EQ(got.ephemeral_storage_bytes, sums_["ephemeral-storage"]) << what;
    EXPECT_EQ(got.pods, sums_["pods"]) << what;
  }
  void expect_scalars(const model::ScalarResources* got) {
    std::map<std::string, std::int64_t> got_sums;
    if (got != nullptr) {
      EXPECT_FALSE(got->empty());
      for (const auto& one : *got) got_sums[one.name] = one.amount;
    }
    EXPECT_EQ(got_sums, scalars_);
  }

 private:
  std::map<std::string, std::int64_t> sums_;
  std::map<std::string, std::int64_t> scalars_;
};

void expect_same(const model::Snapshot& got, const Truth& truth) {
  std::int64_t gpus = 0;
  std::int64_t gpus_used = 0;
  std::size_t bound_pods = 0;
  std::size_t entries = 0;
  for (const auto& [name, pod] : truth.pods) bound_pods += !pod.node.empty() && !pod.ended() ? 1U : 0U;
  ASSERT_EQ(got.index->nodes(), truth.nodes.size());
  std::map<std::string, std::vector<std::string>> holders;
  for (const auto& [name, node] : truth.nodes) {
    std::int64_t used = 0;
    std::int64_t firm = 0;
    std::int64_t soft = 0;
    Asked bound;
    Asked firm_asked;
    Asked soft_asked;
    for (const auto& [pod_name, pod] : truth.pods) {
      if (pod.node == name && !pod.ended()) {
        used += pod.gpus;
        bound.add(pod);
      }
      if (Truth::has_firm(pod) && pod.nominated_node == name) {
        firm += pod.gpus;
        firm_asked.add(pod);
        ++entries;
        ASSERT_NE(got.entry(pod.uid), nullptr);
        EXPECT_EQ(got.entry(pod.uid)->kind, model::EntryKind::kFirm);
      }
    }
    for (const auto& [uid, promise] : truth.soft) {
      if (promise.node != name) continue;
      soft += promise.gpus;
      soft_asked.add(promise.requests);
      ++entries;
      ASSERT_NE(got.entry(uid), nullptr) << uid;
      EXPECT_EQ(got.entry(uid)->kind, model::EntryKind::kSoft);
      EXPECT_EQ(got.index->name(got.entry(uid)->slot), name);
    }
    const model::Slot slot = got.find(name);
    ASSERT_NE(slot, model::kNoSlot);
    const model::NodeState& state = got.at(slot);
    EXPECT_EQ(*state.node, node);
    EXPECT_EQ(state.gpus, node.gpus);
    EXPECT_EQ(state.used, used) << name;
    EXPECT_EQ(state.firm, firm) << name;
    EXPECT_EQ(state.soft, soft) << name;
    bound.expect_basic(node.allocatable.basic - state.spare, "bound");
    bound.expect_scalars(state.scalars_requested.get());
    firm_asked.expect_basic(state.firm_requests, "firm");
    soft_asked.expect_basic(state.soft_requests, "soft");
    EXPECT_EQ(state.free_known, model::find_shape(node.gpu_product, static_cast<int>(node.gpus)) && used <= node.gpus);
    if (state.free_known) {
      EXPECT_EQ(model::count(state.free), node.gpus - used);
      EXPECT_EQ(state.free & ~model::mask_all(static_cast<int>(node.gpus)), 0U);
    } else {
      EXPECT_EQ(state.free, 0U);
    }
    gpus += node.gpus;
    gpus_used += used;
    for (const std::string& label : node.fluid_labels) holders[label].push_back(name);
  }
  EXPECT_EQ(got.pods, truth.pods.size());
  EXPECT_EQ(got.bound_pods, bound_pods);
  EXPECT_EQ(got.gpus, gpus);
  EXPECT_EQ(got.gpus_used, gpus_used);
  EXPECT_EQ(got.ledger->size(), entries);
  ASSERT_EQ(got.dataset_names->size(), holders.size());
  for (const auto& [label, names] : holders) {
    std::vector<std::string> got_names;
    for (const auto& holder : got.datasets[got.dataset_names->at(label)]->holders)
      got_names.push_back(got.index->name(holder.slot));
    std::ranges::sort(got_names);
    EXPECT_EQ(got_names, names) << label;
  }
}

class History {
 public:
  explicit History(unsigned seed) : random_(seed) {}

  // One random change, told and remembered; half of the time it shows in a snapshot at once.
  void go_on() {
    switch (below(14)) {
      case 0:
      case 1:
        return tell_node(random_node());
      case 2:
        return drop_node();
      case 3:
        return below(8) == 0 ? list_nodes() : pass();
      case 4:
        return below(8) == 0 ? list_pods() : pass();
      case 5:
        return drop_pod();
      case 6:
      case 7:
        return promise();
      default:
        return tell_pod(random_pod());
    }
  }

  void settle() { cluster.state.step(); }

  Truth truth;
  Cluster cluster;

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  std::string node_name() { return "node-" + std::to_string(below(70)); }
  std::string pod_name() { return "pod-" + std::to_string(below(60)); }

  model::Node random_node() {
    static const char* const kProducts[] = {kH100, kV100, "NVIDIA-A10", "ACME-9000", ""};
    model::Node made = node(node_name(), below(3) == 0 ? below(10) : 8, kProducts[below(5)]);
    made.allocatable.basic = {1000 * below(128), kGib * below(512), kGib * below(100), 110};
    for (const char* label : {"fluid.io/s-a-x", "fluid.io/s-a-y", "fluid.io/s-b-x"}) {
      if (below(3) == 0) made.fluid_labels.emplace_back(label);
    }
    return made;
  }

  model::Pod random_pod() {
    model::Pod made = born(pod(pod_name(), below(4) == 0 ? 0 : 1 + below(5)), below(50));
    made.uid += "-" + std::to_string(below(2));
    made.requests.basic = {100 * below(40), kGib * below(3), kGib * below(2)};
    if (made.gpus > 0) made.requests.scalars = {{"nvidia.com/gpu", made.gpus}};
    if (below(5) == 0) made.requests.scalars.push_back({"rdma/hca", 1});
    if (below(2) == 0) made = bound(made, node_name());
    if (below(3) == 0) made.nominated_node = node_name();
    if (below(6) == 0) made = ended(made, below(2) == 0 ? model::PodPhase::kFailed : model::PodPhase::kSucceeded);
    made.deleting = below(8) == 0;
    if (below(4) == 0) made = with_gpu_list(made, std::to_string(below(9)) + "," + std::to_string(below(9)));
    // Mostly on few nodes, so that they overflow now and then.
    if (!made.node.empty() && below(2) == 0) made.node = "node-" + std::to_string(below(3));
    return made;
  }

  void push(model::ClusterUpdate update) {
    cluster.state.push(std::move(update));
    if (below(2) == 0) settle();
  }

  void tell_node(const model::Node& made) {
    truth.nodes[made.name] = made;
    push(model::NodeSet{made});
  }
  void drop_node() {
    const std::string name = node_name();
    truth.nodes.erase(name);
    truth.drop_broken(cluster.clock.now());
    push(model::NodeGone{name});
  }
  void list_nodes() {
    std::erase_if(truth.nodes, [this](const auto&) { return below(5) == 0; });
    for (int i = 0; i < 5; ++i) {
      const model::Node made = random_node();
      truth.nodes[made.name] = made;
    }
    truth.drop_broken(cluster.clock.now());
    model::AllNodes all;
    for (const auto& [name, made] : truth.nodes) all.nodes.push_back(made);
    std::ranges::shuffle(all.nodes, random_);
    push(std::move(all));
  }
  void tell_pod(const model::Pod& made) {
    const auto known = truth.pods.find(made.name);
    const std::string replaced = known != truth.pods.end() && known->second.uid != made.uid ? known->second.uid : "";
    truth.pods[made.name] = made;
    truth.drop_broken(cluster.clock.now(), replaced);
    push(model::PodSet{made});
  }
  void drop_pod() {
    model::Pod what = pod(pod_name(), 0);
    what.uid += "-" + std::to_string(below(2));
    const auto known = truth.pods.find(what.name);
    if (known != truth.pods.end() && known->second.uid == what.uid) {
      truth.pods.erase(known);
      truth.drop_broken(cluster.clock.now(), what.uid);
    }
    push(model::PodGone{what.ns, what.name, what.uid});
  }
  void list_pods() {
    const auto before = truth.pods;
    std::erase_if(truth.pods, [this](const auto&) { return below(5) == 0; });
    for (const auto& [name, pod] : before) {
      if (!truth.pods.contains(name)) truth.drop_broken(cluster.clock.now(), pod.uid);
    }
    model::AllPods all;
    for (const auto& [name, made] : truth.pods) all.pods.push_back(made);
    std::ranges::shuffle(all.pods, random_);
    push(std::move(all));
  }
  void promise() {
    settle();  // an attempt is timed when it is taken
    const model::Pod what = random_pod();
    const std::string winner = below(6) == 0 ? "" : node_name();
    const model::Pod* const known = truth.by_uid(what.uid);
    const bool taken = known == nullptr || (Truth::placeable(*known) && !Truth::has_firm(*known));
    if (taken && !winner.empty()) {
      truth.soft.erase(what.uid);
      if (truth.nodes.contains(winner) && what.gpus > 0) {
        truth.soft[what.uid] = {winner, what.gpus, cluster.clock.now() + milliseconds(30'000),
                                known != nullptr ? known->requests.basic : model::BasicResources{}};
      }
    }
    cluster.state.post({what.uid, winner, static_cast<std::int32_t>(what.gpus)});
    settle();
  }
  void pass() {
    settle();
    cluster.clock.advance(milliseconds(below(4'000)));
    truth.drop_broken(cluster.clock.now());
    settle();
  }

  std::mt19937 random_;
};

class Recount : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Seeds, Recount, testing::Range(1U, 9U));

TEST_P(Recount, AgreesAfterEveryStretchOfARandomHistory) {
  History history(GetParam());
  for (int step = 0; step < 4'000; ++step) {
    history.go_on();
    if (step % 10 != 0) continue;
    history.settle();
    expect_same(*history.cluster.snapshot(), history.truth);
    ASSERT_FALSE(testing::Test::HasFailure()) << "step " << step;
  }
}

TEST_P(Recount, AgreesAfterARestart) {
  History history(GetParam());
  for (int step = 0; step < 1'000; ++step) history.go_on();
  history.truth.soft.clear();  // promises die with the process
  for (const bool pods_first : {false, true}) {
    model::AllNodes nodes;
    model::AllPods pods;
    for (const auto& [name, made] : history.truth.nodes) nodes.nodes.push_back(made);
    for (const auto& [name, made] : history.truth.pods) pods.pods.push_back(made);
    Cluster again;
    if (pods_first) again.tell(pods);
    again.tell(std::move(nodes));
    if (!pods_first) again.tell(std::move(pods));
    EXPECT_TRUE(again.snapshot()->ready);
    expect_same(*again.snapshot(), history.truth);
  }
}

}  // namespace
}  // namespace berth::state
