// `berth simulate`: replays a trace by Berth's policy and by others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace berth::cli {

struct SimulateFlags {
  std::string nodes;
  std::string tasks;
  std::vector<std::string> policies = {"berth"};
  std::string seeds = "1..10";
  double inflation = 1.3;
  int jobs = 0;  // 0: one a processor
  std::string format = "table";
  std::string plot;
  std::string ties = "fixed";
  std::optional<double> mix_from;
  bool islands = false;
  bool through_http = false;
  std::string config;
  bool departures = false;
  std::optional<double> load;
  std::optional<double> large_weight;
  std::optional<std::int64_t> arrivals;
  // What policy::PackingKnobs has.
  double large_jobs = 2;
  double tilt = 0.7;
  double tilt_power = 2;
  double floor = 0.005;
  double cpu_weight = 1;
  int refresh = 50;
};

void add_simulate(CLI::App& app, SimulateFlags& flags);
int simulate(const SimulateFlags& flags);

}  // namespace berth::cli
