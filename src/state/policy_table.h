// The SchedulingPolicies that exist: few, and seldom changed.
//
// Not thread-safe: owned by the builder.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "berth/model/snapshot.h"

namespace berth::state {

class PolicyTable {
 public:
  void set(model::SchedulingPolicy policy);
  void remove(const std::string& ns, const std::string& name);
  void replace(std::vector<model::SchedulingPolicy> all);

  [[nodiscard]] bool changed() const { return changed_; }
  void write(model::Snapshot& snapshot);

 private:
  model::PolicyMap known_;
  bool changed_ = false;
  std::shared_ptr<const model::PolicyMap> published_ = std::make_shared<const model::PolicyMap>();
};

}  // namespace berth::state
