#include "failure_memory.h"

#include <algorithm>

namespace berth::state {
namespace {

using std::chrono::seconds;

constexpr seconds kStep{30};
constexpr seconds kMemory{600};
// Of one node: with more, the penalty is at its bound anyway.
constexpr std::size_t kMostOfANode = 64;
constexpr std::size_t kMostNodes = 10'000;

}  // namespace

std::string_view to_string(FailureCause cause) {
  switch (cause) {
    case FailureCause::kBinding:
      return "binding";
    case FailureCause::kAdmission:
      return "admission";
    case FailureCause::kTopology:
      return "topology";
    case FailureCause::kResources:
      return "resources";
    case FailureCause::kOther:
      return "other";
  }
  return "";
}

std::optional<FailureCause> refusal_cause(std::string_view reason) {
  // Device plugins that can't give what they promised end here, too.
  if (reason == "UnexpectedAdmissionError") return FailureCause::kAdmission;
  if (reason == "TopologyAffinityError" || reason == "SMTAlignmentError") return FailureCause::kTopology;
  if (reason.starts_with("OutOf")) return FailureCause::kResources;  // OutOfcpu, OutOfnvidia.com/gpu
  if (reason == "NodeAffinity" || reason == "NodePorts" || reason == "NodeName" || reason == "TaintToleration" ||
      reason == "NodeShutdown") {
    return FailureCause::kOther;
  }
  return std::nullopt;
}

float FailureMemory::weight(const Failure& failure) const {
  const auto steps = std::max<std::int64_t>(0, (now_ - failure.at) / kStep);
  return std::max(0.0F, 1 - static_cast<float>(steps) / static_cast<float>(kMemory / kStep));
}

float FailureMemory::sum(const Failures& failures) const {
  float sum = 0;
  for (const Failure& failure : failures) sum += weight(failure);
  return sum;
}

void FailureMemory::add(std::string_view node, const std::string& owner, core::SteadyTime at, FailureCause cause) {
  if (node.empty() || now_ - at >= kMemory) return;
  ++counts_[static_cast<std::size_t>(cause)];
  auto found = by_node_.find(node);
  if (found == by_node_.end()) {
    if (by_node_.size() >= kMostNodes) return;
    found = by_node_.emplace(node, Failures{}).first;
  }
  Failures& failures = found->second;
  if (failures.size() >= kMostOfANode) failures.erase(std::ranges::min_element(failures, {}, &Failure::at));
  failures.push_back({owner, at});
  changed_ = true;
  if (NodeRecord* const record = nodes_.find(node)) node_comes(*record);
}

void FailureMemory::step(core::SteadyTime now) {
  if (by_node_.empty()) {
    now_ = now;
    return;
  }
  if (now - now_ < kStep) return;
  now_ = now;
  changed_ = true;
  for (auto each = by_node_.begin(); each != by_node_.end();) {
    std::erase_if(each->second, [this](const Failure& failure) { return now_ - failure.at >= kMemory; });
    NodeRecord* const record = nodes_.find(each->first);
    if (record != nullptr) {
      record->failures = sum(each->second);
      nodes_.touch(*record);
    }
    each = each->second.empty() ? by_node_.erase(each) : std::next(each);
  }
}

std::optional<core::SteadyTime> FailureMemory::next_step() const {
  return by_node_.empty() ? std::nullopt : std::optional(now_ + kStep);
}

void FailureMemory::node_comes(NodeRecord& node) {
  const auto found = by_node_.find(node.name);
  node.failures = found == by_node_.end() ? 0 : sum(found->second);
  if (found == by_node_.end()) return;
  changed_ = true;
  nodes_.touch(node);
}

void FailureMemory::node_goes(const NodeRecord& node) {
  if (by_node_.contains(node.name)) changed_ = true;
}

void FailureMemory::write(model::Snapshot& snapshot) {
  if (changed_) {
    auto next = std::make_shared<model::FailureMap>();
    for (const auto& [name, failures] : by_node_) {
      const NodeRecord* const record = nodes_.find(name);
      if (record == nullptr || record->slot == model::kNoSlot) continue;
      for (const Failure& failure : failures) {
        if (failure.owner.empty()) continue;
        auto& nodes = (*next)[failure.owner];
        // All of one node come in a row.
        if (nodes.empty() || nodes.back().first != record->slot) nodes.emplace_back(record->slot, 0.0F);
        nodes.back().second += weight(failure);
      }
    }
    for (auto& [owner, nodes] : *next) std::ranges::sort(nodes);
    published_ = std::move(next);
    changed_ = false;
  }
  snapshot.failures = published_;
}

}  // namespace berth::state
