#include "ledger.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace berth::state {

using model::EntryKind;

namespace {

// Bind's answer and the watch that shows its binding take seconds; what is left then was lost.
constexpr std::chrono::minutes kReservedLifetime{5};

}  // namespace

void Ledger::put_soft(const std::string& uid, NodeRecord& node, Demand demand, core::SteadyTime expires) {
  const auto found = entries_.find(uid);
  if (found != entries_.end() && found->second.kind == EntryKind::kFirm) return;
  put(uid, Entry{&node, std::move(demand), EntryKind::kSoft, expires});
  expiries_.push_back({expires, uid});
}

void Ledger::put_firm(const std::string& uid, NodeRecord& node, Demand demand) {
  const auto found = entries_.find(uid);
  if (found != entries_.end()) {
    Entry& known = found->second;
    if (known.reserved) {
      known.nominated = node.name;
      known.nominated_for = std::move(demand);
      return nodes_.release(node);
    }
    if (known.kind == EntryKind::kFirm && known.node == &node && known.demand == demand) return;
  }
  put(uid, Entry{&node, std::move(demand), EntryKind::kFirm, {}});
}

void Ledger::reserve(const std::string& uid, NodeRecord& node, Demand demand, model::GpuPlacement placement) {
  Entry entry{&node, std::move(demand), EntryKind::kFirm, {}, true, std::move(placement)};
  const auto found = entries_.find(uid);
  if (found != entries_.end() && found->second.reserved) {
    entry.nominated = found->second.nominated;
    entry.nominated_for = found->second.nominated_for;
  } else if (found != entries_.end() && found->second.kind == EntryKind::kFirm) {
    entry.nominated = found->second.node->name;
    entry.nominated_for = found->second.demand;
  }
  put(uid, entry);
  untimed_.push_back(uid);
}

std::optional<std::pair<std::string, Ledger::Demand>> Ledger::unreserve(std::string_view uid) {
  const auto found = entries_.find(uid);
  if (found == entries_.end() || !found->second.reserved) return std::nullopt;
  std::pair<std::string, Demand> nomination(found->second.nominated, found->second.nominated_for);
  erase(found);
  return nomination.first.empty() ? std::nullopt : std::optional(std::move(nomination));
}

void Ledger::put(const std::string& uid, const Entry& entry) {
  const auto [found, added] = entries_.try_emplace(uid, entry);
  const Entry old = std::exchange(found->second, entry);
  if (added || old.node != entry.node || old.kind != entry.kind) moved_.push_back(uid);
  // The new one first: ending the old one may forget a node that nothing else refers to.
  count(entry, +1);
  if (!added && old.reserved) old.node->account.withdraw(uid);
  if (entry.reserved) entry.node->account.promise({uid, entry.demand.gpus, entry.demand.parts, entry.placement});
  if (!added) count(old, -1);
}

void Ledger::end(std::string_view uid) {
  const auto found = entries_.find(uid);
  if (found != entries_.end()) erase(found);
}

void Ledger::end(std::string_view uid, EntryKind kind) {
  const auto found = entries_.find(uid);
  if (found == entries_.end() || found->second.kind != kind) return;
  if (found->second.reserved) {
    found->second.nominated.clear();
  } else {
    erase(found);
  }
}

Ledger::Entries::iterator Ledger::erase(Entries::iterator entry) {
  const Entry old = entry->second;
  moved_.push_back(entry->first);
  if (old.reserved) old.node->account.withdraw(entry->first);
  const auto next = entries_.erase(entry);
  count(old, -1);
  return next;
}

void Ledger::count(const Entry& entry, int sign) {
  const bool firm = entry.kind == EntryKind::kFirm;
  (firm ? entry.node->firm : entry.node->soft) += std::int64_t{sign} * entry.demand.gpus;
  model::count_pod(firm ? entry.node->firm_requests : entry.node->soft_requests,
                   entry.demand.requests ? entry.demand.requests->basic : model::BasicResources{}, sign);
  (firm ? entry.node->firm_entries : entry.node->soft_entries) += static_cast<std::uint32_t>(sign);
  changed_ = true;
  nodes_.touch(*entry.node);
  if (sign < 0) nodes_.release(*entry.node);
}

void Ledger::node_comes(const NodeRecord& node) {
  if (node.firm_entries > 0) changed_ = true;
}

void Ledger::node_goes(NodeRecord& node) {
  if (node.firm_entries > 0) changed_ = true;
  if (node.soft_entries == 0) return;
  for (auto each = entries_.begin(); each != entries_.end();) {
    const bool over = each->second.node == &node && each->second.kind == EntryKind::kSoft;
    each = over ? erase(each) : std::next(each);
  }
}

NodeRecord* Ledger::node_of(std::string_view uid) const {
  const auto found = entries_.find(uid);
  return found == entries_.end() ? nullptr : found->second.node;
}

bool Ledger::is_soft(std::string_view uid) const {
  const auto found = entries_.find(uid);
  return found != entries_.end() && found->second.kind == EntryKind::kSoft;
}

bool Ledger::stands(const Expiry& expiry, bool reserved) const {
  const auto found = entries_.find(expiry.uid);
  if (found == entries_.end() || found->second.reserved != reserved) return false;
  return (reserved || found->second.kind == EntryKind::kSoft) && found->second.expires == expiry.at;
}

std::size_t Ledger::expire(core::SteadyTime now) {
  for (const std::string& uid : std::exchange(untimed_, {})) {
    const auto found = entries_.find(uid);
    if (found == entries_.end() || !found->second.reserved) continue;
    found->second.expires = now + kReservedLifetime;
    reserved_until_.push_back({found->second.expires, uid});
  }
  for (; !reserved_until_.empty() && reserved_until_.front().at <= now; reserved_until_.pop_front()) {
    if (!stands(reserved_until_.front(), true)) continue;
    const std::string uid = reserved_until_.front().uid;
    auto nomination = unreserve(uid);
    if (nomination) put_firm(uid, nodes_.at(nomination->first), std::move(nomination->second));
  }
  std::size_t ended = 0;
  for (; !expiries_.empty() && expiries_.front().at <= now; expiries_.pop_front()) {
    if (!stands(expiries_.front(), false)) continue;
    erase(entries_.find(expiries_.front().uid));
    ++ended;
  }
  return ended;
}

std::optional<core::SteadyTime> Ledger::next_expiry() {
  if (!untimed_.empty()) return core::SteadyTime{};
  const auto first = [this](std::deque<Expiry>& of, bool reserved) -> std::optional<core::SteadyTime> {
    while (!of.empty() && !stands(of.front(), reserved)) of.pop_front();
    return of.empty() ? std::nullopt : std::optional(of.front().at);
  };
  const auto soft = first(expiries_, false);
  const auto reserved = first(reserved_until_, true);
  if (soft && reserved) return std::min(*soft, *reserved);
  return soft ? soft : reserved;
}

void Ledger::write(model::Snapshot& snapshot) {
  if (changed_) {
    auto next = std::make_shared<model::LedgerMap>();
    next->reserve(entries_.size());
    for (const auto& [uid, entry] : entries_) {
      if (entry.node->slot == model::kNoSlot) continue;
      next->emplace(uid, model::LedgerEntry{uid, entry.node->slot, entry.demand.gpus, entry.demand.priority, entry.kind,
                                            entry.demand.parts, entry.placement, entry.demand.requests});
    }
    published_ = std::move(next);
    changed_ = false;
  }
  snapshot.ledger = published_;
}

}  // namespace berth::state
