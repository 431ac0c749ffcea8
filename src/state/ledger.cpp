#include "ledger.h"

#include <utility>

namespace berth::state {

using model::EntryKind;

void Ledger::put_soft(const std::string& uid, NodeRecord& node, Demand demand, core::SteadyTime expires) {
  const auto found = entries_.find(uid);
  if (found != entries_.end() && found->second.kind == EntryKind::kFirm) return;
  put(uid, Entry{&node, demand, EntryKind::kSoft, expires});
  expiries_.push_back({expires, uid});
}

void Ledger::put_firm(const std::string& uid, NodeRecord& node, Demand demand) {
  const auto found = entries_.find(uid);
  if (found != entries_.end()) {
    const Entry& known = found->second;
    if (known.kind == EntryKind::kFirm && known.node == &node && known.demand == demand) return;
  }
  put(uid, Entry{&node, demand, EntryKind::kFirm, {}});
}

void Ledger::put(const std::string& uid, const Entry& entry) {
  const auto [found, added] = entries_.try_emplace(uid, entry);
  const Entry old = std::exchange(found->second, entry);
  if (added || old.node != entry.node) moved_.push_back(uid);
  // The new one first: ending the old one may forget a node that nothing else refers to.
  count(entry, +1);
  if (!added) count(old, -1);
}

void Ledger::end(std::string_view uid) {
  const auto found = entries_.find(uid);
  if (found != entries_.end()) erase(found);
}

void Ledger::end(std::string_view uid, EntryKind kind) {
  const auto found = entries_.find(uid);
  if (found != entries_.end() && found->second.kind == kind) erase(found);
}

Ledger::Entries::iterator Ledger::erase(Entries::iterator entry) {
  const Entry old = entry->second;
  moved_.push_back(entry->first);
  const auto next = entries_.erase(entry);
  count(old, -1);
  return next;
}

void Ledger::count(const Entry& entry, int sign) {
  const bool firm = entry.kind == EntryKind::kFirm;
  (firm ? entry.node->firm : entry.node->soft) += std::int64_t{sign} * entry.demand.gpus;
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

bool Ledger::stands(const Expiry& expiry) const {
  const auto found = entries_.find(expiry.uid);
  return found != entries_.end() && found->second.kind == EntryKind::kSoft && found->second.expires == expiry.at;
}

std::size_t Ledger::expire(core::SteadyTime now) {
  std::size_t ended = 0;
  for (; !expiries_.empty() && expiries_.front().at <= now; expiries_.pop_front()) {
    if (!stands(expiries_.front())) continue;
    erase(entries_.find(expiries_.front().uid));
    ++ended;
  }
  return ended;
}

std::optional<core::SteadyTime> Ledger::next_expiry() {
  while (!expiries_.empty() && !stands(expiries_.front())) expiries_.pop_front();
  return expiries_.empty() ? std::nullopt : std::optional(expiries_.front().at);
}

void Ledger::write(model::Snapshot& snapshot) {
  if (changed_) {
    auto next = std::make_shared<model::LedgerMap>();
    next->reserve(entries_.size());
    for (const auto& [uid, entry] : entries_) {
      if (entry.node->slot == model::kNoSlot) continue;
      next->emplace(uid,
                    model::LedgerEntry{uid, entry.node->slot, entry.demand.gpus, entry.demand.priority, entry.kind});
    }
    published_ = std::move(next);
    changed_ = false;
  }
  snapshot.ledger = published_;
}

}  // namespace berth::state
