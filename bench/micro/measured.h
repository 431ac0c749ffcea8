// Times every call of a benchmark on its own, for quantiles, and holds them against a bound.
//
// Not thread-safe: benchmarks run one after the other on one thread.
#pragma once

#include <benchmark/benchmark.h>
#include <time.h>

#include <chrono>
#include <string>

#include "latencies.h"

namespace berth::bench {

// What a benchmark is called in messages, and its bound, 0 for none: P99 of the processor time that a call takes. None
// of them waits for anything, so that what the clock shows beyond that belongs to other programs.
struct Bound {
  std::string name;
  double p99_ms = 0;
};

// Time that this thread ran: what the call costs where neighbours share the cores.
inline std::chrono::nanoseconds thread_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// Sets the counters, and keeps the repetition with the lowest P99 for count_missed().
void report(benchmark::State& state, const Latencies& wall, const Latencies& cpu, const Bound& bound);
// Says on standard error which benchmarks missed their bound in every repetition, and how many did.
int count_missed();

// Runs `call` for every iteration of `state`, which needs UseManualTime(). `before` is not timed.
template <class Before, class Call>
void measure(benchmark::State& state, const Bound& bound, Before before, Call call) {
  Latencies wall;
  Latencies cpu;
  before();
  auto warm = call();
  benchmark::DoNotOptimize(warm);
  for (auto iteration : state) {
    static_cast<void>(iteration);
    before();
    const auto cpu_from = thread_time();
    const auto from = std::chrono::steady_clock::now();
    auto result = call();
    const auto took = std::chrono::steady_clock::now() - from;
    cpu.add(thread_time() - cpu_from);
    wall.add(took);
    benchmark::DoNotOptimize(result);
    state.SetIterationTime(std::chrono::duration<double>(took).count());
  }
  report(state, wall, cpu, bound);
}

template <class Call>
void measure(benchmark::State& state, const Bound& bound, Call call) {
  measure(state, bound, [] {}, call);
}

}  // namespace berth::bench
