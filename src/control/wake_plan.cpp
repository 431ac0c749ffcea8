#include "wake_plan.h"

#include <algorithm>
#include <string_view>

#include "wake_group.h"

namespace berth::control {
namespace {

using std::chrono::milliseconds;

// A pod that is decided about but that the watch never shows is a tool's question.
constexpr std::chrono::seconds kUnseenWakeKept{60};
constexpr std::chrono::seconds kSweepWakesEvery{10};
constexpr milliseconds kAfterVainWake{250};
constexpr milliseconds kAfterFailure{1'000};
constexpr milliseconds kAfterDenial{1'000};
constexpr milliseconds kLongestWait{30'000};
constexpr milliseconds kLongestDenial{300'000};
// Two wakes further apart have nothing to do with each other.
constexpr std::chrono::seconds kUnrelated{60};
constexpr std::size_t kRegroupedAtOnce = 64;  // between two looks at the clock

milliseconds doubled(milliseconds first, unsigned times, milliseconds most) {
  return std::min(most, first * (std::int64_t{1} << std::min(times, 20U)));
}

}  // namespace

std::size_t WakePlan::MaskHash::operator()(const Mask& mask) const {
  const auto* bytes = reinterpret_cast<const char*>(mask->words.data());
  return std::hash<std::string_view>{}({bytes, mask->words.size() * sizeof(std::uint64_t)});
}

WakePlan::WakePlan(const policy::Settings& settings, model::PodDefaults defaults, WakeOptions options,
                   const core::Clock& clock)
    : settings_(judging(settings)),
      defaults_(std::move(defaults)),
      options_(options),
      clock_(clock),
      tokens_(options.per_second, options.burst) {}

WakePlan::Entry* WakePlan::entry(const std::string& uid) {
  const auto known = entries_.find(uid);
  if (known != entries_.end()) return &known->second;
  if (uid.empty() || entries_.size() >= options_.most_pods) return nullptr;
  Entry& made = entries_[uid];
  made.since = clock_.now();
  return &made;
}

WakePlan::Mask WakePlan::intern(NodeMask mask) {
  auto made = std::make_shared<const NodeMask>(std::move(mask));
  const auto known = masks_.find(made);
  if (known != masks_.end()) return *known;
  const std::size_t bytes = made->words.size() * sizeof(std::uint64_t);
  if (mask_bytes_ + bytes > options_.most_mask_bytes) return nullptr;
  mask_bytes_ += bytes;
  masks_.insert(made);
  return made;
}

void WakePlan::await(const std::string& uid, Entry& entry, std::optional<core::WallTime> end) {
  if (entry.wait_end) waits_.erase({*entry.wait_end, uid});
  entry.wait_end = end;
  if (end) waits_.emplace(*end, uid);
}

void WakePlan::make_stale(const std::string& uid, Entry& entry) {
  if (!entry.stale) stale_.push_back(uid);
  entry.stale = true;
}

void WakePlan::leave_group(Entry& entry) {
  Group* const group = entry.group;
  if (group == nullptr) return;
  entry.group = nullptr;
  group->members.erase(&entry);
  if (!group->members.empty()) return;
  by_key_.erase(group->key);
  groups_.erase(group->place);
}

void WakePlan::set_phase(const std::string& uid, Entry& entry, Phase phase) {
  entry.phase = phase;
  if (phase == Phase::kPlaced || phase == Phase::kSpent) {
    leave_group(entry);
  } else if (entry.group == nullptr) {
    make_stale(uid, entry);
  }
}

void WakePlan::decided(const model::Decision& decision) {
  // Prioritize is asked only where candidates were left, which its Filter has told already.
  if (decision.verb != model::Verb::kFilter || decision.one_node) return;
  Entry* const known = entry(decision.pod.uid);
  if (known == nullptr) return;
  known->round = 0;
  NodeMask mask;
  if (decision.candidate_count == 0) mask = rejected_by_us(decision);
  if (mask.empty()) {
    known->failures = 0;
    set_phase(decision.pod.uid, *known, Phase::kPlaced);
    return;
  }
  if (known->phase == Phase::kWoken || known->phase == Phase::kSpent) {
    if (clock_.now() - known->woken > kUnrelated) known->failures = 0;
    put_off(*known, kAfterVainWake);
  }
  known->mask = intern(std::move(mask));
  set_phase(decision.pod.uid, *known, Phase::kRejected);
  make_stale(decision.pod.uid, *known);
}

void WakePlan::waiting(const std::shared_ptr<const model::Pod>& pod) {
  const bool known = entries_.contains(pod->uid);
  if (!known && !pod->rejected_by_us) return;
  Entry* const waits = entry(pod->uid);
  if (waits == nullptr) return;
  waits->pod = pod;
  if (!known) set_phase(pod->uid, *waits, Phase::kRejected);
  if (waits->phase == Phase::kRejected || waits->phase == Phase::kWoken) make_stale(pod->uid, *waits);
}

void WakePlan::left(const std::string& uid) {
  const auto known = entries_.find(uid);
  if (known == entries_.end()) return;
  leave_group(known->second);
  await(uid, known->second, std::nullopt);
  entries_.erase(known);
}

void WakePlan::put_off(Entry& entry, milliseconds first) {
  entry.not_before = clock_.now() + doubled(first, entry.failures, kLongestWait);
  ++entry.failures;
}

void WakePlan::sweep(core::SteadyTime now) {
  if (now - swept_ < kSweepWakesEvery) return;
  swept_ = now;
  std::erase_if(entries_,
                [&](const auto& one) { return one.second.pod == nullptr && now - one.second.since > kUnseenWakeKept; });
  std::erase_if(masks_, [&](const Mask& mask) {
    const bool unused = mask.use_count() == 1;
    if (unused) mask_bytes_ -= mask->words.size() * sizeof(std::uint64_t);
    return unused;
  });
}

// Whose group has to be worked out anew because of time, of policies or of what stands behind claims.
void WakePlan::find_stale(const model::Snapshot& snapshot) {
  if (snapshot.claims != claims_) {
    claims_ = snapshot.claims;
    for (auto& [uid, entry] : entries_) {
      if (entry.group != nullptr && !entry.pod->claims.empty()) make_stale(uid, entry);
    }
  }
  if (snapshot.policies != policies_) {
    policies_ = snapshot.policies;
    for (auto& [uid, entry] : entries_) {
      if (entry.group != nullptr) make_stale(uid, entry);
    }
  }
  const auto wall = clock_.wall();
  while (!waits_.empty() && waits_.begin()->first <= wall) {
    const std::string uid = waits_.begin()->second;
    Entry& over = entries_.find(uid)->second;
    await(uid, over, std::nullopt);
    if (over.group != nullptr) make_stale(uid, over);
  }
}

// False when time has run out.
bool WakePlan::regroup(const model::Snapshot& snapshot, core::SteadyTime until) {
  for (std::size_t done = 1; !stale_.empty(); ++done) {
    const std::string uid = std::move(stale_.back());
    stale_.pop_back();
    const auto known = entries_.find(uid);
    if (known != entries_.end() && known->second.stale) regroup(uid, known->second, snapshot);
    if (done % kRegroupedAtOnce == 0 && clock_.now() > until) return false;
  }
  return true;
}

void WakePlan::regroup(const std::string& uid, Entry& entry, const model::Snapshot& snapshot) {
  entry.stale = false;
  const bool to_wake = entry.phase == Phase::kRejected || entry.phase == Phase::kWoken;
  if (!to_wake || entry.pod == nullptr || entry.pod->gated) return leave_group(entry);
  model::PodRequest request = model::make_request(*entry.pod, defaults_);
  model::resolve_claims(request, snapshot);
  model::apply_policy(request, snapshot, defaults_);
  await(uid, entry, end_of_wait(request, clock_.wall()));
  fix_in_time(request, clock_.wall());
  std::string key = group_key(request, entry.mask.get());
  // Most changes of a pod mean nothing to us: what is known of its group stays.
  if (entry.group != nullptr && entry.group->key == key) return;
  leave_group(entry);
  const auto same = by_key_.find(key);
  if (same != by_key_.end()) {
    entry.group = same->second;
  } else {
    groups_.emplace_front();
    Group& made = groups_.front();
    made.key = std::move(key);
    made.request = std::move(request);
    made.mask = entry.mask;
    made.place = groups_.begin();
    by_key_[made.key] = &made;
    entry.group = &made;
  }
  entry.group->members.insert(&entry);
}

void WakePlan::judge_groups(const std::shared_ptr<const model::Snapshot>& snapshot, core::SteadyTime until) {
  while (!groups_.empty() && groups_.front().seen != snapshot) {
    judge(groups_.front(), snapshot);
    groups_.splice(groups_.end(), groups_, groups_.begin());
    if (clock_.now() > until) return;
  }
}

void WakePlan::judge(Group& group, const std::shared_ptr<const model::Snapshot>& snapshot) {
  const auto names =
      names_to_judge(group.request, group.mask.get(), *snapshot, group.fits ? nullptr : group.seen.get());
  judged_ += names.size();
  group.node = names.empty() ? model::kNoSlot : first_fit(group.request, names, *snapshot, settings_, clock_.wall());
  group.fits = group.node != model::kNoSlot;
  group.seen = snapshot;
}

std::vector<WakePlan::Entry*> WakePlan::due(const model::Snapshot& snapshot, core::SteadyTime now,
                                            model::Slot& node) const {
  std::vector<Entry*> found;
  for (const Group& group : groups_) {
    if (!group.fits || group.seen.get() != &snapshot) continue;
    for (Entry* const entry : group.members) {
      if (entry->round != 0 || entry->stale || now < entry->not_before) continue;
      if (entry->phase == Phase::kWoken && now - entry->woken < options_.again_after) continue;
      found.push_back(entry);
      node = group.node;
    }
  }
  std::sort(found.begin(), found.end(), [](const Entry* a, const Entry* b) {
    return std::tie(a->pod->created, a->pod->uid) < std::tie(b->pod->created, b->pod->uid);
  });
  return found;
}

std::vector<Wake> WakePlan::plan(const std::shared_ptr<const model::Snapshot>& snapshot) {
  std::vector<Wake> wakes;
  if (!snapshot->ready) return wakes;
  const auto now = clock_.now();
  sweep(now);
  find_stale(*snapshot);
  if (regroup(*snapshot, now + options_.budget)) judge_groups(snapshot, now + options_.budget);

  model::Slot node = model::kNoSlot;
  const std::vector<Entry*> found = due(*snapshot, now, node);
  if (found.size() > options_.node_instead_above && now >= nodes_denied_until_) {
    if (now < next_node_ || !node_batch_.empty()) return wakes;
    next_node_ = now + options_.node_gap;
    const model::Node& written = *snapshot->at(node).node;
    wakes.push_back({true, {}, written.name, written.uid, ++rounds_});
    for (Entry* const entry : found) {
      entry->round = rounds_;
      node_batch_.push_back(entry->pod->uid);
    }
    return wakes;
  }
  if (now < pods_denied_until_) return wakes;
  for (Entry* const entry : found) {
    if (!tokens_.take(now)) break;
    entry->round = ++rounds_;
    wakes.push_back({false, entry->pod->ns, entry->pod->name, entry->pod->uid, entry->round});
  }
  return wakes;
}

std::vector<model::DatasetRef> WakePlan::awaited(std::size_t most) const {
  std::vector<model::DatasetRef> found;
  for (const Group& group : groups_) {
    for (const model::WantedDataset& wanted : group.request.datasets) {
      if (found.size() == most) return found;
      if (wanted.required && std::find(found.begin(), found.end(), wanted.ref) == found.end()) {
        found.push_back(wanted.ref);
      }
    }
  }
  return found;
}

void WakePlan::answered(const Wake& wake, WakeAnswer answer) {
  const auto now = clock_.now();
  std::vector<std::string> uids{wake.uid};
  if (wake.node) uids = std::exchange(node_batch_, {});
  if (answer == WakeAnswer::kDenied) {
    (wake.node ? nodes_denied_until_ : pods_denied_until_) = now + doubled(kAfterDenial, denials_++, kLongestDenial);
  } else if (answer == WakeAnswer::kDone) {
    denials_ = 0;
  }
  for (const std::string& uid : uids) {
    const auto known = entries_.find(uid);
    // Of another round: the scheduler has decided again in the meantime.
    if (known == entries_.end() || known->second.round != wake.round) continue;
    Entry& entry = known->second;
    entry.round = 0;
    if (answer == WakeAnswer::kDone) {
      const bool first = entry.phase == Phase::kRejected;
      entry.woken = now;
      set_phase(uid, entry, first ? Phase::kWoken : Phase::kSpent);
    } else if (answer == WakeAnswer::kGone && !wake.node) {
      left(uid);
    } else if (answer == WakeAnswer::kFailed && !wake.node) {
      put_off(entry, kAfterFailure);
    }
  }
}

}  // namespace berth::control
