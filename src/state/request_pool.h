// What pods ask for, each value kept once: pods of one template ask for the same.
//
// Not thread-safe: owned by the builder. What it shares may be read and dropped on any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <unordered_set>

#include "berth/model/resources.h"

namespace berth::state {

class RequestPool {
 public:
  // Never null. Equal requests are one as long as somebody holds them.
  std::shared_ptr<const model::Resources> share(const model::Resources& requests);

  [[nodiscard]] std::size_t size() const { return known_.size(); }

 private:
  using Shared = std::shared_ptr<const model::Resources>;
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const model::Resources& requests) const;
    std::size_t operator()(const Shared& requests) const { return (*this)(*requests); }
  };
  struct Same {
    using is_transparent = void;
    static const model::Resources* of(const model::Resources& requests) { return &requests; }
    static const model::Resources* of(const Shared& requests) { return requests.get(); }
    bool operator()(const auto& a, const auto& b) const { return *of(a) == *of(b); }
  };
  void sweep();

  std::unordered_set<Shared, Hash, Same> known_;
  std::size_t sweep_at_ = 1024;
};

}  // namespace berth::state
