#include "event_plan.h"

#include <array>
#include <cstdio>

#include "locality.h"

namespace berth::control {
namespace {

constexpr std::size_t kMostSchedulers = 64;
constexpr std::size_t kMostTexts = 1'000;
// As in the wake-ups: a pod that the watch never shows is a tool's question.
constexpr std::chrono::seconds kUnseenEventKept{60};
constexpr std::chrono::seconds kSweepEventsEvery{10};
// Names of objects have at most 253 bytes.
constexpr std::size_t kMostOfPodName = 236;

// FNV-1a.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return hash;
}

std::vector<std::string> unknown_datasets(const model::Decision& decision, const model::Snapshot& snapshot) {
  if (!decision.unknown_datasets.empty()) return decision.unknown_datasets;
  std::vector<std::string> unknown;
  for (const model::WantedDataset& wanted : decision.pod.datasets) {
    if (snapshot.dataset_id(wanted.ref) == model::kNoDataset) unknown.push_back(wanted.ref.to_string());
  }
  return unknown;
}

}  // namespace

EventPlan::EventPlan(model::PodDefaults defaults, EventOptions options, const core::Clock& clock)
    : defaults_(std::move(defaults)), options_(options), clock_(clock) {}

EventPlan::Entry* EventPlan::entry(const std::string& uid) {
  const auto known = entries_.find(uid);
  if (known != entries_.end()) return &known->second;
  if (uid.empty() || entries_.size() >= options_.most_pods) return nullptr;
  Entry& made = entries_[uid];
  made.since = clock_.now();
  return &made;
}

void EventPlan::tell(Entry& entry, Kind kind, const model::Pod& pod, std::string message) {
  if ((entry.told & kind) != 0 || message.empty()) return;
  entry.told |= kind;
  const char* const reason = kind == kLocality  ? "DatasetLocality"
                             : kind == kWaiting ? "WaitingForPlace"
                             : kind == kUnknown ? "DatasetUnknown"
                                                : "InvalidPolicy";
  std::array<char, 20> digits{};
  std::snprintf(digits.data(), digits.size(), ".%016llx", static_cast<unsigned long long>(hash_of(pod.uid + reason)));
  events_.push_back({pod.ns, pod.name, pod.uid, pod.name.substr(0, kMostOfPodName) + digits.data(), kind != kLocality,
                     reason, std::move(message), clock_.wall()});
}

void EventPlan::tell_when_seen(Entry& entry, Kind kind, std::string message) {
  if (entry.pod) return tell(entry, kind, *entry.pod, std::move(message));
  std::erase_if(entry.unheard, [kind](const auto& earlier) { return earlier.first == kind; });
  entry.unheard.emplace_back(kind, std::move(message));
}

void EventPlan::decided(const model::Decision& decision, const model::Snapshot& snapshot) {
  const model::PodRequest& pod = decision.pod;
  Entry* const known = decision.one_node ? nullptr : entry(pod.uid);
  if (known == nullptr) return;
  if (!decision.candidates.empty() && !pod.datasets.empty()) {
    known->choice.emplace().winner = decision.candidates.front();
    known->choice->weights = pod.weights;
    if (decision.candidates.size() > 1) known->choice->runner_up = decision.candidates[1];
  }
  if (decision.verb != model::Verb::kFilter) return;
  known->asked = true;
  known->has_candidates = decision.candidate_count > 0;
  known->rejected.fill(0);
  for (const model::Rejection& node : decision.rejected) ++known->rejected[static_cast<std::size_t>(node.reason)];
  if (known->pod && schedulers_.size() < kMostSchedulers) schedulers_.insert(known->pod->scheduler_name);

  if (pod.invalid) tell_when_seen(*known, kInvalid, pod.invalid->to_string());
  const bool nowhere = known->rejected[static_cast<std::size_t>(model::Reason::kDatasetUnknown)] > 0;
  if ((!nowhere && decision.unknown_datasets.empty()) || (known->told & kUnknown) != 0) return;
  const auto names = unknown_datasets(decision, snapshot);
  // Created in the meantime.
  if (names.empty()) return;
  tell_when_seen(*known, kUnknown, unknown(names, snapshot, nowhere));
}

std::string EventPlan::unknown(const std::vector<std::string>& names, const model::Snapshot& snapshot, bool required) {
  if (unknown_among_ != snapshot.dataset_names || unknown_texts_.size() >= kMostTexts) unknown_texts_.clear();
  unknown_among_ = snapshot.dataset_names;
  std::string key = required ? "+" : "-";
  for (const std::string& name : names) key.append(name).append(",");
  auto known = unknown_texts_.find(key);
  if (known == unknown_texts_.end()) {
    known = unknown_texts_.emplace(key, unknown_text(names, snapshot, required)).first;
  }
  return known->second;
}

void EventPlan::heard(const PodNotice& notice, const model::Snapshot& snapshot) {
  const model::Pod& pod = *notice.pod;
  if (notice.news == PodNews::kWaiting) {
    const bool is_new = !entries_.contains(pod.uid) || entries_.find(pod.uid)->second.pod == nullptr;
    Entry* const waits = entry(pod.uid);
    if (waits == nullptr) return;
    waits->pod = notice.pod;
    if (is_new) pending_.emplace(pod.created + options_.pending_after, pod.uid);
    if (waits->asked && schedulers_.size() < kMostSchedulers) schedulers_.insert(pod.scheduler_name);
    for (auto& [kind, message] : std::exchange(waits->unheard, {})) tell(*waits, kind, pod, std::move(message));
    return;
  }
  const auto known = entries_.find(pod.uid);
  if (notice.news == PodNews::kBound) bound(pod, known == entries_.end() ? nullptr : &known->second, snapshot);
  if (known != entries_.end()) entries_.erase(known);
}

void EventPlan::bound(const model::Pod& pod, Entry* entry, const model::Snapshot& snapshot) {
  model::PodRequest request = model::make_request(pod, defaults_);
  model::resolve_claims(request, snapshot);
  if (request.datasets.empty()) return;
  const auto held = held_on(snapshot, request, snapshot.find(pod.node));
  count(locality_, held);
  if (held.empty()) return;
  Entry unheard;
  if (entry == nullptr) entry = &unheard;
  const Choice* const choice = entry->choice ? &*entry->choice : nullptr;
  tell(*entry, kLocality, pod, bound_text(pod.node, held, choice, pod.gpus, clock_.wall()));
}

void EventPlan::look_at_pending(const std::string& uid, Entry& entry, const model::Snapshot& snapshot) {
  const model::Pod& pod = *entry.pod;
  model::PodRequest request = model::make_request(pod, defaults_);
  model::resolve_claims(request, snapshot);
  // A pod that we were never asked about was rejected by the scheduler itself, if it is one that asks us at all.
  const bool theirs = !entry.asked && !request.datasets.empty() && schedulers_.contains(pod.scheduler_name);
  const bool rejected = entry.asked ? !entry.has_candidates : theirs || pod.rejected_by_us;
  const bool told_why = (entry.told & (kInvalid | kUnknown)) != 0 && entry.asked && !entry.has_candidates;
  if (rejected && !pod.gated && !told_why) {
    tell(entry, kWaiting, pod, pending_text(request, snapshot, entry.asked ? &entry.rejected : nullptr));
  }
  if ((entry.told & kWaiting) == 0) pending_.emplace(clock_.wall() + options_.look_again, uid);
}

std::vector<codec::PodEvent> EventPlan::take(const model::Snapshot& snapshot) {
  sweep();
  const auto wall = clock_.wall();
  while (snapshot.ready && !pending_.empty() && pending_.begin()->first <= wall) {
    const std::string uid = pending_.begin()->second;
    pending_.erase(pending_.begin());
    const auto known = entries_.find(uid);
    if (known != entries_.end() && known->second.pod) look_at_pending(uid, known->second, snapshot);
  }
  return std::exchange(events_, {});
}

void EventPlan::sweep() {
  const auto now = clock_.now();
  if (now - swept_ < kSweepEventsEvery) return;
  swept_ = now;
  std::erase_if(entries_, [&](const auto& one) {
    return one.second.pod == nullptr && now - one.second.since > kUnseenEventKept;
  });
}

}  // namespace berth::control
