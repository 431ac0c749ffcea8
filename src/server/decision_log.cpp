#include "berth/server/decision_log.h"

#include <utility>

namespace berth::server {
namespace {

std::size_t bytes_of(const model::Decision& decision) {
  std::size_t bytes = sizeof decision + decision.rejected.capacity() * sizeof(model::Rejection);
  for (const model::Candidate& candidate : decision.candidates) bytes += sizeof candidate + candidate.node.capacity();
  return bytes;
}

}  // namespace

DecisionLog::DecisionLog(std::size_t keep_pods, std::size_t keep_bytes)
    : keep_pods_(keep_pods), keep_bytes_(keep_bytes) {}

void DecisionLog::hold(const model::PodDecisions& decisions, int sign) {
  for (const model::Decision* decision : {decisions.filter.get(), decisions.prioritize.get()}) {
    if (decision == nullptr) continue;
    std::size_t bytes = bytes_of(*decision);
    if (const model::NodeIndex* index = decision->index.get(); index != nullptr) {
      std::size_t& holders = indices_[index];
      if (holders == (sign > 0 ? 0 : 1)) bytes += index->bytes();
      holders += static_cast<std::size_t>(sign);
      if (holders == 0) indices_.erase(index);
    }
    bytes_ += sign > 0 ? bytes : -bytes;
  }
}

void DecisionLog::add(std::shared_ptr<const model::Decision> decision) {
  std::string pod = decision->pod.ns + "/" + decision->pod.name;
  model::PodDecisions replaced;  // both freed after the lock
  Order dropped;
  const std::lock_guard lock(mutex_);
  if (const auto found = by_pod_.find(pod); found != by_pod_.end()) {
    order_.splice(order_.begin(), order_, found->second);
  } else {
    order_.push_front({pod, {}});
    by_pod_.emplace(std::move(pod), order_.begin());
  }
  model::PodDecisions& kept = order_.front().decisions;
  replaced = kept;
  const model::Decision* other = kept.filter ? kept.filter.get() : kept.prioritize.get();
  if (other != nullptr && other->pod.uid != decision->pod.uid) kept = {};
  (decision->verb == model::Verb::kFilter ? kept.filter : kept.prioritize) = std::move(decision);
  hold(kept, +1);
  hold(replaced, -1);
  while (order_.size() > 1 && (order_.size() > keep_pods_ || bytes_ > keep_bytes_)) {
    hold(order_.back().decisions, -1);
    by_pod_.erase(order_.back().pod);
    dropped.splice(dropped.begin(), order_, std::prev(order_.end()));
  }
}

std::optional<model::PodDecisions> DecisionLog::find(std::string_view pod) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_pod_.find(pod);
  if (found == by_pod_.end()) return std::nullopt;
  return found->second->decisions;
}

std::vector<model::PodDecisions> DecisionLog::latest(std::size_t most) const {
  std::vector<model::PodDecisions> latest;
  const std::lock_guard lock(mutex_);
  for (const Kept& kept : order_) {
    if (latest.size() == most) break;
    latest.push_back(kept.decisions);
  }
  return latest;
}

std::size_t DecisionLog::pods() const {
  const std::lock_guard lock(mutex_);
  return order_.size();
}

}  // namespace berth::server
