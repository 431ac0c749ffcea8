#include "berth/server/decision_log.h"

#include <utility>

namespace berth::server {
namespace {

std::size_t bytes_of(const model::Decision* decision) {
  if (decision == nullptr) return 0;
  std::size_t bytes = sizeof(model::Decision) + decision->rejected.capacity() * sizeof(model::Rejection);
  for (const model::Candidate& candidate : decision->candidates) bytes += sizeof candidate + candidate.node.capacity();
  return bytes;
}

}  // namespace

DecisionLog::DecisionLog(std::size_t keep_pods, std::size_t keep_bytes)
    : keep_pods_(keep_pods), keep_bytes_(keep_bytes) {}

void DecisionLog::add(std::shared_ptr<const model::Decision> decision) {
  std::string pod = decision->pod.ns + "/" + decision->pod.name;
  Order dropped;  // freed after the lock
  const std::lock_guard lock(mutex_);
  if (const auto found = by_pod_.find(pod); found != by_pod_.end()) {
    order_.splice(order_.begin(), order_, found->second);
  } else {
    order_.push_front({pod, {}, 0});
    by_pod_.emplace(std::move(pod), order_.begin());
  }
  Kept& kept = order_.front();
  const model::Decision* other = kept.decisions.filter ? kept.decisions.filter.get() : kept.decisions.prioritize.get();
  if (other != nullptr && other->pod.uid != decision->pod.uid) kept.decisions = {};
  (decision->verb == model::Verb::kFilter ? kept.decisions.filter : kept.decisions.prioritize) = std::move(decision);
  bytes_ -= kept.bytes;
  kept.bytes = bytes_of(kept.decisions.filter.get()) + bytes_of(kept.decisions.prioritize.get());
  bytes_ += kept.bytes;
  while (order_.size() > 1 && (order_.size() > keep_pods_ || bytes_ > keep_bytes_)) {
    bytes_ -= order_.back().bytes;
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
