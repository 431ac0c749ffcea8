// The requests of the pods seen last: what the next ones are likely to ask for.
//
// Not thread-safe: owned by the builder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "berth/model/request_mix.h"
#include "berth/state/cluster_state.h"

namespace berth::state {

class RequestWindow {
 public:
  explicit RequestWindow(MixOptions options);

  // A pod that was not seen before.
  void add(model::RequestClass request);
  [[nodiscard]] std::uint64_t seen() const { return seen_; }

  // Shares in the window. The default mix, or the declared classes where there are any, counts as kPrior pods more, so
  // that what is rare is never quite forgotten; a declared class has its share at least. CPU and memory are taken to
  // two digits, three after a leading 1. Pods without GPUs, of which a cluster may have a hundred for each with some,
  // have a window of their own, and at most kMostWithoutGpus in all. What is rarer than the classes that are told apart
  // counts as the nearest that wants as many GPUs. The version is 0.
  [[nodiscard]] model::RequestMix mix() const;

  static constexpr std::size_t kMostClasses = 112;        // with GPUs
  static constexpr std::size_t kMostClassesWithout = 16;  // declared ones count in neither
  static constexpr double kPrior = 20;
  static constexpr double kMostWithoutGpus = 0.2;

 private:
  // By class how many of the last pods asked for it.
  struct Sliding {
    using Counts = std::map<model::RequestClass, std::size_t>;
    Counts counts;
    std::deque<Counts::iterator> window;  // the oldest first
    void add(model::RequestClass request, std::size_t most);
  };

  MixOptions options_;
  Sliding with_gpus_;
  Sliding without_;
  std::uint64_t seen_ = 0;
};

}  // namespace berth::state
