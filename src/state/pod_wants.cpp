#include "pod_wants.h"

#include <algorithm>
#include <utility>

#include "pod_table.h"

namespace berth::state {

using model::DatasetId;

std::unique_ptr<PodWants> wants_of(const model::PodRequest& request) {
  if (request.claims.empty() && request.datasets.empty()) return nullptr;
  auto wants = std::make_unique<PodWants>();
  for (const std::string& claim : request.claims) wants->claims.push_back(request.ns + "/" + claim);
  for (const model::WantedDataset& wanted : request.datasets) wants->named.push_back(wanted.ref);
  return wants;
}

void WantedNames::resolve(PodRecord& pod, const model::ClaimMap& claims, const model::DatasetNames& datasets) {
  PodWants& wants = *pod.wants;
  std::vector<model::DatasetRef> refs = wants.named;
  std::vector<std::string> names = wants.claims;
  for (const std::string& claim : wants.claims) {
    if (const auto found = claims.find(claim); found != claims.end()) refs.push_back(found->second);
  }
  std::vector<DatasetId> known;
  for (const model::DatasetRef& ref : refs) {
    names.push_back(model::worker_label(ref, {}));
    const DatasetId id = model::find_dataset(datasets, ref);
    if (id != model::kNoDataset) known.push_back(id);
  }
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  std::ranges::sort(known);
  known.erase(std::ranges::unique(known).begin(), known.end());

  if (names != wants.names) {
    forget(pod);
    for (const std::string& name : names) pods_[name].insert(&pod);
    wants.names = std::move(names);
  }
  wants.any = !refs.empty();
  wants.known = std::move(known);
}

void WantedNames::forget(PodRecord& pod) {
  for (const std::string& name : pod.wants->names) {
    const auto found = pods_.find(name);
    if (found == pods_.end()) continue;
    found->second.erase(&pod);
    if (found->second.empty()) pods_.erase(found);
  }
  pod.wants->names.clear();
}

std::vector<PodRecord*> WantedNames::concerned(const std::string& name) const {
  const auto found = pods_.find(name);
  if (found == pods_.end()) return {};
  return {found->second.begin(), found->second.end()};
}

}  // namespace berth::state
