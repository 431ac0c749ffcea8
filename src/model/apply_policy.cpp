#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "berth/core/nearest.h"
#include "berth/model/snapshot.h"

namespace berth::model {
namespace {

constexpr std::string_view kDefaultName = "default";

void invalid(PodRequest& request, std::string message, std::string where) {
  if (!request.invalid) {
    request.invalid = core::Error{core::ErrorCode::kInvalid, std::move(message), std::move(where)};
  }
}

std::string written(double weight) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", weight);
  return text.data();
}

void refuse_missing(PodRequest& request, const Snapshot& snapshot) {
  const std::string prefix = request.ns + "/";
  std::vector<std::string> known;
  for (const auto& [name, policy] : *snapshot.policies) {
    if (name.starts_with(prefix)) known.push_back(policy->name);
  }
  std::sort(known.begin(), known.end());
  const std::string meant = core::nearest(request.policy_name, known);
  std::string message = "no SchedulingPolicy \"" + request.policy_name + "\" exists in namespace " + request.ns;
  if (!meant.empty()) message += "; did you mean " + meant + "?";
  invalid(request, std::move(message), "annotation berth.io/scheduling-policy");
}

// Fills in what is still open of the terms.
void take_terms(PolicyTerms& open, const PolicyTerms& terms) {
  const auto take = [](auto& into, const auto& from) {
    if (!into) into = from;
  };
  take(open.topology_policy, terms.topology_policy);
  take(open.dataset_policy, terms.dataset_policy);
  take(open.min_gpu_memory_mib, terms.min_gpu_memory_mib);
  take(open.gpu_products, terms.gpu_products);
  take(open.weights.locality, terms.weights.locality);
  take(open.weights.topology, terms.weights.topology);
  take(open.weights.packing, terms.weights.packing);
  take(open.weights.proximity, terms.weights.proximity);
}

struct Part {
  const char* name;
  double Weights::* weight;
  std::optional<double> OptionalWeights::* set;
};
constexpr std::array kParts = {
    Part{"locality", &Weights::locality, &OptionalWeights::locality},
    Part{"topology", &Weights::topology, &OptionalWeights::topology},
    Part{"packing", &Weights::packing, &OptionalWeights::packing},
    Part{"proximity", &Weights::proximity, &OptionalWeights::proximity},
};

// What is wrong with a policy, in itself or because the administrator allows less.
void check(PodRequest& request, const SchedulingPolicy& policy, const WeightBounds& bounds) {
  const std::string where = "SchedulingPolicy " + policy.ns + "/" + policy.name + " ";
  if (policy.invalid) invalid(request, policy.invalid->message, where + policy.invalid->where);
  for (const Part& part : kParts) {
    const std::optional<double> set = policy.terms.weights.*part.set;
    const double least = bounds.least.*part.weight;
    const double most = bounds.most.*part.weight;
    if (!set || (*set >= least && *set <= most)) continue;
    invalid(request,
            "\"" + written(*set) + "\" is not allowed; use " + written(least) + " to " + written(most) +
                ", as the administrator has it",
            where + "spec.weights." + part.name);
  }
}

}  // namespace

void apply_policy(PodRequest& request, const Snapshot& snapshot, const PodDefaults& defaults) {
  PolicyTerms terms = request.given;
  const auto take = [&](std::string_view name) {
    const auto found = snapshot.policies->find(request.ns + "/" + std::string(name));
    if (found == snapshot.policies->end()) return false;
    if (request.policy.empty()) request.policy = found->second->name;
    check(request, *found->second, defaults.weight_bounds);
    take_terms(terms, found->second->terms);
    return true;
  };
  request.policy.clear();
  if (!request.policy_name.empty() && !take(request.policy_name) && snapshot.ready) refuse_missing(request, snapshot);
  if (request.policy_name != kDefaultName) take(kDefaultName);

  request.dataset_policy = terms.dataset_policy.value_or(defaults.dataset_policy);
  request.topology_policy = terms.topology_policy.value_or(defaults.topology_policy);
  for (const Part& part : kParts) {
    request.weights.*part.weight = (terms.weights.*part.set).value_or(defaults.weights.*part.weight);
  }
  const Weights& weights = request.weights;
  if (weights.locality + weights.topology + weights.packing <= 0) {
    invalid(request, "weights.locality, weights.topology and weights.packing must not all be 0",
            "SchedulingPolicy " + request.ns + "/" + request.policy);
  }
  // What others say of GPUs means nothing for a pod without.
  const bool gpus = request.gpus > 0 || request.parts.any();
  request.min_gpu_memory_mib = request.given.min_gpu_memory_mib.value_or(
      gpus ? terms.min_gpu_memory_mib.value_or(defaults.min_gpu_memory_mib) : 0);
  request.gpu_products.clear();
  if (gpus) request.gpu_products = terms.gpu_products.value_or(defaults.gpu_products);
}

}  // namespace berth::model
