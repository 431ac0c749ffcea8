// 100,000 random histories of one node each: pods bound with Bind and without, finished, failed, GPUs reported by the
// agent, GPUs that die, restarts. Every other step each node is checked against a recount from the objects that are
// left, in plain loops, which share nothing with `state`.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "../src/state/builder.h"
#include "berth/core/sanitized.h"
#include "berth/policy/ledger_credit.h"
#include "berth/policy/node_view.h"
#include "unit/control/gpu_history.h"

namespace berth::tests {
namespace {

constexpr int kSequences = core::kSanitized ? 10'000 : 100'000;
constexpr int kAtOnce = 64;  // histories that share a cluster, a node each
constexpr int kSteps = 6;

class Histories {
 public:
  explicit Histories(unsigned seed) : seed_(seed), random_(seed) {
    for (int i = 0; i < kAtOnce; ++i) nodes_.push_back(new_node(i));
    start();
  }

  void run() {
    for (int step = 0; step < kSteps && !failed_; ++step) {
      step_ = step;
      if (below(kSteps) == 0) restart();
      for (HistoryNode& node : nodes_) go_on(node);
      snapshot_ = build();
      if (step % 2 == 1) check();
    }
    if (failed_) return;
    restart();
    check();
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  Room checked_room(const HistoryNode& node) {
    std::string wrong;
    const Room room = room_of(node, wrong);
    if (!wrong.empty()) fail(node, wrong);
    return room;
  }

  HistoryPod random_pod(const HistoryNode& node) {
    HistoryPod pod;
    pod.name = "p" + std::to_string(next_pod_++);
    pod.created = below(20);
    const bool partitions = node.kind == Kind::kStaticMig || (node.kind == Kind::kMig && below(2) == 0);
    if (partitions) {
      static const char* const kProfiles[] = {"1g.5gb", "1g.5gb", "2g.10gb", "3g.20gb"};
      pod.parts.mig = {{kProfiles[below(4)], 1}};
    } else if (node.kind != Kind::kBridged && below(2) == 0) {
      static const int kMib[] = {0, 4'000, 10'000, 16'000, 30'000};
      pod.parts.gpus = below(4) == 0 ? 2 : 1;
      pod.parts.mib = kMib[below(5)];
      pod.parts.milli = pod.parts.mib == 0 ? 250 : 250 * below(3);
    } else {
      pod.whole = 1 + below(below(3) == 0 ? 8 : 3);
    }
    return pod;
  }

  void go_on(HistoryNode& node) {
    for (HistoryPod& pod : node.pods) {
      if (!pod.bound && below(2) == 0) show_bound(node, pod);
    }
    switch (below(8)) {
      case 0:
      case 1:
        return finish(node);
      case 2:
        return fail_binding(node);
      case 3:
        return report(node);
      case 4:
        return kill_gpu(node);
      default:
        return bind(node);
    }
  }

  void show_bound(HistoryNode& node, HistoryPod& pod) {
    pod.bound = true;
    push(model::PodSet{object_of(node, pod)});
  }

  void bind(HistoryNode& node) {
    HistoryPod pod = random_pod(node);
    // Others count, and don't look further.
    if (!with_bind(node)) {
      const Room room = checked_room(node);
      int held = 0;
      for (const HistoryPod& other : node.pods) held += other.whole;
      if (pod.parts.any() || held + pod.whole > healthy(node)) return;
      if (node.kind == Kind::kBridged) {
        while (bits(pod.placement.gpus) < pod.whole) {
          const int gpu = below(node.gpus);
          const auto at = static_cast<std::size_t>(gpu);
          if (node.healthy[at] && !room.whole[at]) pod.placement.gpus |= 1U << gpu;
        }
      }
      node.pods.push_back(std::move(pod));
      show_bound(node, node.pods.back());
      if (node.kind == Kind::kBridged) tell_holders(node);
      return;
    }
    // As of the step before: nothing else has taken from this node since.
    model::PodRequest request = model::make_request(object_of(node, pod), {});
    const policy::LedgerCredit ledger(*snapshot_, request);
    const auto placement = policy::place_gpus(request, ledger.view(snapshot_->find(node.name)));
    if (!placement) {
      if (could_take(node, pod)) fail(node, "no room is seen where there is");
      return;
    }
    pod.placement = *placement;
    model::Reserved reserved;
    reserved.uid = request.uid;
    reserved.node = node.name;
    reserved.gpus = pod.whole;
    reserved.parts = pod.parts;
    reserved.placement = pod.placement;
    push(std::move(reserved));
    node.pods.push_back(std::move(pod));
    checked_room(node);
  }

  void finish(HistoryNode& node) {
    if (node.pods.empty()) return;
    const auto at = node.pods.begin() + below(static_cast<int>(node.pods.size()));
    if (!at->bound) return;
    model::Pod object = object_of(node, *at);
    if (below(2) == 0) {
      object.phase = below(2) == 0 ? model::PodPhase::kFailed : model::PodPhase::kSucceeded;
      push(model::PodSet{object});
    }
    push(model::PodGone{object.ns, object.name, object.uid});
    node.pods.erase(at);
  }

  void fail_binding(HistoryNode& node) {
    const auto at = std::find_if(node.pods.begin(), node.pods.end(), [](const HistoryPod& pod) { return !pod.bound; });
    if (at == node.pods.end()) return;
    push(model::Unreserved{"uid-" + at->name});
    node.pods.erase(at);
  }

  void report(HistoryNode& node) {
    if (told_by_agent(node)) tell_holders(node);
  }
  void tell_holders(HistoryNode& node) {
    node.reports = true;
    push(model::NodeSet{object_of(node)});
  }

  // Those of pods, too: they keep them.
  void kill_gpu(HistoryNode& node) {
    if (node.kind != Kind::kMixed && node.kind != Kind::kSixteen) return bind(node);
    const auto at = static_cast<std::size_t>(below(node.gpus));
    node.healthy[at] = !node.healthy[at];
    push(model::NodeSet{object_of(node)});
  }

  void push(model::ClusterUpdate update) { builder_->apply(std::move(update), {}); }
  std::shared_ptr<const model::Snapshot> build() {
    builder_->expire({});
    return builder_->build({});
  }

  // From what the API server holds: promises that were not bound are lost with the process.
  void restart() {
    for (HistoryNode& node : nodes_) std::erase_if(node.pods, [](const HistoryPod& pod) { return !pod.bound; });
    start();
  }
  void start() {
    attempts_ = std::make_unique<state::AttemptCounter>(std::chrono::milliseconds(1), 10);
    builder_ = std::make_unique<state::Builder>(state::StateOptions{}, *attempts_);
    model::AllNodes nodes;
    model::AllPods pods;
    for (const HistoryNode& node : nodes_) {
      nodes.nodes.push_back(object_of(node));
      for (const HistoryPod& pod : node.pods) pods.pods.push_back(object_of(node, pod));
    }
    std::shuffle(pods.pods.begin(), pods.pods.end(), random_);
    const bool pods_first = below(2) == 0;
    if (pods_first) push(std::move(pods));
    push(std::move(nodes));
    if (!pods_first) push(std::move(pods));
    snapshot_ = build();
  }

  void check() {
    for (const HistoryNode& node : nodes_) check(node);
  }
  void check(const HistoryNode& node) {
    const model::NodeState& state = snapshot_->at(snapshot_->find(node.name));
    if (state.gpus != healthy(node)) fail(node, "the number of GPUs");
    if (node.kind == Kind::kHgxStock) return check_counts(node, state);
    if (!state.free_known) return fail(node, "which GPUs are free should be known");
    const Room all = checked_room(node);
    GpuMask held = 0;
    GpuMask promised = 0;
    for (const HistoryPod& pod : node.pods) (pod.bound ? held : promised) |= pod.placement.gpus;
    GpuMask free = 0;
    int used = 0;
    for (int gpu = 0; gpu < node.gpus; ++gpu) {
      const auto at = static_cast<std::size_t>(gpu);
      if (!node.healthy[at] || node.mig[at]) continue;
      if (has(held, gpu)) ++used;
      if (!has(held, gpu)) free |= 1U << gpu;
    }
    if (state.free != free) fail(node, "the free GPUs");
    if (state.used != used) fail(node, "the number of used GPUs");
    if (state.firm_gpus != (promised & free)) fail(node, "the promised GPUs");
    check_uses(node, state, all);
    check_occupants(node, state);
  }
  void check_counts(const HistoryNode& node, const model::NodeState& state) {
    int held = 0;
    for (const HistoryPod& pod : node.pods) held += pod.whole;
    if (state.used != held || bits(state.free) != node.gpus - held) fail(node, "the counts");
  }
  void check_uses(const HistoryNode& node, const model::NodeState& state, const Room& all) {
    if (!state.uses) {
      for (const HistoryPod& pod : node.pods) {
        if (pod.parts.any()) fail(node, "shares that nobody counts");
      }
      return;
    }
    for (int gpu = 0; gpu < node.gpus; ++gpu) {
      const auto at = static_cast<std::size_t>(gpu);
      const model::GpuUse& use = (*state.uses)[at];
      const std::int64_t mib = all.whole[at] ? node.memory[at] : all.mib[at];
      const int milli = all.whole[at] ? 1000 : all.milli[at];
      const bool same = use.used_mib == mib && use.used_milli == milli && use.used_slices == all.slices[at] &&
                        use.memory_mib == node.memory[at] && use.healthy == node.healthy[at] && use.mig == node.mig[at];
      if (!same) fail(node, "what is used of GPU " + std::to_string(gpu));
    }
  }
  void check_occupants(const HistoryNode& node, const model::NodeState& state) {
    std::size_t bound = 0;
    for (const HistoryPod& pod : node.pods) {
      if (!pod.bound) continue;
      ++bound;
      bool found = false;
      if (!state.occupants) break;
      for (const model::Occupant& one : *state.occupants) {
        found = found || (one.name == pod.name && one.gpus == pod.whole && one.parts == pod.parts &&
                          one.placement == pod.placement);
      }
      if (!found) fail(node, "who holds what: " + pod.name);
    }
    if ((state.occupants ? state.occupants->size() : 0) != bound) fail(node, "how many hold something");
  }

  void fail(const HistoryNode& node, const std::string& what) {
    if (failed_) return;
    failed_ = true;
    std::string pods;
    for (const HistoryPod& pod : node.pods) {
      pods += "\n  " + pod.name + (pod.bound ? " bound" : " reserved") + ", whole " + std::to_string(pod.whole) +
              ", share " + std::to_string(pod.parts.gpus) + " of " + std::to_string(pod.parts.mib) + " MiB " +
              std::to_string(pod.parts.milli) + ": GPUs \"" + model::write_gpu_list(pod.placement.gpus) +
              "\" slots \"" + model::write_mig_slots(pod.placement.slots) + "\"";
    }
    ADD_FAILURE() << "seed " << seed_ << ", step " << step_ << ", " << node.name << " of kind "
                  << static_cast<int>(node.kind) << ": " << what << pods;
  }

  unsigned seed_;
  int step_ = 0;
  std::mt19937 random_;
  int next_pod_ = 0;
  bool failed_ = false;
  std::vector<HistoryNode> nodes_;
  std::unique_ptr<state::AttemptCounter> attempts_;
  std::unique_ptr<state::Builder> builder_;
  std::shared_ptr<const model::Snapshot> snapshot_;
};

TEST(GpuHistories, NothingIsGivenTwiceAndARestartCountsTheSame) {
  for (unsigned seed = 1; seed <= (kSequences + kAtOnce - 1) / kAtOnce; ++seed) {
    Histories(seed).run();
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

}  // namespace
}  // namespace berth::tests
