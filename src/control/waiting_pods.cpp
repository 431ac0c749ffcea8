#include "berth/control/waiting_pods.h"

#include <unordered_set>
#include <utility>
#include <variant>

namespace berth::control {
namespace {

bool unbound(const model::Pod& pod) { return pod.node.empty() && !pod.ended() && !pod.deleting && !pod.uid.empty(); }

}  // namespace

void WaitingPods::push(model::ClusterUpdate update) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto* set = std::get_if<model::PodSet>(&update)) {
      see(set->pod);
    } else if (const auto* gone = std::get_if<model::PodGone>(&update)) {
      forget(gone->uid);
    } else if (const auto* all = std::get_if<model::AllPods>(&update)) {
      see_all(all->pods);
    }
  }
  next_.push(std::move(update));
}

std::vector<PodNotice> WaitingPods::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(notices_, {});
}

std::shared_ptr<const model::Pod> WaitingPods::find(const std::string& uid) const {
  const std::lock_guard lock(mutex_);
  const auto known = waiting_.find(uid);
  return known == waiting_.end() ? nullptr : known->second;
}

bool WaitingPods::is_of_others(const std::string& uid) const {
  const std::lock_guard lock(mutex_);
  return others_.contains(uid);
}

std::size_t WaitingPods::size() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

void WaitingPods::see(const model::Pod& pod) {
  const auto known = waiting_.find(pod.uid);
  const bool waits = unbound(pod);
  const bool ours = waits && model::make_request(pod, {}).ours();
  if (waits && !ours && others_.size() < most_) {
    others_.insert(pod.uid);
  } else if (!waits || ours) {
    others_.erase(pod.uid);
  }
  if (ours) {
    if (known == waiting_.end() && waiting_.size() >= most_) return;
    auto kept = std::make_shared<const model::Pod>(pod);
    notices_.push_back({PodNews::kWaiting, kept});
    waiting_[pod.uid] = std::move(kept);
    return;
  }
  if (known == waiting_.end()) return;
  const bool bound = !pod.node.empty() && !pod.ended() && !pod.deleting;
  notices_.push_back({bound ? PodNews::kBound : PodNews::kGone, std::make_shared<const model::Pod>(pod)});
  waiting_.erase(known);
}

void WaitingPods::see_all(const std::vector<model::Pod>& pods) {
  std::unordered_set<std::string_view> listed;
  for (const model::Pod& pod : pods) listed.insert(pod.uid);
  std::erase_if(others_, [&](const std::string& uid) { return !listed.contains(uid); });
  std::vector<std::string> gone;
  for (const auto& [uid, pod] : waiting_) {
    if (!listed.contains(uid)) gone.push_back(uid);
  }
  for (const std::string& uid : gone) forget(uid);
  for (const model::Pod& pod : pods) see(pod);
}

void WaitingPods::forget(const std::string& uid) {
  others_.erase(uid);
  const auto known = waiting_.find(uid);
  if (known == waiting_.end()) return;
  notices_.push_back({PodNews::kGone, std::move(known->second)});
  waiting_.erase(known);
}

}  // namespace berth::control
