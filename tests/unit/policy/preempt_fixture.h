// What the tests of preemption share: nodes full of pods, what the scheduler offers, and what comes back as text.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "berth/policy/preempt.h"
#include "support/snapshot_builder.h"

namespace berth::policy {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;
using tests::SnapshotBuilder;

inline constexpr core::WallTime kNow{std::chrono::hours(1000)};
inline core::WallTime ago(int minutes) { return kNow - std::chrono::minutes(minutes); }

// A pod of team/NAME with UID NAME that has held these GPUs for an hour.
inline model::Occupant holder(std::string name, std::initializer_list<int> gpus, int priority = 0, int minutes = 60) {
  model::Occupant pod;
  pod.uid = name;
  pod.ns = "team";
  pod.name = std::move(name);
  pod.gpus = static_cast<std::int32_t>(gpus.size());
  pod.placement.gpus = model::mask(gpus);
  pod.priority = priority;
  pod.started = ago(minutes);
  return pod;
}

inline model::Occupant of(model::Occupant pod, std::string owner) {
  pod.owner = std::move(owner);
  return pod;
}
inline model::Occupant labelled(model::Occupant pod, std::vector<model::Label> labels) {
  pod.labels = std::move(labels);
  return pod;
}
inline model::Occupant saved(model::Occupant pod, int minutes_ago) {
  pod.saved = ago(minutes_ago);
  return pod;
}

// A pod of priority 100.
inline model::PodRequest preemptor(std::int64_t gpus, std::vector<std::pair<std::string, std::string>> keys = {}) {
  model::PodRequest pod = tests::request(gpus, std::move(keys));
  pod.priority = 100;
  return pod;
}
inline model::PodRequest restricted(std::int64_t gpus) { return preemptor(gpus, {{"topology-policy", "restricted"}}); }

inline model::PreemptionCandidate offer(std::string node, const std::vector<std::string>& victims,
                                        std::int64_t violations = 0) {
  model::PreemptionCandidate candidate{std::move(node), {}, violations};
  for (const std::string& uid : victims) candidate.victims.push_back({uid, false, {}, 0, {}});
  return candidate;
}

struct Answered {
  std::map<std::string, std::vector<std::string>> victims;  // by node
  std::map<std::string, std::int64_t> violations;
  std::map<std::string, std::string> rejected;  // reasons
  PreemptionOutcome outcome;
};

inline Answered preempt(const SnapshotBuilder& cluster, const model::PodRequest& pod,
                        const std::vector<model::PreemptionCandidate>& offered, const Settings& settings = {}) {
  const auto snapshot = cluster.build();
  Answered answered;
  answered.outcome = decide_preemption({*snapshot, pod, offered, kNow}, settings);
  for (const model::PreemptionCandidate& candidate : answered.outcome.answer) {
    auto& uids = answered.victims[candidate.node];
    for (const model::Victim& victim : candidate.victims) uids.push_back(victim.uid);
    answered.violations[candidate.node] = candidate.budget_violations;
  }
  for (const auto& [node, reason] : answered.outcome.rejected) {
    answered.rejected[node] = model::to_string(reason);
  }
  return answered;
}

// A DGX-1 with one pod on each GPU, called g0 to g7. NVLinks of its hybrid cube mesh: two between 0-3 0-4 1-2 1-5 2-3
// 4-7 5-6 6-7, one between 0-1 0-2 1-3 2-6 3-7 4-5 4-6 5-7.
inline SnapshotBuilder dgx1_full_of_ones() {
  SnapshotBuilder cluster;
  cluster.node("dgx", 8, 0, tests::kV100);
  for (int gpu = 0; gpu < 8; ++gpu) cluster.occupant(holder("g" + std::to_string(gpu), {gpu}));
  return cluster;
}

}  // namespace berth::policy
