// Fluid's part of a live cluster: asks every few seconds which kinds of data.fluid.io are served and keeps a watch on
// each.
//
// Where the API is not served, that is told once. What is installed later is picked up at the next look. A kind that is
// no longer served, and whose watch has ended, is told as empty: both, because an API server that is starting may for a
// moment know less than it will. FluidServed{true} comes with the first list of Datasets, so that node labels keep
// telling of datasets for as long as the objects can't be read.
//
// Thread-safe, but start() and stop(), which are called once each from one thread. (Group version and resource names:
// config/crd/bases of fluid-cloudnative/fluid, 0.9 to 1.0.8.)
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "berth/core/clock.h"
#include "berth/kube/api_client.h"
#include "berth/kube/reflector.h"
#include "berth/model/cluster_update.h"
#include "berth/net/cancellation.h"
#include "berth/sources/api_source.h"
#include "first_lists.h"
#include "object_target.h"
#include "watch_status.h"

namespace berth::sources {

class FluidWatches {
 public:
  // All references must outlive it.
  FluidWatches(kube::ApiClient& client, model::UpdateSink& sink, FirstLists& first_lists,
               const ApiSourceOptions& options, const core::Clock& clock);
  ~FluidWatches();  // stops

  void start();
  void stop();
  // Appends one for the group and one for each kind that is watched or was.
  void add_status(std::vector<WatchStatus>& statuses) const;

 private:
  struct Kind;   // of those that may be served
  struct Watch;  // on one of them
  static const std::vector<Kind>& kinds();

  void run();
  void look();
  void failed(const core::Error& error);
  void take(const std::set<std::string>& served);
  void begin(const Kind& kind, Watch& watch);
  void end(const Kind& kind, Watch& watch);

  kube::ApiClient& client_;
  model::UpdateSink& sink_;
  FirstLists& first_lists_;
  const ApiSourceOptions options_;
  const core::Clock& clock_;
  net::Cancellation cancellation_;
  std::thread thread_;

  enum class Fluid { kUnknown, kAbsent, kPresent } fluid_ = Fluid::kUnknown;  // of the thread, as last told
  mutable std::mutex mutex_;
  WatchStatus group_;
  std::vector<Watch> watches_;  // one a kind; its reflector is null while the kind is not watched
};

}  // namespace berth::sources
