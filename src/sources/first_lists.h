// Tells the sink when all that is to be known of datasets, claims and policies at the start has been pushed, or will
// not come soon (DataListed, once).
//
// Thread-safe, but start() and stop(), which are called once each from one thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "berth/model/cluster_update.h"

namespace berth::sources {

class FirstLists {
 public:
  // `wait` begins when nodes and pods are there; what is still missing then is told in the log with what `why` says.
  // `sink` must outlive it.
  FirstLists(model::UpdateSink& sink, std::chrono::milliseconds wait, std::function<std::string()> why);
  ~FirstLists();  // stops

  enum class What { kNodes, kPods, kClaims, kDatasets, kPolicies };
  // Its first list has been pushed, or there is nothing of it.
  void note(What what);

  void start();
  void stop();
  // DataListed has been pushed.
  [[nodiscard]] bool told() const;

 private:
  struct Seen {
    bool nodes = false;
    bool pods = false;
    bool claims = false;
    bool datasets = false;
    bool policies = false;
  };
  void run();

  model::UpdateSink& sink_;
  const std::chrono::milliseconds wait_;
  const std::function<std::string()> why_;
  std::thread thread_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Seen seen_;
  bool stopping_ = false;
  bool told_ = false;
};

}  // namespace berth::sources
