#include "claim_table.h"

#include <utility>

namespace berth::state {

std::vector<std::string> ClaimTable::set(const model::Claim& claim) {
  if (claim.dataset.name.empty()) return remove(claim.ns, claim.name);
  std::string key = claim.ns + "/" + claim.name;
  const auto [found, added] = known_.try_emplace(key, claim.dataset);
  if (!added && found->second == claim.dataset) return {};
  found->second = claim.dataset;
  changed_ = true;
  return {std::move(key)};
}

std::vector<std::string> ClaimTable::remove(const std::string& ns, const std::string& name) {
  std::string key = ns + "/" + name;
  if (known_.erase(key) == 0) return {};
  changed_ = true;
  return {std::move(key)};
}

std::vector<std::string> ClaimTable::replace(const std::vector<model::Claim>& all) {
  model::ClaimMap next;
  for (const model::Claim& claim : all) {
    if (!claim.dataset.name.empty()) next.insert_or_assign(claim.ns + "/" + claim.name, claim.dataset);
  }
  std::vector<std::string> differ;
  for (const auto& [key, dataset] : known_) {
    const auto found = next.find(key);
    if (found == next.end() || found->second != dataset) differ.push_back(key);
  }
  for (const auto& [key, dataset] : next) {
    if (!known_.contains(key)) differ.push_back(key);
  }
  if (differ.empty()) return differ;
  known_ = std::move(next);
  changed_ = true;
  return differ;
}

void ClaimTable::write(model::Snapshot& snapshot) {
  if (changed_) {
    published_ = std::make_shared<const model::ClaimMap>(known_);
    changed_ = false;
  }
  snapshot.claims = published_;
}

}  // namespace berth::state
