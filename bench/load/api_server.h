// As much of a Kubernetes API server as Berth asks for: lists of objects in pages, and watches of them, for a generated
// cluster, with a steady stream of pod changes while pods are watched. It serves Fluid's API where datasets are given.
//
// Of four changes one is a new pod, one its binding to a node, one the end of a pod bound earlier, one its deletion.
// Objects are rendered when they are asked for; nothing is kept but the pods of the stream.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "berth/core/clock.h"
#include "berth/core/result.h"
#include "generated_cluster.h"
#include "generated_datasets.h"

namespace berth::bench {

// A change after which a node's pods hold another number of GPUs.
struct UsageChange {
  std::size_t node = 0;
  std::int64_t used = 0;
  core::SteadyTime written;  // before the event's first byte was handed to the system
};

class ApiServer {
 public:
  // `on_change` is called on the thread of the stream, before the event is written. `cluster` and `datasets`, which may
  // be null, must outlive the server.
  ApiServer(const GeneratedCluster& cluster, double changes_per_second,
            std::function<void(const UsageChange&)> on_change = {}, const GeneratedDatasets* datasets = nullptr);
  ~ApiServer();
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  // Answers POST requests with 201 and what this returns; called on the connection's thread, which may wait. Before
  // start(); without it they are answered 404.
  void on_post(std::function<std::string(std::string_view target, const std::string& body)> handler);
  // One more change for those who watch pods.
  void publish(const char* type, const model::Pod& pod);

  core::Result<std::uint16_t> start();
  [[nodiscard]] std::uint64_t changes_sent() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace berth::bench
