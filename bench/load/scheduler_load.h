// Asks Berth what kube-scheduler would, at a steady rate, and the echo handler the same in turns.
//
// Not thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/core/result.h"
#include "generated_cluster.h"
#include "latencies.h"
#include "sockets.h"

namespace berth::bench {

enum class Form { kNames, kWholeNodes };

// What a pod's calls look like. kNarrowed: Filter for a fresh pod with all names, Prioritize with what it kept. kWide:
// a pod with a nominated node, for which nothing is narrowed, and Prioritize with all names.
enum class Flow { kNarrowed, kWide };

struct LoadPlan {
  Form form = Form::kNames;
  Flow flow = Flow::kNarrowed;
  std::size_t calls = 1000;  // of Berth; as many of echo
  std::size_t block = 40;    // calls before it is the other's turn
  double per_second = 100;
  bool datasets = true;    // pods of eight GPUs want two datasets; false: no pod wants any
  bool all_large = false;  // every pod has eight GPUs, not only every other
};

// One verb, asked of Berth and of echo.
struct CallFigures {
  struct Side {
    Latencies total;       // from the first byte sent to the answer complete
    Latencies scheduled;   // from when it was to be sent to the answer complete
    Latencies after_body;  // from the last byte sent to the answer complete
  };
  std::string verb;
  std::size_t names = 0;          // in the last request
  std::size_t request_bytes = 0;  // of the last one
  std::size_t answer_bytes = 0;
  Side berth;
  Side echo;
};

struct LoadFigures {
  CallFigures filter;
  CallFigures prioritize;
  Latencies lateness;  // how long after its time a call was sent
  // What the server's process used a call, Filter and Prioritize taken together: what neighbours on the machine change
  // least.
  double berth_cpu_ms = 0;
  double echo_cpu_ms = 0;
};

class SchedulerLoad {
 public:
  // `cluster` must outlive it. The first pod asked about has the number `first_pod`: a pod that a server has seen
  // before is not narrowed as a fresh one is.
  SchedulerLoad(const GeneratedCluster& cluster, std::uint16_t extender_port, std::uint64_t first_pod = 0);

  [[nodiscard]] std::uint64_t next_pod() const { return pods_; }

  // kInvalid for an answer that isn't 200 or isn't what the protocol says.
  // `cpu_time`: of the server's process.
  core::Result<LoadFigures> run(const LoadPlan& plan, const std::function<std::chrono::nanoseconds()>& cpu_time);

 private:
  struct Call;
  class Block;
  const GeneratedCluster& cluster_;
  std::uint16_t port_;
  std::uint64_t pods_;
  std::vector<std::string> node_names_;
  std::string all_names_;  // what follows the head of a body, for all nodes
  std::string all_nodes_;  // likewise
};

}  // namespace berth::bench
