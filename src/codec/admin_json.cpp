#include "berth/codec/admin_json.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "berth/core/quantity.h"

namespace berth::codec {
namespace {

using nlohmann::ordered_json;

std::string dump(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

// RFC 3339 in UTC with milliseconds.
std::string timestamp(core::WallTime time) {
  using namespace std::chrono;
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(floor<milliseconds>(time - day));
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
  return text;
}

double rounded(double part) { return std::round(part * 1e4) / 1e4; }

ordered_json gpu_list(model::GpuMask set) {
  ordered_json list = ordered_json::array();
  for (int gpu = 0; gpu < model::kMaxGpus; ++gpu) {
    if (model::contains(set, gpu)) list.push_back(gpu);
  }
  return list;
}

ordered_json to_json(const model::Candidate& candidate) {
  return {{"node", candidate.node},
          {"score", candidate.score},
          {"total", rounded(candidate.parts.total)},
          {"locality", rounded(candidate.parts.locality)},
          {"topology", rounded(candidate.parts.topology)},
          {"packing", rounded(candidate.parts.packing)},
          {"coverage", rounded(candidate.coverage)},
          {"gpusFree", candidate.gpus_free},
          {"gpuSet", gpu_list(candidate.gpu_set)}};
}

ordered_json to_json(const model::Explanation& told, bool names) {
  ordered_json json = {
      {"pod", told.pod},
      {"uid", told.uid},
      {"gpus", told.gpus},
      {"datasets", told.datasets},
      {"ignoredAnnotations", told.ignored_keys},
      {"at", timestamp(told.at)},
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
    for (const model::Candidate& candidate : told.candidates) json["candidates"].push_back(to_json(candidate));
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

model::Candidate candidate_from(const ordered_json& json) {
  model::Candidate candidate;
  candidate.node = json.value("node", "");
  candidate.score = json.value("score", 0);
  candidate.parts = {json.value("locality", 0.0), json.value("topology", 0.0), json.value("packing", 0.0),
                     json.value("total", 0.0)};
  candidate.coverage = json.value("coverage", 0.0);
  candidate.gpus_free = json.value("gpusFree", -1);
  for (const auto& gpu : json.value("gpuSet", ordered_json::array())) {
    const int index = gpu.get<int>();
    if (index >= 0 && index < model::kMaxGpus) candidate.gpu_set |= model::GpuMask{1} << index;
  }
  return candidate;
}

model::Explanation explanation_from(const ordered_json& json) {
  model::Explanation told;
  told.pod = json.at("pod").get<std::string>();
  told.uid = json.value("uid", "");
  told.gpus = json.value("gpus", std::int64_t{0});
  told.datasets = json.value("datasets", std::vector<std::string>{});
  told.ignored_keys = json.value("ignoredAnnotations", std::vector<std::string>{});
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
    told.candidates.push_back(candidate_from(candidate));
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
               {"datasets", snapshot.datasets.size()},
               {"ledgerEntries", snapshot.ledger->size()},
               {"decisions", summary.decisions}});
}

}  // namespace berth::codec
