#include "policy_table.h"

#include <utility>

namespace berth::state {

void PolicyTable::set(model::SchedulingPolicy policy) {
  std::string key = policy.ns + "/" + policy.name;
  known_.insert_or_assign(std::move(key), std::make_shared<const model::SchedulingPolicy>(std::move(policy)));
  changed_ = true;
}

void PolicyTable::remove(const std::string& ns, const std::string& name) {
  if (known_.erase(ns + "/" + name) > 0) changed_ = true;
}

void PolicyTable::replace(std::vector<model::SchedulingPolicy> all) {
  changed_ = changed_ || !known_.empty() || !all.empty();
  known_.clear();
  for (model::SchedulingPolicy& policy : all) set(std::move(policy));
}

std::optional<std::vector<std::string>> PolicyTable::gpu_products(std::string_view ns, std::string_view name) const {
  for (const std::string_view each : {name, std::string_view("default")}) {
    const auto found = known_.find(std::string(ns) + "/" + std::string(each));
    if (found != known_.end() && found->second->terms.gpu_products) return found->second->terms.gpu_products;
  }
  return std::nullopt;
}

void PolicyTable::write(model::Snapshot& snapshot) {
  if (changed_) {
    published_ = std::make_shared<const model::PolicyMap>(known_);
    changed_ = false;
  }
  snapshot.policies = published_;
}

}  // namespace berth::state
