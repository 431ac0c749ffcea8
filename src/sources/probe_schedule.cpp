#include "probe_schedule.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace berth::sources {

void ProbeSchedule::set(const std::vector<AlluxioMaster>& masters, core::SteadyTime now) {
  std::map<std::string, Entry> next;
  for (const AlluxioMaster& master : masters) {
    const std::string key = master.dataset.to_string();
    if (next.contains(key)) continue;
    Entry entry{.master = master, .answered = now};
    const auto known = entries_.find(key);
    if (known != entries_.end() && known->second.master.address == master.address) {
      entry = std::move(known->second);
      entry.master.loading = master.loading;
      entry.master.awaited = master.awaited;
    }
    next.emplace(key, std::move(entry));
  }
  entries_ = std::move(next);
}

bool ProbeSchedule::due(const Entry& entry, core::SteadyTime now) const {
  if (entry.asked_now) return false;
  if (!entry.asked) return true;
  auto wait = intervals_.every;
  if (entry.master.loading) wait = std::min(wait, intervals_.while_loading);
  if (entry.master.awaited) wait = std::min(wait, intervals_.while_awaited);
  // With its jitter no longer than the longest.
  const auto longest = std::max(intervals_.every, intervals_.longest * 4 / 5);
  for (std::uint32_t i = 0; i < entry.failures && wait < longest; ++i) wait = std::min(2 * wait, longest);
  return now - *entry.asked >=
         std::chrono::duration<double, std::milli>(entry.jitter * static_cast<double>(wait.count()));
}

std::optional<AlluxioMaster> ProbeSchedule::take(core::SteadyTime now) {
  Entry* best = nullptr;
  const auto rank = [](const Entry& entry) {
    return std::make_tuple(entry.failures, entry.asked.value_or(core::SteadyTime::min()));
  };
  for (auto& [key, entry] : entries_) {
    if (due(entry, now) && (best == nullptr || rank(entry) < rank(*best))) best = &entry;
  }
  if (best == nullptr) return std::nullopt;
  best->asked_now = true;
  return best->master;
}

ProbeSchedule::Turn ProbeSchedule::done(const AlluxioMaster& master, bool answered, core::SteadyTime now,
                                        double random) {
  const auto found = entries_.find(master.dataset.to_string());
  if (found == entries_.end() || found->second.master.address != master.address) return Turn::kForgotten;
  Entry& entry = found->second;
  entry.asked_now = false;
  entry.asked = now;
  entry.jitter = 0.75 + random / 2;
  const bool was_silent = entry.failures > 0;
  if (!answered) {
    ++entry.failures;
    return was_silent ? Turn::kSame : Turn::kWentSilent;
  }
  entry.failures = 0;
  entry.answered = now;
  return was_silent ? Turn::kAnswersAgain : Turn::kSame;
}

std::chrono::nanoseconds ProbeSchedule::oldest(core::SteadyTime now) const {
  std::chrono::nanoseconds oldest{0};
  for (const auto& [key, entry] : entries_) oldest = std::max(oldest, std::chrono::nanoseconds(now - entry.answered));
  return oldest;
}

}  // namespace berth::sources
