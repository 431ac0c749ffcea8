// A live cluster: nodes, pods, claims and Fluid's objects, listed and watched at the API server.
//
// A list is pushed whole (AllNodes, AllPods, ...), then every change by itself. Pods are watched in all namespaces and
// phases: pending ones are needed for their nominations, ended ones to see that they have ended. Fluid's kinds
// (data.fluid.io/v1alpha1) are watched where and while they are served; a cluster without them is none the worse.
// PodDisruptionBudgets (policy/v1) likewise, where they are asked for.
// DataListed comes with the first lists of claims and, if served, datasets, or `data_wait` after nodes and pods.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "berth/core/clock.h"
#include "berth/kube/api_client.h"
#include "berth/kube/reflector.h"
#include "berth/model/cluster_update.h"
#include "berth/model/node.h"
#include "berth/sources/source.h"

namespace berth::sources {

struct ApiSourceOptions {
  model::ResourceNames resources = {};
  bool budgets = false;  // watch PodDisruptionBudgets
  std::size_t node_page_size = 500;
  std::size_t pod_page_size = 2000;    // of about 3 KB each; larger ones gain nothing (5,000 nodes and 50,000 pods)
  std::size_t object_page_size = 500;  // of all other kinds
  std::chrono::milliseconds look_every{10'000};              // which API groups are served
  std::chrono::milliseconds data_wait{10'000};               // for claims and datasets, once nodes and pods are there
  std::function<void(std::chrono::milliseconds)> wait = {};  // between looks; empty: so long, or until stop()
  kube::ReflectorOptions reflector = {};                     // of all; name, path and page size are set from the above
};

class ApiSource final : public Source {
 public:
  // `sink` and `clock` must outlive it.
  ApiSource(std::unique_ptr<kube::ApiClient> client, model::UpdateSink& sink, const ApiSourceOptions& options,
            const core::Clock& clock);
  ~ApiSource() override;  // stops

  core::Result<void> start() override;
  void stop() override;
  [[nodiscard]] bool synced() const override;
  [[nodiscard]] bool connected() const override;
  [[nodiscard]] std::string why_not_ready() const override;
  [[nodiscard]] std::vector<SourceCounters> counters() const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace berth::sources
