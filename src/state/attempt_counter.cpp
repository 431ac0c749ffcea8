#include "attempt_counter.h"

namespace berth::state {

std::uint32_t AttemptCounter::number(const Calls& calls, model::Verb verb, core::SteadyTime now) const {
  const bool same = now - calls.begun < gap_ || (verb == model::Verb::kPrioritize && calls.awaits_prioritize);
  return same ? calls.attempts : calls.attempts + 1;
}

std::uint32_t AttemptCounter::number(std::string_view uid, model::Verb verb, core::SteadyTime now) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_uid_.find(uid);
  return found == by_uid_.end() ? 1 : number(*found->second, verb, now);
}

void AttemptCounter::record(std::string_view uid, model::Verb verb, core::SteadyTime now) {
  const std::lock_guard lock(mutex_);
  if (const auto found = by_uid_.find(uid); found != by_uid_.end()) {
    Calls& calls = *found->second;
    if (const std::uint32_t attempt = number(calls, verb, now); attempt != calls.attempts) {
      calls.attempts = attempt;
      calls.begun = now;
    }
    calls.awaits_prioritize = verb == model::Verb::kFilter;
    calls_.splice(calls_.end(), calls_, found->second);
    return;
  }
  if (max_kept_ == 0) return;
  if (calls_.size() >= max_kept_) {
    by_uid_.erase(calls_.front().uid);
    calls_.pop_front();
  }
  calls_.push_back({std::string(uid), 1, now, verb == model::Verb::kFilter});
  by_uid_.emplace(calls_.back().uid, std::prev(calls_.end()));
}

void AttemptCounter::forget(std::string_view uid) {
  const std::lock_guard lock(mutex_);
  const auto found = by_uid_.find(uid);
  if (found == by_uid_.end()) return;
  const auto calls = found->second;
  by_uid_.erase(found);
  calls_.erase(calls);
}

std::size_t AttemptCounter::size() const {
  const std::lock_guard lock(mutex_);
  return calls_.size();
}

}  // namespace berth::state
