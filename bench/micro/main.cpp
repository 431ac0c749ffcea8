// bench_micro: Google Benchmark's command line; exit status 1 when a bound is missed.
#include "measured.h"

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return berth::bench::count_missed() == 0 ? 0 : 1;
}
