// What the tests of wake-ups share: pods that the real policy rejects, and who is woken.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../src/control/wake_plan.h"
#include "berth/policy/decide.h"
#include "berth/policy/what_if.h"
#include "support/snapshot_builder.h"

namespace berth::control {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using tests::SnapshotBuilder;
using SnapshotPtr = std::shared_ptr<const model::Snapshot>;
using PodPtr = std::shared_ptr<const model::Pod>;
using Keys = std::vector<std::pair<std::string, std::string>>;

inline const Keys kNeedsData = {{"datasets", "data"}, {"dataset-policy", "required"}};

class WakePlanTest : public ::testing::Test {
 protected:
  // Younger than all that were made before.
  PodPtr pod(const std::string& name, std::int64_t gpus = 1, const Keys& keys = kNeedsData) {
    model::Pod made;
    made.ns = "team";
    made.name = name;
    made.uid = "uid-" + name;
    made.gpus = gpus;
    made.created = core::WallTime(std::chrono::hours(1)) + milliseconds(++made_);
    for (const auto& [key, value] : keys) made.annotations.push_back({"berth.io/" + key, value});
    return std::make_shared<const model::Pod>(made);
  }
  // Asks the policy about these nodes (all if none is named), as the scheduler would, and tells the plan.
  model::Decision ask(const PodPtr& pod, const SnapshotPtr& snapshot, std::vector<std::string_view> names = {}) {
    model::PodRequest request = model::make_request(*pod, {});
    model::resolve_claims(request, *snapshot);
    model::apply_policy(request, *snapshot, {});
    if (names.empty()) names = policy::all_names(*snapshot);
    auto outcome = policy::decide_filter({*snapshot, request, names, 1, clock_.wall()}, settings_);
    outcome.decision.one_node = false;
    plan_.decided(outcome.decision);
    return outcome.decision;
  }
  void reject(const PodPtr& pod, const SnapshotPtr& snapshot, std::vector<std::string_view> names = {}) {
    EXPECT_EQ(ask(pod, snapshot, std::move(names)).candidate_count, 0U);
    plan_.waiting(pod);
  }
  // The names of what is written, "node NAME" for nodes; the API server takes it all.
  std::vector<std::string> woken(const SnapshotPtr& snapshot, WakeAnswer answer = WakeAnswer::kDone) {
    std::vector<std::string> names;
    for (const Wake& wake : plan_.plan(snapshot)) {
      names.push_back((wake.node ? "node " : "") + wake.name);
      plan_.answered(wake, answer);
    }
    return names;
  }

  core::ManualClock clock_;
  policy::Settings settings_;
  WakePlan plan_{settings_, {}, {}, clock_};
  int made_ = 0;
  const SnapshotPtr cold_ = SnapshotBuilder().node("a").node("b").holds("team", "data", 0).build();
  const SnapshotPtr warm_ = SnapshotBuilder().node("a").holds("team", "data").node("b").build();
};

}  // namespace berth::control
