// Datasets, their pods and labels, and who reads them, as the API server would hold them; and what a snapshot has to
// say of it, worked out from the objects alone.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../src/state/moment.h"
#include "unit/state/cluster.h"

namespace berth::state {

struct DataTruth {
  // What no object tells: it hangs on when something was seen.
  struct Part {  // of a pod in a cache
    std::string uid;
    std::string node;
    model::CachePod pod;
    bool from_the_start = false;
    int ready_step = 0;
    core::WallTime changed;
    std::optional<std::int64_t> bytes;
  };
  struct Object {
    model::Dataset dataset;
    core::WallTime changed;
    int cached_step = 0;
    std::optional<core::WallTime> measured_at;
  };
  struct Promise {
    std::string node;
    std::int64_t gpus = 0;
    core::SteadyTime until;
  };

  std::map<std::string, model::Node> nodes;
  std::map<std::string, model::Pod> pods;  // by name; all in namespace "ns", as everything is
  std::map<std::string, Object> datasets;
  std::map<std::string, model::Claim> claims;
  std::map<std::string, model::CacheRuntime> runtimes;  // by dataset, all of type "alluxio"
  std::map<std::string, model::DataLoad> loads;
  std::map<std::string, Promise> promises;  // by UID
  bool served = false;
  bool pods_listed = false;

  std::map<std::string, Part> parts;                                       // by pod
  std::map<std::pair<std::string, std::string>, Moment> unattended;        // by dataset and node
  std::map<std::pair<std::string, std::string>, core::WallTime> labelled;  // by label and node
  int step = 0;

  // A change of an object, each followed by settle().
  void set_dataset(const model::Dataset& dataset, const Moment& now);
  void drop_dataset(const std::string& name);
  void forget_bytes(const std::string& dataset);
  void measure(const model::Measured& measured);
  // To be called after every change: takes over what hangs on when it was seen.
  void settle(const Moment& now);

  [[nodiscard]] bool wants_data(const model::Pod& pod) const;
  [[nodiscard]] bool has_firm(const model::Pod& pod) const;
  [[nodiscard]] const model::Pod* by_uid(const std::string& uid) const;
  // The dataset that a name stands for, itself included; empty if it is not known.
  [[nodiscard]] std::string meaning(const std::string& name) const;

 private:
  [[nodiscard]] bool has_label(const model::Node& node, const model::Dataset& dataset) const;
  [[nodiscard]] bool has_worker(const std::string& node, const std::string& dataset) const;
};

// Compares all that a snapshot says of data.
void expect_same(const model::Snapshot& got, const DataTruth& truth, const CoverageOptions& options,
                 core::SteadyTime now);

}  // namespace berth::state
