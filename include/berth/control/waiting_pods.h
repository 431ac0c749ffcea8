// Stands in front of the state and notices which pods of ours wait for a place, are bound, and go.
//
// Thread-safe. Every update is handed on, in order. Only unbound pods that may be ours are kept (model::PodRequest::
// ours(), claims not resolved), at most so many; a pod that is bound when it is first seen is not told about. Of the
// unbound pods of others only the UIDs are kept, at most as many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "berth/model/cluster_update.h"
#include "berth/model/pod.h"
#include "berth/model/snapshot.h"

namespace berth::control {

enum class PodNews : std::uint8_t {
  kWaiting,  // unbound; told again whenever it changes
  kBound,    // was waiting
  kGone,     // was waiting; ended, deleted, or about to be; or none of our business any more
};

struct PodNotice {
  PodNews news = PodNews::kWaiting;
  std::shared_ptr<const model::Pod> pod;  // with kGone: as it was last
};

class WaitingPods final : public model::UpdateSink {
 public:
  // `next` must outlive it.
  explicit WaitingPods(model::UpdateSink& next, std::size_t most = 50'000) : next_(next), most_(most) {}

  void push(model::ClusterUpdate update) override;

  // What has happened since the last call, in order.
  [[nodiscard]] std::vector<PodNotice> take();
  // One that waits; null if it does not.
  [[nodiscard]] std::shared_ptr<const model::Pod> find(const std::string& uid) const;
  // An unbound pod that is certainly none of ours.
  [[nodiscard]] bool is_of_others(const std::string& uid) const;
  [[nodiscard]] std::size_t size() const;

 private:
  void see(const model::Pod& pod);
  void see_all(const std::vector<model::Pod>& pods);
  void forget(const std::string& uid);

  model::UpdateSink& next_;
  const std::size_t most_;
  mutable std::mutex mutex_;
  model::StringMap<std::shared_ptr<const model::Pod>> waiting_;  // by UID
  std::unordered_set<std::string> others_;                       // UIDs
  std::vector<PodNotice> notices_;
};

}  // namespace berth::control
