// The persistent volume claims behind which a dataset stands.
//
// Not thread-safe: owned by the builder.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "berth/model/cluster_update.h"
#include "berth/model/snapshot.h"

namespace berth::state {

class ClaimTable {
 public:
  // Each returns the keys, "NAMESPACE/CLAIM", of what is now otherwise.
  std::vector<std::string> set(const model::Claim& claim);
  std::vector<std::string> remove(const std::string& ns, const std::string& name);
  std::vector<std::string> replace(const std::vector<model::Claim>& all);

  [[nodiscard]] const model::ClaimMap& known() const { return known_; }
  [[nodiscard]] bool changed() const { return changed_; }
  void write(model::Snapshot& snapshot);

 private:
  model::ClaimMap known_;
  bool changed_ = false;
  std::shared_ptr<const model::ClaimMap> published_ = std::make_shared<const model::ClaimMap>();
};

}  // namespace berth::state
