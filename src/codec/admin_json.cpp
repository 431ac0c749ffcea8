#include "berth/codec/admin_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "berth/core/quantity.h"
#include "candidate_json.h"
#include "coverage_fields.h"
#include "free_gpus_json.h"

namespace berth::codec {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(const model::Explanation& told, bool names) {
  ordered_json json = {
      {"pod", told.pod},
      {"uid", told.uid},
      {"gpus", told.gpus},
      {"datasets", told.datasets},
      {"unknownDatasets", told.unknown_datasets},
      {"ignoredAnnotations", told.ignored_keys},
      {"gang", told.gang},
      {"policy", told.policy},
      {"at", core::format_timestamp(told.at)},
      {"attempt", told.attempt},
      {"snapshot", {{"version", told.snapshot_version}, {"ageMilliseconds", told.snapshot_age.count()}}},
      {"asked", told.asked},
      {"winner", told.winner},
      {"error", told.error},
      {"prioritized", told.prioritized},
      {"tookMicroseconds", {{"filter", told.filter_took.count()}, {"prioritize", told.prioritize_took.count()}}},
      {"candidateCount", told.candidate_count}};
  if (names) {
    json["candidates"] = ordered_json::array();
    for (const model::Candidate& candidate : told.candidates) {
      ordered_json row = candidate_json(candidate, told.datasets, told.at);
      if (!told.gang.empty()) row["proximity"] = rounded(candidate.parts.proximity);
      json["candidates"].push_back(std::move(row));
    }
  }
  json["rejected"] = ordered_json::array();
  for (const auto& rejected : told.rejected) {
    ordered_json entry = {{"reason", model::to_string(rejected.reason)}, {"count", rejected.count}};
    if (names) entry["nodes"] = rejected.nodes;
    json["rejected"].push_back(std::move(entry));
  }
  return json;
}

model::Reason reason_named(const std::string& name) {
  for (int i = 0; i < model::kReasonCount; ++i) {
    const auto reason = static_cast<model::Reason>(i);
    if (model::to_string(reason) == name) return reason;
  }
  return model::Reason::kNone;
}

model::Explanation explanation_from(const ordered_json& json) {
  model::Explanation told;
  told.pod = json.at("pod").get<std::string>();
  told.uid = json.value("uid", "");
  told.gpus = json.value("gpus", std::int64_t{0});
  told.datasets = json.value("datasets", std::vector<std::string>{});
  told.unknown_datasets = json.value("unknownDatasets", std::vector<std::string>{});
  told.ignored_keys = json.value("ignoredAnnotations", std::vector<std::string>{});
  told.gang = json.value("gang", "");
  told.policy = json.value("policy", "");
  told.at = core::parse_timestamp(json.value("at", "")).value_or(core::WallTime{});
  told.attempt = json.value("attempt", 1U);
  const ordered_json snapshot = json.value("snapshot", ordered_json::object());
  told.snapshot_version = snapshot.value("version", std::uint64_t{0});
  told.snapshot_age = std::chrono::milliseconds(snapshot.value("ageMilliseconds", std::int64_t{0}));
  told.asked = json.value("asked", std::size_t{0});
  told.winner = json.value("winner", "");
  told.error = json.value("error", "");
  told.prioritized = json.value("prioritized", false);
  const ordered_json took = json.value("tookMicroseconds", ordered_json::object());
  told.filter_took = std::chrono::microseconds(took.value("filter", std::int64_t{0}));
  told.prioritize_took = std::chrono::microseconds(took.value("prioritize", std::int64_t{0}));
  told.candidate_count = json.value("candidateCount", std::size_t{0});
  for (const auto& candidate : json.value("candidates", ordered_json::array())) {
    told.candidates.push_back(candidate_from(candidate, told.at));
  }
  for (const auto& rejected : json.value("rejected", ordered_json::array())) {
    told.rejected.push_back({reason_named(rejected.value("reason", "")), rejected.value("count", std::size_t{0}),
                             rejected.value("nodes", std::vector<std::string>{})});
  }
  return told;
}

}  // namespace

std::string write_explanation(const model::Explanation& explanation) { return dump(to_json(explanation, true)); }

core::Result<model::Explanation> read_explanation(const std::string& json) {
  try {
    return explanation_from(ordered_json::parse(json));
  } catch (const nlohmann::json::exception& error) {
    return core::fail(core::ErrorCode::kInvalid, std::string("not an explanation of Berth's: ") + error.what());
  }
}

std::string write_decisions(std::span<const model::Explanation> explanations) {
  ordered_json list = ordered_json::array();
  for (const model::Explanation& explanation : explanations) list.push_back(to_json(explanation, false));
  return dump({{"decisions", std::move(list)}});
}

std::string write_summary(const Summary& summary) {
  const model::Snapshot& snapshot = *summary.snapshot;
  return dump({{"version", summary.version},
               {"ready", snapshot.ready},
               {"notReadyWhy", snapshot.not_ready_why},
               {"source", {{"name", summary.source}, {"connected", summary.source_connected}}},
               {"snapshot", {{"version", snapshot.version}, {"ageMilliseconds", summary.snapshot_age.count()}}},
               {"nodes", snapshot.index->nodes()},
               {"pods", snapshot.pods},
               {"boundPods", snapshot.bound_pods},
               {"gpus", {{"capacity", snapshot.gpus}, {"used", snapshot.gpus_used}}},
               {"freeGpus", free_gpus_json(summary.free)},
               {"datasets", std::count_if(snapshot.datasets.begin(), snapshot.datasets.end(),
                                          [](const auto& placement) { return placement != nullptr; })},
               {"policies", snapshot.policies->size()},
               {"ledgerEntries", snapshot.ledger->size()},
               {"decisions", summary.decisions}});
}

}  // namespace berth::codec
