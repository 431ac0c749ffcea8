#include "builder.h"

#include <algorithm>
#include <span>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

namespace berth::state {

using model::kNoSlot;

std::string_view not_ready_why(bool nodes_listed, bool pods_listed, bool data_listed) {
  if (!nodes_listed) return "waiting for the first list of nodes";
  if (!pods_listed) return "waiting for the first list of pods";
  if (!data_listed) return "waiting for the first list of datasets and claims";
  return "";
}

Builder::Builder(const StateOptions& options, AttemptCounter& attempts)
    : options_(options), attempts_(attempts), nodes_(options.link_bandwidths), datasets_(options.coverage, labels_) {}

std::string_view Builder::why_not_ready() const {
  return not_ready_why(nodes_listed_, pods_listed_, data_listed_ || !options_.await_data);
}

void Builder::apply(model::ClusterUpdate update, core::WallTime now) {
  datasets_.begin(now);
  now_ = now;
  std::visit([this](auto& what) { take(what); }, update);
  resolve_again(datasets_.take_renamed());
  settle_moved();
  readers_.grow(datasets_.ids());
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

void Builder::set_node(model::Node node) {
  if (node.name.empty()) return;
  NodeRecord& record = nodes_.at(node.name);
  const bool comes = record.slot == kNoSlot;
  if (!comes && *record.node == node) return;
  static const model::Node kNone;
  const std::shared_ptr<const model::Node> known = record.node;
  const model::Node& before = known ? *known : kNone;
  nodes_.set(record, std::make_shared<const model::Node>(std::move(node)));
  images_.change(record.slot, before.images, record.node->images);
  datasets_.labels_change(record.slot,
                          labels_.change(record.slot, before.fluid_labels, record.node->fluid_labels, now_));
  if (!comes) return;
  ledger_.node_comes(record);
  gangs_.slots_change();
  failures_.node_comes(record);
  datasets_.node_changes(record);
  readers_.node_comes(record);
}

void Builder::take(model::MachineSet& update) {
  if (update.node.empty() || update.machine == nullptr) return;
  const model::TopologySource source = update.machine->source;
  nodes_.tell(nodes_.at(update.node), source, std::move(update.machine));
}

void Builder::take(model::MachineGone& update) {
  NodeRecord* const record = nodes_.find(update.node);
  if (record == nullptr) return;
  nodes_.tell(*record, update.source, nullptr);
  nodes_.release(*record);
}

void Builder::remove_node(NodeRecord& record) {
  if (record.slot == kNoSlot) return;
  ledger_.node_goes(record);
  gangs_.slots_change();
  failures_.node_goes(record);
  datasets_.node_changes(record);
  readers_.node_goes(record);
  images_.change(record.slot, record.node->images, {});
  datasets_.labels_change(record.slot, labels_.change(record.slot, record.node->fluid_labels, {}, now_));
  nodes_.remove(record);
  nodes_.release(record);
}

std::size_t Builder::expire(core::SteadyTime now) {
  steady_ = now;
  failures_.step(now);
  const std::size_t ended = ledger_.expire(now);
  settle_moved();
  datasets_.expire(now);
  return ended;
}

std::optional<core::SteadyTime> Builder::next_expiry() {
  std::optional<core::SteadyTime> first;
  for (const auto& due : {ledger_.next_expiry(), datasets_.next_expiry(), failures_.next_step()}) {
    if (due && (!first || *due < *first)) first = due;
  }
  return first;
}

bool Builder::changed() const {
  return nodes_.changed() || ledger_.changed() || gangs_.changed() || datasets_.changed() || claims_.changed() ||
         readers_.changed() || images_.changed() || policies_.changed() || budgets_.changed() || failures_.changed() ||
         were_pods_ != pods_.size() || were_bound_ != pods_.bound() || was_ready_ != why_not_ready().empty() ||
         version_ == 0 || build_failed_;
}

std::shared_ptr<const model::Snapshot> Builder::build(const Moment& now) {
  build_failed_ = true;  // unless it comes to its end
  auto next = std::make_shared<model::Snapshot>();
  next->version = version_ + 1;
  next->built = now.steady;
  next->not_ready_why = why_not_ready();
  next->ready = next->not_ready_why.empty();
  nodes_.write(*next);
  ledger_.write(*next);
  gangs_.write(*next);
  datasets_.write(*next, now);
  claims_.write(*next);
  readers_.write(*next);
  images_.write(*next);
  budgets_.write(*next);
  policies_.write(*next);
  failures_.write(*next);
  packing_.write(*next, nodes_.changes());
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
