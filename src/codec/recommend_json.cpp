#include "berth/codec/recommend_json.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "candidate_json.h"
#include "coverage_fields.h"

namespace berth::codec {
namespace {

using nlohmann::ordered_json;

ordered_json node_term(const std::string& node) {
  return {
      {"matchFields",
       ordered_json::array({{{"key", "metadata.name"}, {"operator", "In"}, {"values", ordered_json::array({node})}}})}};
}

ordered_json preferred(const std::vector<model::AdvisedNode>& nodes) {
  ordered_json terms = ordered_json::array();
  for (const model::AdvisedNode& node : nodes) {
    terms.push_back({{"weight", node.weight}, {"preference", node_term(node.candidate.node)}});
  }
  return {{"preferredDuringSchedulingIgnoredDuringExecution", std::move(terms)}};
}

// The API server refuses a selector without terms.
template <class Nodes, class Name>
ordered_json selector(const Nodes& nodes, Name name) {
  if (nodes.empty()) return nullptr;
  ordered_json terms = ordered_json::array();
  for (const auto& node : nodes) terms.push_back(node_term(name(node)));
  return {{"nodeSelectorTerms", std::move(terms)}};
}

ordered_json required(const model::Recommendation& advice) {
  ordered_json terms =
      selector(advice.nodes, [](const model::AdvisedNode& node) -> const std::string& { return node.candidate.node; });
  if (!advice.required || terms.is_null()) return nullptr;
  return {{"requiredDuringSchedulingIgnoredDuringExecution", std::move(terms)}};
}

std::string_view why(model::StartUnknown unknown) {
  switch (unknown) {
    case model::StartUnknown::kNone:
      return "";
    case model::StartUnknown::kNobodySays:
      return "what runs there has neither activeDeadlineSeconds nor berth.io/expected-duration";
    case model::StartUnknown::kOverdue:
      return "a pod there has passed the end that it stated";
    case model::StartUnknown::kPromised:
      return "GPUs are promised to pods that are not bound yet";
  }
  return "";
}

ordered_json known_seconds(std::optional<std::int64_t> seconds) {
  return seconds ? ordered_json(*seconds) : ordered_json(nullptr);
}

ordered_json to_json(const model::WarmNode& node, core::WallTime at) {
  const auto starts = node.starts_in ? std::optional<std::int64_t>(node.starts_in->count()) : std::nullopt;
  return {{"node", node.node},
          {"slurmName", node.slurm_name},
          {"gpusFree", node.gpus_free},
          {"startsInSeconds", known_seconds(starts)},
          {"why", node.starts_in ? "" : why(node.unknown)},
          {"readyWorker", node.worker},
          {"coverage", rounded(static_cast<double>(node.share.coverage))},
          {"source", source_name(node.share.source, node.share.observed)},
          {"ageSeconds", known_seconds(age_seconds(node.share.observed, at))}};
}

// For kubectl apply, or for a gateway that creates it.
ordered_json data_load(const model::LoadOrder& order) {
  return {{"apiVersion", "data.fluid.io/v1alpha1"},
          {"kind", "DataLoad"},
          {"metadata", {{"namespace", order.dataset.ns}, {"name", order.name}}},
          {"spec",
           {{"dataset", {{"namespace", order.dataset.ns}, {"name", order.dataset.name}}},
            {"loadMetadata", true},
            {"target", ordered_json::array({{{"path", "/"}, {"replicas", order.copies}}})}}}};
}

ordered_json notes_of(const model::WarmAdvice& advice) {
  ordered_json notes = ordered_json::array();
  if (!advice.exists) {
    notes.push_back("no such dataset exists: create it first");
    return notes;
  }
  if (!advice.bound) notes.push_back("the dataset is not Bound: Fluid loads nothing before it is");
  if (!advice.load) notes.push_back("Fluid has no DataLoad for the runtime " + advice.runtime);
  if (advice.loading) notes.push_back("a DataLoad of this dataset is running already");
  if (!advice.nodes.empty() && !advice.worker_near) {
    notes.push_back(
        "none of these nodes has a ready worker of the dataset, and Fluid loads onto the dataset's workers only: have "
        "workers there first, with datasetNodeAffinity as spec.nodeAffinity of the Dataset");
  }
  return notes;
}

ordered_json to_json(const model::WarmAdvice& advice, core::WallTime at) {
  ordered_json json = {{"dataset", advice.dataset.to_string()},
                       {"reason", advice.exists ? "" : model::to_string(model::Reason::kDatasetUnknown)},
                       {"runtime", advice.runtime},
                       {"readyWorkers", advice.ready_workers},
                       {"loading", advice.loading},
                       {"nodeCount", advice.node_count},
                       {"nodes", ordered_json::array()}};
  for (const model::WarmNode& node : advice.nodes) json["nodes"].push_back(to_json(node, at));
  json["dataLoad"] = advice.load ? data_load(*advice.load) : ordered_json(nullptr);
  json["datasetNodeAffinity"] = nullptr;
  if (!advice.worker_near && !advice.nodes.empty()) {
    json["datasetNodeAffinity"] = {
        {"required",
         selector(advice.nodes, [](const model::WarmNode& node) -> const std::string& { return node.node; })}};
  }
  json["notes"] = notes_of(advice);
  return json;
}

}  // namespace

std::string write_recommendation(const model::Recommendation& advice) {
  ordered_json json = {{"gpus", advice.gpus},
                       {"datasets", advice.datasets},
                       {"unknownDatasets", advice.unknown_datasets},
                       {"ignoredAnnotations", advice.ignored_keys},
                       {"snapshotVersion", advice.snapshot_version},
                       {"reason", model::to_string(advice.reason)},
                       {"warmNodes", advice.warm_nodes},
                       {"candidateCount", advice.candidate_count},
                       {"nodes", ordered_json::array()},
                       {"rejected", ordered_json::array()}};
  for (const model::AdvisedNode& node : advice.nodes) {
    ordered_json entry = candidate_json(node.candidate, advice.datasets, advice.at);
    entry["fits"] = node.fits;
    entry["slurmName"] = node.slurm_name;
    json["nodes"].push_back(std::move(entry));
  }
  for (const auto& rejected : advice.rejected) {
    json["rejected"].push_back({{"reason", model::to_string(rejected.reason)}, {"count", rejected.count}});
  }
  json["nodeAffinity"] = preferred(advice.nodes);
  json["requiredNodeAffinity"] = required(advice);
  json["slurmNodeList"] = advice.slurm_node_list;
  json["warm"] = advice.warm ? to_json(*advice.warm, advice.at) : ordered_json(nullptr);
  return dump(json);
}

}  // namespace berth::codec
