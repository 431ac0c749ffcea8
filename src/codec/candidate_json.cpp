#include "candidate_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "berth/model/placement_text.h"
#include "coverage_fields.h"

namespace berth::codec {
namespace {

using nlohmann::ordered_json;

constexpr std::array kSources = {model::CoverageSource::kMeasured, model::CoverageSource::kUniform,
                                 model::CoverageSource::kAssumed,  model::CoverageSource::kNewWorker,
                                 model::CoverageSource::kLabel,    model::CoverageSource::kFuse};
// Ages beyond this are nobody's: they would leave the range of WallTime.
constexpr std::int64_t kOldest = std::int64_t{100} * 365 * 24 * 3600;

double tenths(double seconds) { return std::round(seconds * 10) / 10; }

ordered_json gpu_list(model::GpuMask set) {
  ordered_json list = ordered_json::array();
  for (int gpu = 0; gpu < model::kMaxGpus; ++gpu) {
    if (model::contains(set, gpu)) list.push_back(gpu);
  }
  return list;
}

ordered_json share_json(const model::DatasetShare& share, const std::string& dataset, core::WallTime at) {
  const auto age = age_seconds(share.observed, at);
  return {{"dataset", dataset},
          {"coverage", rounded(static_cast<double>(share.coverage))},
          {"source", source_name(share.source, share.observed)},
          {"ageSeconds", age ? ordered_json(*age) : ordered_json(nullptr)}};
}

model::DatasetShare share_from(const ordered_json& json, core::WallTime at) {
  model::DatasetShare share;
  share.coverage = static_cast<float>(std::clamp(json.value("coverage", 0.0), 0.0, 1.0));
  const std::string source = json.value("source", "");
  const auto known =
      std::find_if(kSources.begin(), kSources.end(), [&](auto one) { return model::to_string(one) == source; });
  if (known == kSources.end()) return share;
  share.source = *known;
  const auto age = json.find("ageSeconds");
  if (age != json.end() && age->is_number_integer()) {
    share.observed = at - std::chrono::seconds(std::clamp<std::int64_t>(age->get<std::int64_t>(), 0, kOldest));
  }
  return share;
}

}  // namespace

ordered_json candidate_json(const model::Candidate& candidate, std::span<const std::string> datasets,
                            core::WallTime at) {
  ordered_json json = {{"node", candidate.node},
                       {"score", candidate.score},
                       {"total", rounded(candidate.parts.total)},
                       {"locality", rounded(candidate.parts.locality)},
                       {"topology", rounded(candidate.parts.topology)},
                       {"packing", rounded(candidate.parts.packing)},
                       {"failures", rounded(candidate.parts.failures)},
                       {"loadSeconds", tenths(candidate.load_seconds)},
                       {"savedSeconds", tenths(candidate.saved_seconds)},
                       {"coverage", rounded(candidate.coverage)},
                       {"datasets", ordered_json::array()},
                       {"gpusFree", candidate.gpus_free},
                       {"gpuSet", gpu_list(candidate.gpu_set)}};
  if (!candidate.mig_slots.empty()) json["migSlots"] = model::write_mig_slots(candidate.mig_slots);
  const std::size_t shares = std::min(datasets.size(), candidate.shares.size());
  for (std::size_t i = 0; i < shares; ++i) {
    json["datasets"].push_back(share_json(candidate.shares[i], datasets[i], at));
  }
  return json;
}

model::Candidate candidate_from(const ordered_json& json, core::WallTime at) {
  model::Candidate candidate;
  candidate.node = json.value("node", "");
  candidate.score = json.value("score", 0);
  candidate.parts = {json.value("locality", 0.0), json.value("topology", 0.0), json.value("packing", 0.0),
                     json.value("total", 0.0)};
  candidate.parts.proximity = json.value("proximity", 0.0);
  candidate.parts.failures = json.value("failures", 0.0);
  candidate.load_seconds = json.value("loadSeconds", 0.0);
  candidate.saved_seconds = json.value("savedSeconds", 0.0);
  candidate.coverage = json.value("coverage", 0.0);
  for (const auto& share : json.value("datasets", ordered_json::array())) {
    candidate.shares.push_back(share_from(share, at));
  }
  candidate.gpus_free = json.value("gpusFree", -1);
  for (const auto& gpu : json.value("gpuSet", ordered_json::array())) {
    const int index = gpu.get<int>();
    if (index >= 0 && index < model::kMaxGpus) candidate.gpu_set |= model::GpuMask{1} << index;
  }
  candidate.mig_slots = model::parse_mig_slots(json.value("migSlots", "")).value_or(std::vector<model::MigSlot>());
  return candidate;
}

std::string dump(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace berth::codec
