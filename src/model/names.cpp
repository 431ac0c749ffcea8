// The words of the model as text.
#include "berth/core/text.h"
#include "berth/model/decision.h"
#include "berth/model/machine.h"
#include "berth/model/pod.h"
#include "berth/model/reason.h"

namespace berth::model {

std::string_view to_string(Reason reason) {
  switch (reason) {
    case Reason::kNone:
      return "";
    case Reason::kInsufficientGpu:
      return "INSUFFICIENT_GPU";
    case Reason::kGpuShareExhausted:
      return "GPU_SHARE_EXHAUSTED";
    case Reason::kGpuMemoryTooSmall:
      return "GPU_MEMORY_TOO_SMALL";
    case Reason::kGpuProductMismatch:
      return "GPU_PRODUCT_MISMATCH";
    case Reason::kTopologyRestricted:
      return "TOPOLOGY_RESTRICTED";
    case Reason::kDatasetNotCached:
      return "DATASET_NOT_CACHED";
    case Reason::kDatasetUnknown:
      return "DATASET_UNKNOWN";
    case Reason::kGangTopology:
      return "GANG_TOPOLOGY";
    case Reason::kNodeUnknown:
      return "NODE_UNKNOWN";
    case Reason::kReserved:
      return "RESERVED";
    case Reason::kInvalidPolicy:
      return "INVALID_POLICY";
    case Reason::kOutranked:
      return "OUTRANKED";
  }
  return "";
}

bool names_our_reason(std::string_view message) {
  for (int i = 1; i < kReasonCount; ++i) {
    const auto reason = static_cast<Reason>(i);
    if (reason == Reason::kInsufficientGpu || reason == Reason::kOutranked) continue;
    if (core::has_word(message, to_string(reason))) return true;
  }
  return false;
}

std::string_view to_string(Verb verb) { return verb == Verb::kFilter ? "filter" : "prioritize"; }

std::string_view to_string(TopologySource source) {
  switch (source) {
    case TopologySource::kAgent:
      return "agent";
    case TopologySource::kHami:
      return "hami";
    case TopologySource::kKoordinator:
      return "koordinator";
    case TopologySource::kNodeResourceTopology:
      return "node-resource-topology";
    case TopologySource::kResourceSlices:
      return "resource-slices";
    case TopologySource::kLabels:
      return "labels";
  }
  return "";
}

std::string_view to_string(FreeSource source) {
  switch (source) {
    case FreeSource::kAgent:
      return "agent";
    case FreeSource::kAnnotations:
      return "annotations";
    case FreeSource::kModelled:
      return "modelled";
    case FreeSource::kUnknown:
      return "unknown";
  }
  return "";
}

std::string_view to_string(CoverageSource source) {
  switch (source) {
    case CoverageSource::kMeasured:
      return "measured";
    case CoverageSource::kUniform:
      return "uniform";
    case CoverageSource::kAssumed:
      return "assumed";
    case CoverageSource::kNewWorker:
      return "new-worker";
    case CoverageSource::kLabel:
      return "label";
    case CoverageSource::kFuse:
      return "fuse";
  }
  return "";
}

std::string_view to_string(DatasetPolicy policy) {
  return policy == DatasetPolicy::kRequired ? "required" : "preferred";
}

std::string_view to_string(TopologyPolicy policy) {
  switch (policy) {
    case TopologyPolicy::kNone:
      return "none";
    case TopologyPolicy::kBestEffort:
      return "best-effort";
    case TopologyPolicy::kRestricted:
      return "restricted";
  }
  return "";
}

std::optional<DatasetPolicy> parse_dataset_policy(std::string_view text) {
  for (const auto policy : {DatasetPolicy::kPreferred, DatasetPolicy::kRequired}) {
    if (text == to_string(policy)) return policy;
  }
  return std::nullopt;
}

std::optional<TopologyPolicy> parse_topology_policy(std::string_view text) {
  for (const auto policy : {TopologyPolicy::kNone, TopologyPolicy::kBestEffort, TopologyPolicy::kRestricted}) {
    if (text == to_string(policy)) return policy;
  }
  return std::nullopt;
}

}  // namespace berth::model
