// A cluster where Fluid's API is served, and who holds its datasets as text.
#pragma once

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "unit/state/cluster.h"

namespace berth::state {

// Three nodes, complete lists, and Fluid's API.
struct Fluid : Cluster {
  explicit Fluid(StateOptions options = {}) : Cluster(options) {
    tell(model::AllNodes{{node("a"), node("b"), node("c")}}, model::AllPods{}, model::FluidServed{true},
         model::AllDatasets{});
  }
  void set(model::Dataset object) { tell(model::DatasetSet{std::move(object)}); }
  void measured(std::vector<model::WorkerBytes> workers, core::WallTime at) {
    tell(model::Measured{{"ns", "data"}, std::move(workers), at});
  }
  void measured(std::vector<model::WorkerBytes> workers) { measured(std::move(workers), clock.wall()); }
  // "a 0.50 measured", in the order of names; "!" after the name if nobody may rely on it.
  [[nodiscard]] std::string told(const std::string& name = "data") const {
    std::string text;
    for (const auto& [at, holder] : holders(name)) {
      char line[128];
      std::snprintf(line, sizeof line, "%s%s%s %.3f %s", text.empty() ? "" : ", ", at.c_str(), holder.holds ? "" : "!",
                    static_cast<double>(holder.coverage), std::string(to_string(holder.source)).c_str());
      text += line;
    }
    return text;
  }
};

}  // namespace berth::state
