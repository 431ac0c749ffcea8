// What pods mean for the others: GPUs held, caches kept, data read, promises in the ledger.
#include <algorithm>
#include <utility>
#include <vector>

#include "berth/model/packing_view.h"
#include "builder.h"
#include "pod_holder.h"

namespace berth::state {

using model::EntryKind;
using model::kNoSlot;

namespace {

// Reading it all is dear for the many pods that say nothing.
bool says_more(const model::Pod& pod) {
  return !pod.claims.empty() || !pod.annotations.empty() || !pod.datasets_in_use.empty() ||
         !pod.required_claims.empty();
}

std::shared_ptr<const model::Resources> requests_of(const PodRecord* record) {
  return record != nullptr ? record->requests : nullptr;
}

}  // namespace

void Builder::take(model::PodSet& update) { set_pod(update.pod); }

void Builder::take(model::PodGone& update) {
  PodRecord* const record = pods_.find(update.ns, update.name);
  if (record == nullptr) return;
  // Word of an earlier pod of this name comes too late to matter.
  if (!update.uid.empty() && update.uid != record->uid) return;
  forget(*record);
  pods_.remove(update.ns, update.name);
}

void Builder::take(model::AllPods& update) {
  ++list_;
  // In the order in which they were asked for.
  std::vector<const model::Pod*> pods;
  pods.reserve(update.pods.size());
  for (const model::Pod& pod : update.pods) pods.push_back(&pod);
  std::ranges::sort(pods, [](const model::Pod* a, const model::Pod* b) {
    return a->created != b->created ? a->created < b->created : a < b;
  });
  for (const model::Pod* pod : pods) set_pod(*pod).listed = list_;
  pods_.remove_unlisted(list_, [this](PodRecord& record) { forget(record); });
  pods_listed_ = true;
}

PodRecord& Builder::set_pod(const model::Pod& pod) {
  PodRecord* record = pods_.find(pod.ns, pod.name);
  if (record != nullptr && record->uid != pod.uid) {
    // Deleted and made anew, and we missed the deletion.
    forget(*record);
    pods_.remove(pod.ns, pod.name);
    record = nullptr;
  }
  const bool is_new = record == nullptr;
  if (is_new) record = &pods_.add(pod.ns, pod.name, pod.uid);
  pods_.set_bound(*record, !pod.node.empty() && !pod.ended());
  const model::PodRequest request = says_more(pod) ? model::make_request(pod, {}) : model::PodRequest{};
  count_gpus(*record, pod, request);
  count_requests(*record, pod);
  keep_cache(*record, pod);
  keep_wants(*record, pod, request);
  keep_ledger(*record, pod);
  keep_gang(*record, pod);
  settle_reader(*record);
  count_refusal(*record, pod, is_new);
  if (is_new) learn(pod, request);
  return *record;
}

void Builder::learn(const model::Pod& pod, const model::PodRequest& request) {
  const model::RequestClass asked = model::request_class(pod.gpus, pod.parts, pod.requests.basic.cpu_milli);
  unlearned_.push_back({asked, asked.gpus > 0 ? pod.ns : "", request.policy_name});
  // Before policies are there it is not known which products they allow.
  if (data_listed_ || !options_.await_data) learn_all();
}

void Builder::learn_all() {
  for (Unlearned& pod : std::exchange(unlearned_, {})) {
    if (pod.request.gpus > 0) {
      pod.request.products = policies_.gpu_products(pod.ns, pod.policy).value_or(options_.mix.gpu_products);
      std::ranges::sort(pod.request.products);
    }
    packing_.add(std::move(pod.request));
  }
}

void Builder::count_refusal(PodRecord& record, const model::Pod& pod, bool is_new) {
  if (record.refused || pod.phase != model::PodPhase::kFailed || pod.node.empty()) return;
  const auto cause = refusal_cause(pod.failed_reason);
  if (!cause) return;
  record.refused = true;
  // One that had been refused before we saw it: kubelet starts the clock of a pod when it refuses it.
  const core::WallTime since = std::max(pod.started, pod.created);
  const bool old = is_new && since != core::WallTime{} && since < now_;
  const core::WallTime::duration age =
      old ? now_ - std::max(since, now_ - std::chrono::hours(1)) : std::chrono::seconds(0);
  failures_.add(pod.node, pod.owner, steady_ - age, *cause);
}

void Builder::count_gpus(PodRecord& record, const model::Pod& pod, const model::PodRequest& request) {
  const bool holds = gpu_count(pod.gpus) > 0 || pod.parts.any();
  NodeRecord* const node = record.bound && holds ? &nodes_.at(pod.node) : nullptr;
  if (record.holds_on != nullptr && record.holds_on != node) {
    NodeRecord& left = *record.holds_on;
    left.account.remove(&record.uid);
    nodes_.touch(left);
    nodes_.release(left);
  }
  record.holds_on = node;
  if (node == nullptr) return;
  GpuAccount::Holder holder = holder_of(pod, record.uid, request);
  if (!options_.preemption) {
    holder.pod.labels.clear();
    holder.pod.owner.clear();
  }
  if (node->account.put(holder)) nodes_.touch(*node);
}

void Builder::count_requests(PodRecord& record, const model::Pod& pod) {
  std::shared_ptr<const model::Resources> asked = record.requests;
  if (!asked || *asked != pod.requests) asked = requests_.share(within_bounds(pod.requests, model::kMostAsked));
  NodeRecord* const node = record.bound ? &nodes_.at(pod.node) : nullptr;
  if (record.counts_on == node && record.requests == asked) return;
  if (node != nullptr) {
    node->count_pod(*asked, +1);
    nodes_.touch(*node);
  }
  uncount_requests(record);
  record.counts_on = node;
  record.requests = std::move(asked);
}

void Builder::uncount_requests(PodRecord& record) {
  if (record.counts_on == nullptr) return;
  NodeRecord& left = *std::exchange(record.counts_on, nullptr);
  left.count_pod(*record.requests, -1);
  nodes_.touch(left);
  nodes_.release(left);
}

void Builder::keep_cache(PodRecord& record, const model::Pod& pod) {
  if (pod.cache && !pod.cache->dataset.empty() && record.bound && !pod.deleting) {
    NodeRecord* const left = record.cache ? record.cache->node : nullptr;
    NodeRecord& node = nodes_.at(pod.node);
    datasets_.put_pod(record.cache, pod, node, !pods_listed_);
    if (left != nullptr && left != &node) nodes_.release(*left);
  } else if (NodeRecord* const left = datasets_.drop_pod(record.cache)) {
    nodes_.release(*left);
  }
}

void Builder::keep_wants(PodRecord& record, const model::Pod& pod, const model::PodRequest& request) {
  std::unique_ptr<PodWants> told = pod.ended() ? nullptr : wants_of(request);
  if (!told) {
    drop_wants(record);
    return;
  }
  const bool same = record.wants && record.wants->claims == told->claims && record.wants->named == told->named;
  if (!record.wants) record.wants = std::make_unique<PodWants>();
  PodWants& wants = *record.wants;
  if (!same) {
    wants.claims = std::move(told->claims);
    wants.named = std::move(told->named);
    wanted_names_.resolve(record, claims_.known(), datasets_.names());
  }
  wants.nominated = pod.nominated_node;
  wants.gpus = gpu_count(pod.gpus);
  wants.priority = pod.priority;
  wants.parts = pod.parts;
  NodeRecord* const node = record.bound ? &nodes_.at(pod.node) : nullptr;
  if (node != nullptr) ++node->refers;
  if (NodeRecord* const left = std::exchange(wants.node, node)) {
    --left->refers;
    nodes_.release(*left);
  }
}

void Builder::drop_wants(PodRecord& record) {
  if (!record.wants) return;
  wanted_names_.forget(record);
  record.wants->known.clear();
  settle_reader(record);
  if (NodeRecord* const left = record.wants->node) {
    --left->refers;
    nodes_.release(*left);
  }
  record.wants = nullptr;
}

void Builder::settle_reader(PodRecord& record) {
  if (!record.wants) return;
  PodWants& wants = *record.wants;
  NodeRecord* const entry = record.uid.empty() ? nullptr : ledger_.node_of(record.uid);
  NodeRecord* const node = wants.known.empty() ? nullptr : wants.node != nullptr ? wants.node : entry;
  if (node == wants.counted_on && wants.known == wants.counted) return;
  NodeRecord* const left = std::exchange(wants.counted_on, node);
  if (left != nullptr) {
    for (const model::DatasetId dataset : wants.counted) readers_.add(*left, dataset, -1);
  }
  wants.counted.clear();
  if (node != nullptr) {
    wants.counted = wants.known;
    for (const model::DatasetId dataset : wants.counted) readers_.add(*node, dataset, +1);
  }
  if (left != nullptr) nodes_.release(*left);
}

void Builder::settle_moved() {
  for (const std::string& uid : ledger_.take_moved()) {
    PodRecord* const record = pods_.find_uid(uid);
    if (record != nullptr) settle_reader(*record);
    if (record == nullptr || !record->bound) gangs_.move(uid, ledger_.node_of(uid), ledger_.is_soft(uid));
  }
}

void Builder::resolve_again(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    for (PodRecord* const record : wanted_names_.concerned(name)) {
      wanted_names_.resolve(*record, claims_.known(), datasets_.names());
      const PodWants& wants = *record->wants;
      if (!record->closed)
        keep_firm(*record, wants.nominated, {wants.gpus, wants.priority, wants.parts, record->requests});
      settle_reader(*record);
    }
  }
}

void Builder::keep_ledger(PodRecord& record, const model::Pod& pod) {
  const bool was_closed = std::exchange(record.closed, !pod.node.empty() || pod.ended() || pod.deleting);
  if (record.closed) {
    if (was_closed) return;
    ledger_.end(record.uid);
    attempts_.forget(record.uid);
    return;
  }
  keep_firm(record, pod.nominated_node, {gpu_count(pod.gpus), pod.priority, pod.parts, record.requests});
}

void Builder::keep_gang(const PodRecord& record, const model::Pod& pod) {
  // Others are none of our business, and their number is the cluster's.
  const bool ours = pod.gpus > 0 || pod.parts.any() || pod.resource_claims || !pod.annotations.empty();
  if (!gangs_.set(record.uid, ours ? pod.gang : model::GangRef{}, pod.phase)) return;
  NodeRecord* const node = record.bound ? &nodes_.at(pod.node) : ledger_.node_of(record.uid);
  gangs_.move(record.uid, node, !record.bound && ledger_.is_soft(record.uid));
}

void Builder::keep_firm(PodRecord& record, const std::string& nominated, Ledger::Demand demand) {
  const bool reads = record.wants && record.wants->any;
  const bool holds = demand.gpus > 0 || demand.parts.any();
  if (nominated.empty() || (!holds && !reads) || record.uid.empty()) {
    ledger_.end(record.uid, EntryKind::kFirm);
  } else {
    ledger_.put_firm(record.uid, nodes_.at(nominated), std::move(demand));
  }
}

void Builder::forget(PodRecord& record) {
  if (record.holds_on != nullptr) {
    NodeRecord& left = *std::exchange(record.holds_on, nullptr);
    left.account.remove(&record.uid);
    nodes_.touch(left);
    nodes_.release(left);
  }
  uncount_requests(record);
  if (NodeRecord* const left = datasets_.drop_pod(record.cache)) nodes_.release(*left);
  if (!record.closed) {
    ledger_.end(record.uid);
    attempts_.forget(record.uid);
  }
  gangs_.forget(record.uid);
  drop_wants(record);
}

void Builder::take(model::Reserved& update) {
  const PodRecord* const record = pods_.find_uid(update.uid);
  // What comes after the pod was seen bound, or gone for good, holds nothing any more.
  if (update.uid.empty() || (record != nullptr && record->closed)) return;
  ledger_.reserve(update.uid, nodes_.at(update.node),
                  {gpu_count(update.gpus), update.priority, std::move(update.parts), requests_of(record)},
                  std::move(update.placement));
  gangs_.expect(update.uid, update.gang);
}

void Builder::take(model::Unreserved& update) {
  const auto nomination = ledger_.unreserve(update.uid);
  if (nomination) ledger_.put_firm(update.uid, nodes_.at(nomination->first), nomination->second);
}

void Builder::apply(const Attempt& attempt, core::SteadyTime now) {
  const PodRecord* const record = pods_.find_uid(attempt.uid);
  if (record != nullptr && record->closed) {
    // The pod was bound while the answer was on its way.
    attempts_.forget(attempt.uid);
    return;
  }
  if (attempt.winner.empty() || attempt.uid.empty()) return;
  const bool reads = attempt.reads_data || (record != nullptr && record->wants && record->wants->any);
  // What an earlier attempt preferred no longer holds, even where the new winner can't be written down.
  NodeRecord* const node = nodes_.find(attempt.winner);
  if (node == nullptr || node->slot == kNoSlot || (attempt.gpus <= 0 && !attempt.parts.any() && !reads)) {
    ledger_.end(attempt.uid, EntryKind::kSoft);
  } else {
    ledger_.put_soft(attempt.uid, *node,
                     {gpu_count(attempt.gpus), attempt.priority, attempt.parts, requests_of(record)},
                     now + options_.soft_lifetime);
    gangs_.expect(attempt.uid, attempt.gang);
  }
  settle_moved();
}

}  // namespace berth::state
