// Made-up Fluid datasets on a generated cluster: each with a worker on 4 to 16 nodes, unevenly filled on the whole.
//
// The first two are those that the benches' pods ask for, on every fiftieth node.
//
// Thread-safe: immutable.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "berth/model/dataset.h"
#include "berth/model/pod.h"

namespace berth::bench {

class GeneratedDatasets {
 public:
  GeneratedDatasets(std::size_t nodes, std::size_t datasets);

  [[nodiscard]] std::size_t datasets() const { return datasets_; }
  [[nodiscard]] model::Dataset dataset(std::size_t dataset) const;
  // Pods of all datasets together.
  [[nodiscard]] std::size_t workers() const { return workers_.size(); }
  [[nodiscard]] model::Pod worker(std::size_t worker) const;

 private:
  struct Worker {
    std::size_t dataset;
    std::size_t number;  // within the dataset
    std::size_t node;
  };
  std::size_t datasets_;
  std::vector<Worker> workers_;
};

// The objects as the API server gives them.
void append_dataset_json(std::string& out, const model::Dataset& dataset, std::string_view resource_version);
void append_claim_json(std::string& out, const model::Dataset& dataset, std::string_view resource_version);
void append_worker_json(std::string& out, const model::Pod& worker, std::string_view resource_version);

}  // namespace berth::bench
