// What the policy tests share: ask and get names back.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "berth/policy/decide.h"
#include "support/snapshot_builder.h"

namespace berth::policy {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;
using tests::request;
using tests::SnapshotBuilder;

struct Filtered {
  std::vector<std::string> kept;
  std::map<std::string, std::string> rejected;  // by node
  model::Decision decision;
};

inline Filtered filter(const SnapshotBuilder& cluster, const model::PodRequest& pod,
                       const std::vector<std::string_view>& names, const Settings& settings = {},
                       std::uint32_t attempt = 1, core::WallTime now = {}) {
  const auto snapshot = cluster.build();
  FilterOutcome outcome = decide_filter({*snapshot, pod, names, attempt, now}, settings);
  Filtered filtered;
  for (const auto name : outcome.kept) filtered.kept.emplace_back(names[name]);
  for (const auto& node : outcome.rejected) {
    filtered.rejected[std::string(names[node.name])] = model::to_string(node.reason);
  }
  filtered.decision = std::move(outcome.decision);
  return filtered;
}

// n000 to n999.
inline std::string name_of(int i) {
  const std::string digits = std::to_string(i);
  return "n" + std::string(3 - digits.size(), '0') + digits;
}

inline constexpr std::int64_t kGiB = std::int64_t{1} << 30U;

// The candidate of this name; one without a name if it is none.
inline model::Candidate candidate(const Filtered& filtered, const std::string& node) {
  for (const model::Candidate& one : filtered.decision.candidates) {
    if (one.node == node) return one;
  }
  return {};
}

inline std::map<std::string, int> prioritize(const SnapshotBuilder& cluster, const model::PodRequest& pod,
                                             const std::vector<std::string_view>& names,
                                             const Settings& settings = {}) {
  const auto snapshot = cluster.build();
  std::map<std::string, int> scores;
  for (const auto& host : decide_prioritize({*snapshot, pod, names, 1, {}}, settings).scores) {
    scores[std::string(names[host.name])] = host.score;
  }
  return scores;
}

}  // namespace berth::policy
