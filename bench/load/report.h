// The figures of a run, held against the bounds of docs/benchmarks.md, as a table and as JSON.
//
// A figure may be measured in several rounds; every round is shown. Its bounds are met if one round meets them all.
// Not thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "latencies.h"

namespace berth::bench {

struct Check {
  std::string what;  // "P99", "P50 above echo"
  double value = 0;
  double limit = 0;
  std::string unit = "ms";
  [[nodiscard]] bool met() const { return value <= limit; }
};

struct Quantiles {
  double p50_ms = 0;
  double p90_ms = 0;
  double p99_ms = 0;
  double max_ms = 0;
};
Quantiles quantiles(const Latencies& latencies);

struct Row {
  std::string figure;  // the same in all rounds
  std::size_t nodes = 0;
  int round = 1;
  std::size_t count = 0;  // calls, or changes
  std::size_t request_bytes = 0;
  std::size_t answer_bytes = 0;
  Quantiles time;
  bool has_time = true;
  bool has_echo = false;
  Quantiles echo;
  Quantiles scheduled;   // with echo: from when the call was due
  Quantiles after_body;  // with echo: from the last body byte
  Quantiles echo_after_body;
  Quantiles lateness;       // with echo, both verbs together: sent so long after it was due
  double per_second = 0;    // likewise
  double berth_cpu_ms = 0;  // likewise: what the server's process used a call
  double echo_cpu_ms = 0;
  double value = 0;  // without time: MiB or seconds, as `unit` says
  std::string unit;
  std::string note;
  std::vector<Check> checks;
};

struct Machine {
  std::string cpu;
  unsigned cores = 0;
  std::string load_before;  // 1, 5 and 15 minutes
  std::string load_after;
  std::string commit;
  std::string date;
  double seconds = 0;  // the whole run
};
Machine this_machine();
std::string load_average();

class Report {
 public:
  Machine machine;

  // Shows it on standard error as well. Returns whether its checks are met.
  bool add(Row row);
  // What no round met, in words; empty if all is well.
  [[nodiscard]] std::vector<std::string> missed() const;
  [[nodiscard]] std::string table() const;
  [[nodiscard]] std::string json() const;

 private:
  std::vector<Row> rows_;
};

}  // namespace berth::bench
