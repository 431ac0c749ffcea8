// Random histories of datasets, their pods and their readers, checked against a recount from the objects that are left.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "unit/state/data_truth.h"

namespace berth::state {
namespace {

using std::chrono::milliseconds;

StateOptions options() {
  StateOptions made;
  made.coverage.label_grace = milliseconds(8'000);
  made.soft_lifetime = milliseconds(10'000);
  return made;
}

class DataHistory {
 public:
  explicit DataHistory(unsigned seed) : random_(seed) {}

  // One random change, told and remembered; half of the time it shows in a snapshot at once.
  void go_on() {
    switch (below(24)) {
      case 0:
      case 1:
      case 2:
        return set_node();
      case 3:
        return drop_node();
      case 4:
      case 5:
      case 6:
        return set_dataset();
      case 7:
        return below(3) == 0 ? drop_dataset() : set_load();
      case 8:
        return below(4) == 0 ? list_datasets() : set_runtime();
      case 9:
      case 10:
        return set_claim();
      case 11:
        return below(6) == 0 ? serve() : pass();
      case 12:
      case 13:
        return measure();
      case 14:
        return below(6) == 0 ? list_pods() : pass();
      case 15:
        return drop_pod();
      case 16:
      case 17:
        return promise();
      default:
        return set_pod(below(2) == 0 ? cache_pod() : reading_pod());
    }
  }
  void settle() { cluster.state.step(); }
  [[nodiscard]] Moment now() const { return {cluster.clock.now(), cluster.clock.wall()}; }

  DataTruth truth;
  Cluster cluster{options()};

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  std::string node_name() { return "node-" + std::to_string(below(8)); }
  std::string dataset_name() { return "d" + std::to_string(below(5)); }
  std::string claim_name() { return "pvc-" + std::to_string(below(5)); }

  void push(model::ClusterUpdate update) {
    truth.settle(now());
    cluster.state.push(std::move(update));
    if (below(2) == 0) settle();
  }

  void set_node() {
    model::Node made = node(node_name(), 8);
    for (int i = 0; i < 5; ++i) {
      const std::string name = "ns-d" + std::to_string(i);
      if (below(3) == 0) made.fluid_labels.push_back("fluid.io/s-" + name);
      if (below(3) == 0) made.fluid_labels.push_back("fluid.io/s-alluxio-" + name);
      if (below(3) == 0) made.fluid_labels.push_back("fluid.io/f-" + name);
    }
    std::ranges::sort(made.fluid_labels);
    if (below(3) > 0) made.zone = "z" + std::to_string(below(2));
    if (below(3) > 0) made.rack = "r" + std::to_string(below(3));
    for (std::uint64_t image = 0; image < 10; ++image) {
      if (below(2) == 0) made.images.push_back({image * 100, 1 + below(3)});
    }
    truth.nodes[made.name] = made;
    push(model::NodeSet{made});
  }
  void drop_node() {
    const std::string name = node_name();
    truth.nodes.erase(name);
    push(model::NodeGone{name});
  }

  model::Dataset random_dataset() {
    model::Dataset made = dataset(dataset_name());
    if (below(10) == 0) made.uid += "-again";
    if (below(4) == 0) made.physical = {"ns", dataset_name()};
    if (below(3) > 0) made.cached = 0.1 * (1 + below(9));
    if (below(6) == 0) made.phase = "NotBound";
    if (below(6) == 0) made.runtime = "";
    if (below(6) == 0) made.total_bytes = 0;
    return made;
  }
  void set_dataset() {
    const model::Dataset made = random_dataset();
    truth.set_dataset(made, now());
    push(model::DatasetSet{made});
  }
  void drop_dataset() {
    const std::string name = dataset_name();
    truth.drop_dataset(name);
    push(model::DatasetGone{{"ns", name}});
  }
  void list_datasets() {
    const model::Dataset made = random_dataset();
    const auto before = truth.datasets;
    for (const auto& [name, object] : before) {
      if (name != made.ref.name && below(4) == 0) truth.drop_dataset(name);
    }
    truth.set_dataset(made, now());
    model::AllDatasets all;
    for (const auto& [name, object] : truth.datasets) all.datasets.push_back(object.dataset);
    push(std::move(all));
  }
  void set_runtime() {
    const std::string name = dataset_name();
    if (below(3) == 0) {
      truth.runtimes.erase(name);
      return push(model::RuntimeGone{{"ns", name}, "alluxio"});
    }
    if (below(4) == 0) {
      std::erase_if(truth.runtimes, [this](const auto&) { return below(2) == 0; });
      model::AllRuntimes all{"alluxio", {}};
      for (const auto& [dataset, runtime] : truth.runtimes) all.runtimes.push_back(runtime);
      return push(std::move(all));
    }
    truth.runtimes[name] = {{"ns", name}, "alluxio", 1, below(3) * 20 * kGib};
    push(model::RuntimeSet{truth.runtimes[name]});
  }
  void set_load() {
    const std::string name = "load-" + std::to_string(below(4));
    if (below(3) == 0) {
      truth.loads.erase(name);
      return push(model::DataLoadGone{"ns", name});
    }
    truth.loads[name] = {"ns", name, {"ns", dataset_name()}, below(2) == 0};
    if (below(4) > 0) return push(model::DataLoadSet{truth.loads[name]});
    std::erase_if(truth.loads, [this](const auto&) { return below(2) == 0; });
    model::AllDataLoads all;
    for (const auto& [load_name, load] : truth.loads) all.loads.push_back(load);
    push(std::move(all));
  }
  void set_claim() {
    const std::string name = claim_name();
    if (below(4) == 0) {
      truth.claims.erase(name);
      return push(model::ClaimGone{"ns", name});
    }
    truth.claims[name] = {"ns", name, {"ns", below(5) == 0 ? "" : dataset_name()}};
    if (below(5) > 0) return push(model::ClaimSet{truth.claims[name]});
    std::erase_if(truth.claims, [this](const auto&) { return below(3) == 0; });
    model::AllClaims all;
    for (const auto& [claim_name, claim] : truth.claims) all.claims.push_back(claim);
    push(std::move(all));
  }
  void serve() {
    truth.served = below(4) > 0;
    if (!truth.served) truth.unattended.clear();
    push(model::FluidServed{truth.served});
  }

  model::Pod cache_pod() {
    const std::string name = dataset_name();
    const int number = below(3);
    model::Pod made = worker(name, number, node_name());
    made.uid += std::to_string(below(2));
    if (below(4) == 0) {
      made.name = name + "-fuse-" + std::to_string(number);
      made.uid = made.name;
      made.cache->role = model::CacheRole::kFuse;
    }
    made.cache->own_cache = below(5) == 0;
    made.cache->ready = below(3) > 0;
    made.cache->pod_ip = "ip-of-" + made.name;
    made.cache->started = cluster.clock.wall() - milliseconds(1'000 * below(20));
    made.deleting = below(10) == 0;
    if (below(10) == 0) made = ended(made);
    if (below(10) == 0) made.node = "";
    return made;
  }
  model::Pod reading_pod() {
    model::Pod made = pod("pod-" + std::to_string(below(30)), below(3));
    made.uid += std::to_string(below(2));
    if (below(3) > 0) made.annotations.push_back({"berth.io/datasets", dataset_name() + "," + dataset_name()});
    for (int i = below(3); i > 0; --i) made.claims.push_back(claim_name());
    if (below(2) == 0) made = bound(made, node_name());
    if (below(3) == 0) made.nominated_node = node_name();
    if (below(6) == 0) made = ended(made);
    made.deleting = below(8) == 0;
    return made;
  }
  void replace(const model::Pod& made) {
    const auto known = truth.pods.find(made.name);
    if (known != truth.pods.end() && known->second.uid != made.uid) truth.promises.erase(known->second.uid);
    truth.pods[made.name] = made;
  }
  void set_pod(const model::Pod& made) {
    replace(made);
    push(model::PodSet{made});
  }
  void drop_pod() {
    if (truth.pods.empty()) return;
    const auto one = std::next(truth.pods.begin(), below(static_cast<int>(truth.pods.size())));
    const model::Pod what = one->second;
    truth.promises.erase(what.uid);
    truth.pods.erase(one);
    push(model::PodGone{what.ns, what.name, what.uid});
  }
  void list_pods() {
    std::erase_if(truth.pods, [this](const auto& one) {
      const bool gone = below(5) == 0;
      if (gone) truth.promises.erase(one.second.uid);
      return gone;
    });
    replace(cache_pod());
    model::AllPods all;
    for (const auto& [name, made] : truth.pods) all.pods.push_back(made);
    std::ranges::shuffle(all.pods, random_);
    push(std::move(all));
    truth.pods_listed = true;
  }

  void measure() {
    const std::string name = dataset_name();
    model::Measured told{{"ns", name}, {}, cluster.clock.wall() - milliseconds(1'000 * below(4))};
    for (int i = 0; i < 3; ++i) {
      if (below(4) > 0) told.workers.push_back({"ip-of-" + name + "-worker-" + std::to_string(i), below(60) * kGib});
    }
    truth.measure(told);
    push(std::move(told));
  }
  void promise() {
    settle();  // an attempt is timed when it is taken
    const model::Pod what = reading_pod();
    const std::string winner = below(6) == 0 ? "" : node_name();
    const bool reads_data = below(2) == 0;
    const model::Pod* const known = truth.by_uid(what.uid);
    const bool placeable = known == nullptr || (known->node.empty() && !known->ended() && !known->deleting);
    if (placeable && !winner.empty() && (known == nullptr || !truth.has_firm(*known))) {
      const bool any = what.gpus > 0 || reads_data || (known != nullptr && truth.wants_data(*known));
      truth.promises.erase(what.uid);
      if (any && truth.nodes.contains(winner)) {
        truth.promises[what.uid] = {winner, what.gpus, cluster.clock.now() + options().soft_lifetime};
      }
    }
    Attempt attempt{.uid = what.uid, .winner = winner, .gpus = static_cast<std::int32_t>(what.gpus)};
    attempt.reads_data = reads_data;
    cluster.state.post(attempt);
    settle();
  }
  void pass() {
    settle();
    cluster.clock.advance(milliseconds(below(3'000)));
    truth.settle(now());
    --truth.step;  // time is no update
    settle();
  }

  std::mt19937 random_;
};

class DataRecount : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Seeds, DataRecount, testing::Range(1U, 7U));

TEST_P(DataRecount, AgreesAfterEveryStretchOfARandomHistory) {
  DataHistory history(GetParam());
  for (int step = 0; step < 1'500; ++step) {
    history.go_on();
    if (step % 9 != 0) continue;
    history.settle();
    expect_same(*history.cluster.snapshot(), history.truth, options().coverage, history.cluster.clock.now());
    ASSERT_FALSE(testing::Test::HasFailure()) << "step " << step;
  }
}

// After a restart all is known at once, whichever list comes first.
TEST_P(DataRecount, AgreesAfterARestart) {
  DataHistory history(GetParam());
  for (int step = 0; step < 500; ++step) history.go_on();
  const DataTruth& before = history.truth;
  std::mt19937 random(GetParam());
  for (int round = 0; round < 10; ++round) {
    Cluster again(options());
    const Moment now{again.clock.now(), again.clock.wall()};
    DataTruth truth;
    truth.nodes = before.nodes;
    truth.pods = before.pods;
    truth.claims = before.claims;
    truth.runtimes = before.runtimes;
    truth.loads = before.loads;
    truth.served = true;
    model::AllNodes nodes;
    model::AllPods pods;
    model::AllDatasets datasets;
    model::AllClaims claims;
    model::AllRuntimes runtimes{"alluxio", {}};
    model::AllDataLoads loads;
    for (const auto& [name, made] : before.nodes) nodes.nodes.push_back(made);
    for (const auto& [name, made] : before.pods) pods.pods.push_back(made);
    for (const auto& [name, made] : before.claims) claims.claims.push_back(made);
    for (const auto& [name, made] : before.runtimes) runtimes.runtimes.push_back(made);
    for (const auto& [name, made] : before.loads) loads.loads.push_back(made);
    for (const auto& [name, made] : before.datasets) {
      datasets.datasets.push_back(made.dataset);
      truth.set_dataset(made.dataset, now);
    }
    truth.settle(now);
    std::vector<model::ClusterUpdate> all{nodes, pods, datasets, claims, runtimes, loads, model::FluidServed{true}};
    std::ranges::shuffle(all, random);
    for (model::ClusterUpdate& update : all) again.state.push(std::move(update));
    again.state.step();
    expect_same(*again.snapshot(), truth, options().coverage, now.steady);
  }
}

}  // namespace
}  // namespace berth::state
