// Decides which pods to wake: those that Berth alone had rejected and that fit now.
//
// kube-scheduler tries a rejected pod again when the pod or any node changes, but not when a dataset moves or a wait
// ends, so Berth writes an annotation on the pod. A pod is woken at the first snapshot in which a node that was
// rejected for a reason that only Berth gives takes it and has the GPUs; once more two seconds later if nothing came of
// it; and then not before it has been rejected again. One that is rejected again right after it was woken waits longer
// each time. Pods that ask for the same on the same nodes are judged together, and again only when the datasets they
// want or a block of these nodes has changed. (The ledger needs no look of its own: what it holds on a node is in the
// node's block.)
//
// Not thread-safe. Does no I/O and reads the clock only.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "berth/core/clock.h"
#include "berth/model/decision.h"
#include "berth/model/pod.h"
#include "berth/model/snapshot.h"
#include "berth/policy/settings.h"
#include "node_mask.h"
#include "token_bucket.h"

namespace berth::control {

struct WakeOptions {
  std::chrono::milliseconds again_after{2'000};
  std::size_t node_instead_above = 50;  // due pods; one change of any node wakes them all
  double per_second = 20;
  double burst = 50;
  std::chrono::milliseconds node_gap{1'000};
  std::chrono::milliseconds budget{50};  // of one plan(); what is left is judged by the next
  std::size_t most_pods = 50'000;
  std::size_t most_mask_bytes = std::size_t{32} << 20U;  // beyond it a pod is taken to be rejected on any node
};

// An annotation to write.
struct Wake {
  bool node = false;  // on a node instead of a pod
  std::string ns;
  std::string name;
  std::string uid;
  std::uint64_t round = 0;  // for answered()
};

enum class WakeAnswer : std::uint8_t { kDone, kGone, kDenied, kFailed };

class WakePlan {
 public:
  WakePlan(const policy::Settings& settings, model::PodDefaults defaults, WakeOptions options,
           const core::Clock& clock);

  // An answer to the scheduler.
  void decided(const model::Decision& decision);
  // A pod that waits. One that carries our reason and about which nothing was decided here was rejected before Berth
  // was started: then any node may be the one.
  void waiting(const std::shared_ptr<const model::Pod>& pod);
  void left(const std::string& uid);

  // What to write now, the oldest pods first. Everything returned must be answered.
  std::vector<Wake> plan(const std::shared_ptr<const model::Snapshot>& snapshot);
  void answered(const Wake& wake, WakeAnswer answer);

  // The datasets that pods were rejected for the want of, at most `most`.
  [[nodiscard]] std::vector<model::DatasetRef> awaited(std::size_t most) const;

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] std::size_t waits() const { return waits_.size(); }
  [[nodiscard]] std::uint64_t judged() const { return judged_; }  // nodes, since the start

 private:
  enum class Phase : std::uint8_t { kPlaced, kRejected, kWoken, kSpent };
  using Mask = std::shared_ptr<const NodeMask>;
  struct Group;
  struct Entry {
    std::shared_ptr<const model::Pod> pod;  // null until the watch has shown it
    Mask mask;                              // null: any node
    Group* group = nullptr;                 // null while it is not to be woken
    Phase phase = Phase::kPlaced;
    bool stale = false;                      // its group is to be worked out
    std::uint64_t round = 0;                 // of the wake that is under way; 0 if none
    std::optional<core::WallTime> wait_end;  // in waits_
    core::SteadyTime since;                  // first heard of
    core::SteadyTime woken{};
    core::SteadyTime not_before{};
    unsigned failures = 0;  // wakes in a row that led to nothing
  };
  // Pods that ask for the same and were rejected on the same nodes.
  struct Group {
    std::string key;
    model::PodRequest request;  // what holds now, without a wait
    Mask mask;
    std::unordered_set<Entry*> members;
    std::shared_ptr<const model::Snapshot> seen;  // null: not judged yet
    bool fits = false;
    model::Slot node = model::kNoSlot;  // on which it fits
    std::list<Group>::iterator place;
  };
  struct MaskHash {
    std::size_t operator()(const Mask& mask) const;
  };
  struct MaskEqual {
    bool operator()(const Mask& a, const Mask& b) const { return *a == *b; }
  };

  Entry* entry(const std::string& uid);
  Mask intern(NodeMask mask);
  void await(const std::string& uid, Entry& entry, std::optional<core::WallTime> end);
  void make_stale(const std::string& uid, Entry& entry);
  void leave_group(Entry& entry);
  void set_phase(const std::string& uid, Entry& entry, Phase phase);
  void find_stale(const model::Snapshot& snapshot);
  bool regroup(const model::Snapshot& snapshot, core::SteadyTime until);
  void regroup(const std::string& uid, Entry& entry, const model::Snapshot& snapshot);
  void judge_groups(const std::shared_ptr<const model::Snapshot>& snapshot, core::SteadyTime until);
  void judge(Group& group, const std::shared_ptr<const model::Snapshot>& snapshot);
  void sweep(core::SteadyTime now);
  std::vector<Entry*> due(const model::Snapshot& snapshot, core::SteadyTime now, model::Slot& node) const;
  void put_off(Entry& entry, std::chrono::milliseconds first);

  const policy::Settings settings_;
  const model::PodDefaults defaults_;
  const WakeOptions options_;
  const core::Clock& clock_;
  model::StringMap<Entry> entries_;  // by UID
  std::list<Group> groups_;          // those that were judged last at the end
  model::StringMap<Group*> by_key_;
  std::unordered_set<Mask, MaskHash, MaskEqual> masks_;
  std::size_t mask_bytes_ = 0;
  std::vector<std::string> stale_;
  std::set<std::pair<core::WallTime, std::string>> waits_;  // ends of dataset-wait
  std::shared_ptr<const model::ClaimMap> claims_;           // with which groups were worked out
  std::shared_ptr<const model::PolicyMap> policies_;        // likewise
  core::SteadyTime swept_{};
  TokenBucket tokens_;
  std::uint64_t rounds_ = 0;
  std::uint64_t judged_ = 0;
  std::vector<std::string> node_batch_;  // whom the node that is being written wakes
  core::SteadyTime next_node_{};
  core::SteadyTime pods_denied_until_{};
  core::SteadyTime nodes_denied_until_{};
  unsigned denials_ = 0;
};

}  // namespace berth::control
