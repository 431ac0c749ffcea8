#include "measured.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace berth::bench {
namespace {

struct Best {
  double p99_ms;
  double bound_ms;
  int repetitions;
};

std::map<std::string, Best>& bounded() {
  static std::map<std::string, Best> all;
  return all;
}

}  // namespace

void report(benchmark::State& state, const Latencies& wall, const Latencies& cpu, const Bound& bound) {
  state.counters["P50_ms"] = wall.quantile_ms(0.50);
  state.counters["P99_ms"] = wall.quantile_ms(0.99);
  state.counters["max_ms"] = wall.quantile_ms(1);
  state.counters["cpu_P99_ms"] = cpu.quantile_ms(0.99);
  if (bound.p99_ms <= 0 || cpu.count() == 0) return;
  const double p99 = cpu.quantile_ms(0.99);
  const auto [at, fresh] = bounded().try_emplace(bound.name, Best{p99, bound.p99_ms, 0});
  at->second.p99_ms = std::min(at->second.p99_ms, p99);
  ++at->second.repetitions;
}

int count_missed() {
  int missed = 0;
  for (const auto& [name, best] : bounded()) {
    if (best.p99_ms <= best.bound_ms) continue;
    std::fprintf(stderr,
                 "missed: %s: P99 %.3f ms of processor time in the best of %d repetitions, must be at most %.3f ms\n",
                 name.c_str(), best.p99_ms, best.repetitions, best.bound_ms);
    ++missed;
  }
  return missed;
}

}  // namespace berth::bench
