// The SchedulingPolicies that exist: few, and seldom changed.
//
// Not thread-safe: owned by the builder.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/model/snapshot.h"

namespace berth::state {

class PolicyTable {
 public:
  void set(model::SchedulingPolicy policy);
  void remove(const std::string& ns, const std::string& name);
  void replace(std::vector<model::SchedulingPolicy> all);

  // That the policy allows, or that its namespace's policy "default" does; nullopt if neither says.
  [[nodiscard]] std::optional<std::vector<std::string>> gpu_products(std::string_view ns, std::string_view name) const;

  [[nodiscard]] bool changed() const { return changed_; }
  void write(model::Snapshot& snapshot);

 private:
  model::PolicyMap known_;
  bool changed_ = false;
  std::shared_ptr<const model::PolicyMap> published_ = std::make_shared<const model::PolicyMap>();
};

}  // namespace berth::state
