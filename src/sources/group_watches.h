// The part of a live cluster that an API server may serve or not: asks every few seconds which kinds of some API groups
// there are, and keeps a watch on each.
//
// What is installed later is picked up at the next look. A kind that is no longer served, and whose watch has ended, is
// told as empty: both, because an API server that is starting may for a moment know less than it will. One group or
// kind that fails or is forbidden keeps no other from being watched.
//
// Thread-safe, but start() and stop(), which are called once each from one thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "berth/core/clock.h"
#include "berth/kube/api_client.h"
#include "berth/kube/reflector.h"
#include "berth/model/cluster_update.h"
#include "berth/net/cancellation.h"
#include "berth/sources/api_source.h"
#include "watch_status.h"

namespace berth::sources {

struct ServedKind {
  std::string resource;  // "datasets"
  std::function<std::unique_ptr<kube::ReflectorTarget>()> target;
  std::function<model::ClusterUpdate()> none;  // what is told when it is served no longer
};
struct ServedGroup {
  std::string name;                   // "data.fluid.io"
  std::vector<std::string> versions;  // "v1alpha1"; of several, each kind is read in the first that serves it
  std::vector<ServedKind> kinds;
  // Called when the first of the kinds turns out not to be served, once until it is again; may be empty.
  std::function<void()> absent = {};
};

class GroupWatches {
 public:
  // All references must outlive it.
  GroupWatches(kube::ApiClient& client, model::UpdateSink& sink, std::vector<ServedGroup> groups,
               const ApiSourceOptions& options, const core::Clock& clock);
  ~GroupWatches();  // stops

  void start();
  void stop();
  // Appends one for each group, and behind it one for each of its kinds that is watched or was.
  void add_status(std::vector<WatchStatus>& statuses) const;

 private:
  // Of one kind; its reflector is null while it is not watched.
  struct Watch {
    std::string path;
    std::unique_ptr<kube::ReflectorTarget> target;
    std::unique_ptr<kube::Reflector> reflector;
    bool ever = false;
    SourceCounters earlier;  // of watches that have ended
  };
  struct Group {
    ServedGroup what;
    WatchStatus status;
    std::vector<Watch> watches;  // one a kind
    bool absent = false;         // as last told
  };
  using Paths = std::map<std::string, std::string>;  // of what is served, by resource

  void run();
  void look(Group& group);
  void failed(Group& group, const core::Error& error);
  void take(Group& group, const Paths& served);
  void begin(const ServedKind& kind, const std::string& path, Watch& watch);
  void end(const ServedKind& kind, Watch& watch);

  kube::ApiClient& client_;
  model::UpdateSink& sink_;
  const ApiSourceOptions options_;
  const core::Clock& clock_;
  net::Cancellation cancellation_;
  std::thread thread_;

  mutable std::mutex mutex_;  // of all that add_status() looks at
  std::vector<Group> groups_;
};

}  // namespace berth::sources
