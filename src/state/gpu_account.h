// Who holds GPUs and parts of GPUs on one node, and which.
//
// Kubernetes does not tell which GPUs a pod got. For each pod the first holds that is there and fits beside the others:
// what the agent says that kubelet gave it; what HAMi or Koordinator wrote on it; what Berth's Bind wrote on it; what
// the agent said before the pod was created, of one of its name; what it was taken to hold before; else what a device
// plugin with NVIDIA's best-effort policy would hand out, the best connected set of what is free (go-gpuallocator,
// gpuallocator/besteffort_policy.go), shares and partitions as place_parts() has it. Pods are looked at in the order of
// age and UID, so that a restart ends with the same GPUs where somebody tells them, and with nearly the same where
// nobody does. The counts are facts, the rest is as good as its source: NodeState::free_source.
//
// Not thread-safe: owned by the builder.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "berth/core/clock.h"
#include "berth/model/gpu_set.h"
#include "berth/model/pod.h"
#include "berth/model/snapshot.h"

namespace berth::state {

// Foreign counts of GPUs, held within bounds that sums over a node can't overflow.
std::int32_t gpu_count(std::int64_t value);

class GpuAccount {
 public:
  struct Holder {
    const std::string* uid = nullptr;  // of the pod; the address tells holders apart and must stay valid
    core::WallTime created{};
    model::GpuPlacement claim = {};                // by annotations of Berth's Bind
    std::vector<model::DeviceClaim> devices = {};  // by those of HAMi or Koordinator
    model::Occupant pod = {};                      // all but its placement
    friend bool operator==(const Holder&, const Holder&) = default;
  };
  // GPUs promised to a pod that is not bound yet.
  struct Promise {
    std::string uid;
    std::int32_t gpus = 0;
    model::GpuParts parts;
    model::GpuPlacement placement;
  };

  // What `node` and, where it isn't null, `machine` tell of the GPUs. Links other than the last known ones hand out
  // anew what nobody tells.
  void set_capacity(std::shared_ptr<const model::Node> node, std::shared_ptr<const model::GpuShape> shape,
                    std::shared_ptr<const model::Machine> machine);

  // Adds a holder, or takes over what changed of it. False if nothing did.
  bool put(const Holder& holder);
  void remove(const std::string* uid);

  // Of firm entries that say which GPUs; one that is known by its UID is replaced.
  void promise(Promise promise);
  void withdraw(std::string_view uid);

  // Works out who holds what. Call it after a batch of changes and before write().
  void settle();

  // All of GPUs but the machine: capacity, shape, use, free GPUs and who holds the others; adds to NodeState::firm the
  // GPUs that promised shares open.
  void write(model::NodeState& state) const;

  [[nodiscard]] bool empty() const { return held_.empty(); }

 private:
  struct Held {
    Holder holder;
    std::int32_t whole = 0;  // whole GPUs, and parts that are counted so
    model::GpuParts parts;
    model::GpuPlacement placed;
    model::GpuPlacement kept;  // as placed when nobody told
    model::FreeSource source = model::FreeSource::kUnknown;
  };

  void read_gpus();
  [[nodiscard]] std::vector<Held*> by_age();
  [[nodiscard]] const model::GpuPlacement* told_by_agent(const Held& held) const;
  [[nodiscard]] bool told_too_early(const Held& held) const;
  [[nodiscard]] std::size_t index_of(const model::DeviceClaim& device) const;
  [[nodiscard]] model::GpuPlacement told_by_devices(const Held& held) const;
  [[nodiscard]] bool fits(const Held& held, const model::GpuPlacement& placement) const;
  void take(Held& held, model::GpuPlacement placement, model::FreeSource source);
  void count_devices(const Held& held);
  void hand_out(Held& held);
  [[nodiscard]] model::GpuMask crowded(const Held& held) const;
  void write_uses(model::NodeState& state) const;
  void write_occupants(model::NodeState& state) const;

  std::shared_ptr<const model::Node> node_;
  std::shared_ptr<const model::GpuShape> shape_;       // null if unknown
  std::shared_ptr<const model::GpuShape> handed_for_;  // the machine that `kept` refers to
  std::shared_ptr<const model::Machine> machine_;      // null if nobody tells the GPUs apart
  std::vector<Held> held_;
  std::vector<Promise> promises_;

  // Of the machine: read_gpus().
  std::int32_t gpus_ = 0;           // that can be held whole
  model::GpuMask whole_ = 0;        // which
  std::vector<model::GpuUse> gpu_;  // by index, nothing used; empty if there are too many to be told apart
  bool alike_ = true;               // all of them, healthy and not partitioned
  bool doubtful_ = false;           // fewer are handed out than there are, nobody says which

  // As settle() leaves it.
  bool dirty_ = false;
  std::vector<model::GpuUse> used_;  // by index
  model::GpuMask held_whole_ = 0;
  model::GpuMask held_part_ = 0;  // shares
  model::FreeSource source_ = model::FreeSource::kUnknown;
  bool blind_ = false;     // somebody holds whole GPUs of a machine whose links are not known, nobody says which
  bool overfull_ = false;  // somebody holds what there isn't
  bool parts_ = false;     // somebody holds a share or a partition
};

}  // namespace berth::state
