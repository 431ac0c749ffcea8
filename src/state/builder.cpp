#include "builder.h"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

namespace berth::state {

using model::EntryKind;
using model::kNoSlot;

namespace {

model::GpuMask claim_of(const model::Pod& pod) {
  const auto found = std::ranges::find(pod.annotations, "berth.io/gpus", &model::Annotation::key);
  return found == pod.annotations.end() ? 0 : parse_gpu_list(found->value).value_or(0);
}

}  // namespace

std::string_view not_ready_why(bool nodes_listed, bool pods_listed) {
  if (!nodes_listed) return "waiting for the first list of nodes";
  if (!pods_listed) return "waiting for the first list of pods";
  return "";
}

Builder::Builder(const StateOptions& options, AttemptCounter& attempts) : options_(options), attempts_(attempts) {}

void Builder::apply(model::ClusterUpdate update) {
  std::visit(
      [this](auto& what) {
        if constexpr (requires { take(what); }) take(what);
      },
      update);
}

void Builder::take(model::NodeSet& update) { set_node(std::move(update.node)); }

void Builder::take(model::NodeGone& update) {
  if (NodeRecord* const record = nodes_.find(update.name)) remove_node(*record);
}

void Builder::take(model::AllNodes& update) {
  std::unordered_set<std::string_view> named;
  for (const model::Node& node : update.nodes) named.insert(node.name);
  // First those that are gone, so that their slots are taken again.
  const std::vector<NodeRecord*> known = nodes_.by_slot();
  for (NodeRecord* const record : known) {
    if (record != nullptr && !named.contains(record->name)) remove_node(*record);
  }
  named.clear();
  for (model::Node& node : update.nodes) set_node(std::move(node));
  nodes_listed_ = true;
}

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
  for (const model::Pod& pod : update.pods) set_pod(pod).listed = list_;
  pods_.remove_unlisted(list_, [this](PodRecord& record) { forget(record); });
  pods_listed_ = true;
}

void Builder::set_node(model::Node node) {
  if (node.name.empty()) return;
  NodeRecord& record = nodes_.at(node.name);
  const bool comes = record.slot == kNoSlot;
  if (!comes && *record.node == node) return;
  const std::shared_ptr<const model::Node> before = record.node;
  nodes_.set(record, std::make_shared<const model::Node>(std::move(node)));
  placements_.change(record.slot, before ? std::span(before->fluid_labels) : std::span<const std::string>(),
                     record.node->fluid_labels);
  if (comes) ledger_.node_comes(record);
}

void Builder::remove_node(NodeRecord& record) {
  if (record.slot == kNoSlot) return;
  ledger_.node_goes(record);
  placements_.change(record.slot, record.node->fluid_labels, {});
  nodes_.remove(record);
  nodes_.release(record);
}

PodRecord& Builder::set_pod(const model::Pod& pod) {
  PodRecord* record = pods_.find(pod.ns, pod.name);
  if (record != nullptr && record->uid != pod.uid) {
    // Deleted and made anew, and we missed the deletion.
    forget(*record);
    pods_.remove(pod.ns, pod.name);
    record = nullptr;
  }
  if (record == nullptr) record = &pods_.add(pod.ns, pod.name, pod.uid);
  pods_.set_bound(*record, !pod.node.empty() && !pod.ended());
  count_gpus(*record, pod);
  keep_ledger(*record, pod);
  return *record;
}

void Builder::count_gpus(PodRecord& record, const model::Pod& pod) {
  const std::int32_t gpus = gpu_count(pod.gpus);
  NodeRecord* const node = record.bound && gpus > 0 ? &nodes_.at(pod.node) : nullptr;
  if (record.holds_on != nullptr && record.holds_on != node) {
    NodeRecord& left = *record.holds_on;
    left.account.remove(&record.uid);
    nodes_.touch(left);
    nodes_.release(left);
  }
  record.holds_on = node;
  if (node == nullptr) return;
  if (node->account.put({&record.uid, pod.created, gpus, claim_of(pod)})) nodes_.touch(*node);
}

void Builder::keep_ledger(PodRecord& record, const model::Pod& pod) {
  const bool was_closed = std::exchange(record.closed, !pod.node.empty() || pod.ended() || pod.deleting);
  if (record.closed) {
    if (was_closed) return;
    ledger_.end(record.uid);
    attempts_.forget(record.uid);
    return;
  }
  const std::int32_t gpus = gpu_count(pod.gpus);
  if (pod.nominated_node.empty() || gpus == 0 || record.uid.empty()) {
    ledger_.end(record.uid, EntryKind::kFirm);
  } else {
    ledger_.put_firm(record.uid, nodes_.at(pod.nominated_node), {gpus, pod.priority});
  }
}

void Builder::forget(PodRecord& record) {
  if (record.holds_on != nullptr) {
    NodeRecord& left = *std::exchange(record.holds_on, nullptr);
    left.account.remove(&record.uid);
    nodes_.touch(left);
    nodes_.release(left);
  }
  if (record.closed) return;
  ledger_.end(record.uid);
  attempts_.forget(record.uid);
}

void Builder::apply(const Attempt& attempt, core::SteadyTime now) {
  const PodRecord* const record = pods_.find_uid(attempt.uid);
  if (record != nullptr && record->closed) {
    // The pod was bound while the answer was on its way.
    attempts_.forget(attempt.uid);
    return;
  }
  if (attempt.winner.empty() || attempt.uid.empty()) return;
  // What an earlier attempt preferred no longer holds, even where the new winner can't be written down.
  NodeRecord* const node = nodes_.find(attempt.winner);
  if (node == nullptr || node->slot == kNoSlot || attempt.gpus <= 0) {
    ledger_.end(attempt.uid, EntryKind::kSoft);
    return;
  }
  ledger_.put_soft(attempt.uid, *node, {gpu_count(attempt.gpus), attempt.priority}, now + options_.soft_lifetime);
}

bool Builder::changed() const {
  return nodes_.changed() || ledger_.changed() || placements_.changed() || were_pods_ != pods_.size() ||
         were_bound_ != pods_.bound() || was_ready_ != (nodes_listed_ && pods_listed_) || version_ == 0 ||
         build_failed_;
}

std::shared_ptr<const model::Snapshot> Builder::build(core::SteadyTime now) {
  build_failed_ = true;  // unless it comes to its end
  auto next = std::make_shared<model::Snapshot>();
  next->version = version_ + 1;
  next->built = now;
  next->not_ready_why = not_ready_why(nodes_listed_, pods_listed_);
  next->ready = next->not_ready_why.empty();
  nodes_.write(*next);
  ledger_.write(*next);
  placements_.write(*next);
  next->pods = pods_.size();
  next->bound_pods = pods_.bound();

  version_ = next->version;
  was_ready_ = next->ready;
  were_pods_ = next->pods;
  were_bound_ = next->bound_pods;
  build_failed_ = false;
  return next;
}

}  // namespace berth::state
