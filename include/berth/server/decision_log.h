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
#include <unordered_map>
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
  // Many decisions share a node index, which is large: its bytes count once.
  void hold(const model::PodDecisions& decisions, int sign);

  struct Kept {
    std::string pod;
    model::PodDecisions decisions;
  };
  using Order = std::list<Kept>;

  const std::size_t keep_pods_;
  const std::size_t keep_bytes_;
  mutable std::mutex mutex_;
  Order order_;  // newest first
  model::StringMap<Order::iterator> by_pod_;
  std::unordered_map<const model::NodeIndex*, std::size_t> indices_;  // kept decisions that refer to each
  std::size_t bytes_ = 0;
};

}  // namespace berth::server
