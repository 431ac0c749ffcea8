// Who holds GPUs on one node, and which: the modelled device plugin.
//
// Kubernetes does not tell which GPUs a pod got. Where the shape of the machine is known we assume what a device plugin
// with NVIDIA's best-effort policy does: the best connected set of what was free when the pod came (go-gpuallocator,
// gpuallocator/besteffort_policy.go), or what the annotation that was written at binding names. A pod keeps its GPUs
// until it ends. The indices are a hint, the counts are facts.
//
// Not thread-safe: owned by the builder.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "berth/core/clock.h"
#include "berth/model/gpu_set.h"
#include "berth/model/snapshot.h"

namespace berth::state {

// Foreign counts of GPUs, held within bounds that sums over a node can't overflow.
std::int32_t gpu_count(std::int64_t value);

class GpuAccount {
 public:
  struct Holder {
    const std::string* uid = nullptr;  // of the pod; the address tells holders apart and must stay valid
    core::WallTime created{};
    std::int32_t gpus = 0;
    model::GpuMask claim = 0;                     // the GPUs that the pod's annotation names, 0 if none
    model::GpuMask held = 0;                      // handed out by settle()
    core::WallTime ends = core::WallTime::max();  // when it is likely to end
  };

  // A machine other than the last known one hands all GPUs out anew.
  void set_capacity(std::int32_t gpus, std::shared_ptr<const model::GpuShape> shape);

  // Adds a holder, or takes over what changed of it. False if nothing did.
  bool put(const Holder& holder);
  void remove(const std::string* uid);

  // Hands GPUs out to holders that have none yet: first those with a claim, then by age and UID, so that a restart ends
  // with nearly the same sets. Call it after a batch of changes and before write().
  void settle();

  // Capacity, shape, use, free GPUs and who holds the others.
  void write(model::NodeState& state) const;

  [[nodiscard]] bool empty() const { return holders_.empty(); }
  [[nodiscard]] const std::vector<Holder>& holders() const { return holders_; }

 private:
  [[nodiscard]] bool known() const { return shape_ != nullptr && used_ <= capacity_; }
  [[nodiscard]] model::GpuMask free() const;

  std::int32_t capacity_ = 0;
  std::int64_t used_ = 0;
  std::shared_ptr<const model::GpuShape> shape_;       // null if unknown
  std::shared_ptr<const model::GpuShape> handed_for_;  // the machine that `held` refers to
  std::vector<Holder> holders_;
};

}  // namespace berth::state
