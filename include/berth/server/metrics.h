// What Berth tells Prometheus: names, and the calls that count.
//
// Thread-safe. Counting on the path of a request is an atomic addition or, for a histogram, one short mutex; nothing is
// looked up. Values that live elsewhere are asked for when the text is rendered. Names are berth_<noun>_<unit>; they
// are listed in docs/configuration.md, and a published name is never changed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/control/counters.h"
#include "berth/core/clock.h"
#include "berth/model/decision.h"
#include "berth/model/free_gpus.h"
#include "berth/model/snapshot.h"
#include "berth/policy/preempt.h"
#include "berth/server/http_server.h"
#include "berth/state/cluster_state.h"

namespace berth::server {

// How one source of cluster state fares; counts are since the start.
struct SourceSample {
  std::string resource;  // "nodes", "pods"; "file" for a cluster file
  bool connected = true;
  std::uint64_t lists = 0;
  std::uint64_t watches = 0;
  std::uint64_t events = 0;
  std::uint64_t restarts = 0;
  std::uint64_t gone = 0;
  std::uint64_t failures = 0;
  std::uint64_t broken_objects = 0;
};

// How the probing of Alluxio masters fares; counts are since the start.
struct ProbeSample {
  std::size_t masters = 0;
  std::uint64_t requests = 0;
  std::uint64_t failures = 0;
  std::chrono::nanoseconds age{0};  // since the least recent answer of a master
};

struct ServerSample {
  std::string server;  // "extender", "admin"
  HttpCounters counters;
};

// The values that live elsewhere.
struct MetricSample {
  std::shared_ptr<const model::Snapshot> snapshot;
  std::chrono::nanoseconds snapshot_age{0};
  core::WallTime wall;  // now, to which ages of coverage count
  state::StateCounters state;
  std::size_t decision_pods = 0;
  std::vector<ServerSample> servers;
  std::vector<SourceSample> sources;
  control::ControlCounters control;  // zeros with a cluster file, where nothing is acted on
  ProbeSample probes;
};

class Metrics {
 public:
  explicit Metrics(std::string_view version);
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  void count_request(model::Verb verb, int code);
  // From the last byte of the body to the answer ready to be sent.
  void observe_duration(model::Verb verb, bool whole_nodes, std::chrono::nanoseconds duration);
  // Of the policy work within it.
  void observe_policy(model::Verb verb, std::chrono::nanoseconds duration);
  // Nodes asked about, answered and rejected, of a Filter call.
  void observe_filter(const model::Decision& decision);
  // A call for a pod that is none of our business.
  void count_untouched();
  // A call that was answered with "not ready".
  void count_not_ready();

  // A Preempt call, from its last byte to the answer ready; and one that could not be read.
  void observe_preemption(const policy::PreemptionOutcome& outcome, std::chrono::nanoseconds duration);
  void count_preemption_refused();
  // A Bind call, and how much of its time the API server took.
  void observe_bind(control::BindResult result, std::chrono::nanoseconds duration, std::chrono::nanoseconds api);

  // Asked once for every render(), one at a time; what it refers to must outlive the last render().
  void set_sampler(std::function<MetricSample()> sampler);

  // The text exposition format 0.0.4.
  [[nodiscard]] std::string render();

  // What the text says is free, for those who want it otherwise. Worked out when it is first asked for of a snapshot,
  // about a microsecond for each node that has changed since it was asked for before.
  [[nodiscard]] std::shared_ptr<const model::FreeGpusView> free_gpus(const model::Snapshot& snapshot);

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

// One metric, as docs/configuration.md lists it.
struct MetricDoc {
  std::string_view name;
  std::string_view type;    // "counter", "gauge", "histogram"
  std::string_view labels;  // "verb, code"; empty if there are none
  std::string_view meaning;
};
std::span<const MetricDoc> metric_docs();
// Its meaning. Throws std::logic_error for one that is not listed.
std::string metric_help(std::string_view name);

}  // namespace berth::server
