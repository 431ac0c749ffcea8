// Keeps the last decisions, by pod, bounded in pods and in bytes.
//
// Thread-safe. add() is a few pointer moves under a mutex that is never held during I/O.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/model/decision.h"

namespace berth::server {

class DecisionLog {
 public:
  DecisionLog(std::size_t keep_pods, std::size_t keep_bytes);

  void add(std::shared_ptr<const model::Decision> decision);
  // By "NAMESPACE/NAME"; nullopt if none is kept.
  [[nodiscard]] std::optional<model::PodDecisions> find(std::string_view pod) const;
  // At most `most` pods, the last decided first.
  [[nodiscard]] std::vector<model::PodDecisions> latest(std::size_t most) const;
  [[nodiscard]] std::size_t pods() const;

 private:
  struct Kept {
    std::string pod;
    model::PodDecisions decisions;
    std::size_t bytes = 0;
  };
  using Order = std::list<Kept>;

  const std::size_t keep_pods_;
  const std::size_t keep_bytes_;
  mutable std::mutex mutex_;
  Order order_;  // newest first
  model::StringMap<Order::iterator> by_pod_;
  std::size_t bytes_ = 0;
};

}  // namespace berth::server
