#include "berth/server/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <mutex>

#include "free_gpus_metrics.h"

namespace berth::server {
namespace {

using model::CoverageSource;
using model::Reason;
using model::Verb;
using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;

constexpr std::array kVerbs{Verb::kFilter, Verb::kPrioritize};
constexpr std::array kSources{CoverageSource::kMeasured,  CoverageSource::kUniform, CoverageSource::kAssumed,
                              CoverageSource::kNewWorker, CoverageSource::kLabel,   CoverageSource::kFuse};
// What a handler answers; anything else is looked up when it comes.
constexpr std::array kCodes{200, 400};

// 50 µs to 1 s, close together around the bounds that are promised: 1, 5 and 15 ms.
Histogram::BucketBoundaries duration_buckets() {
  return {0.000'05, 0.000'1, 0.000'2, 0.000'35, 0.000'5, 0.000'75, 0.001, 0.001'5, 0.002, 0.003, 0.004,
          0.005,    0.007,   0.01,    0.0125,   0.015,   0.02,     0.03,  0.05,    0.1,   0.25,  1};
}

double seconds(std::chrono::nanoseconds duration) { return std::chrono::duration<double>(duration).count(); }

std::size_t index(Verb verb) { return static_cast<std::size_t>(verb); }
std::string label(Verb verb) { return std::string(model::to_string(verb)); }

// A counter whose value is counted elsewhere.
void raise_to(Counter& counter, std::uint64_t value) {
  counter.Increment(static_cast<double>(value) - counter.Value());
}

}  // namespace

struct Metrics::Families {
  prometheus::Registry registry;

  Family<Counter>& counters(const char* name) {
    return prometheus::BuildCounter().Name(name).Help(metric_help(name)).Register(registry);
  }
  Family<Gauge>& gauges(const char* name) {
    return prometheus::BuildGauge().Name(name).Help(metric_help(name)).Register(registry);
  }
  Family<Histogram>& histograms(const char* name) {
    return prometheus::BuildHistogram().Name(name).Help(metric_help(name)).Register(registry);
  }
  Counter& counter(const char* name) { return counters(name).Add({}); }
  Gauge& gauge(const char* name) { return gauges(name).Add({}); }

  // Counted on the path of a request.
  Family<Counter>& requests = counters("berth_requests_total");
  std::array<std::array<Counter*, kCodes.size()>, kVerbs.size()> request{};
  std::array<std::array<Histogram*, 2>, kVerbs.size()> duration{};
  std::array<Histogram*, kVerbs.size()> policy{};
  Counter& asked = counter("berth_asked_nodes_total");
  Counter& answered = counter("berth_answered_nodes_total");
  std::array<Counter*, model::kReasonCount> rejected{};
  std::array<Counter*, control::kBindResults> bind{};
  Histogram* bind_own = nullptr;
  Histogram* bind_api = nullptr;
  Counter& untouched = counter("berth_untouched_requests_total");
  Counter& not_ready = counter("berth_not_ready_requests_total");

  Family<Counter>& preempt_requests = counters("berth_preempt_requests_total");
  Counter& preempt_answered_requests = preempt_requests.Add({{"code", "200"}});
  Counter& preempt_refused_requests = preempt_requests.Add({{"code", "400"}});
  Histogram& preempt_duration = histograms("berth_preempt_duration_seconds").Add({}, duration_buckets());
  Family<Counter>& preempt_candidates = counters("berth_preempt_candidates_total");
  Counter& preempt_answered = preempt_candidates.Add({{"result", "answered"}});
  Counter& preempt_rejected = preempt_candidates.Add({{"result", "rejected"}});
  Counter& preempt_outranked = preempt_candidates.Add({{"result", "outranked"}});
  Counter& preempt_misplaced = preempt_candidates.Add({{"result", "misplaced"}});
  Family<Counter>& preempt_victims = counters("berth_preempt_victims_total");
  Counter& preempt_added = preempt_victims.Add({{"change", "added"}});
  Counter& preempt_spared = preempt_victims.Add({{"change", "spared"}});

  // Set when the text is rendered.
  Gauge& ready = gauge("berth_ready_state");
  Family<Gauge>& topology_nodes = gauges("berth_topology_nodes");
  Gauge& snapshot_version = gauge("berth_snapshot_version_number");
  Gauge& snapshot_age = gauge("berth_snapshot_age_seconds");
  Gauge& snapshot_build = gauge("berth_snapshot_build_seconds");
  Counter& publications = counter("berth_snapshot_publications_total");
  Counter& updates = counter("berth_updates_total");
  Gauge& queued = gauge("berth_queued_updates");
  Gauge& nodes = gauge("berth_known_nodes");
  Gauge& pods = gauge("berth_known_pods");
  Gauge& bound = gauge("berth_bound_pods");
  Gauge& capacity = gauge("berth_capacity_gpus");
  Gauge& used = gauge("berth_used_gpus");
  Family<Gauge>& ledger = gauges("berth_ledger_entries");
  Counter& expired = counter("berth_ledger_expired_total");
  Gauge& datasets = gauge("berth_known_datasets");
  Family<Gauge>& dataset_holders = gauges("berth_dataset_holders");
  Gauge& oldest_measured = gauge("berth_oldest_measured_coverage_seconds");
  Family<Counter>& placement_failures = counters("berth_placement_failures_total");
  Gauge& decision_pods = gauge("berth_decision_pods");
  Family<Gauge>& source_connected = gauges("berth_source_connected_state");
  Family<Counter>& source_lists = counters("berth_source_lists_total");
  Family<Counter>& source_watches = counters("berth_source_watches_total");
  Family<Counter>& source_events = counters("berth_source_events_total");
  Family<Counter>& source_restarts = counters("berth_source_restarts_total");
  Family<Counter>& source_gone = counters("berth_source_gone_total");
  Family<Counter>& source_failures = counters("berth_source_failures_total");
  Family<Counter>& source_broken = counters("berth_source_broken_objects_total");
  Gauge& waiting_pods = gauge("berth_waiting_pods");
  Family<Counter>& wakeups = counters("berth_wakeups_total");
  Counter& failed_wakeups = counter("berth_failed_wakeups_total");
  Family<Counter>& events = counters("berth_events_total");
  Family<Counter>& locality_pods = counters("berth_locality_pods_total");
  Family<Counter>& locality_bytes = counters("berth_locality_bytes_total");
  Gauge& probe_masters = gauge("berth_probe_masters");
  Counter& probe_requests = counter("berth_probe_requests_total");
  Counter& probe_failures = counter("berth_probe_failures_total");
  Gauge& probe_age = gauge("berth_probe_age_seconds");
  Family<Gauge>& open_connections = gauges("berth_open_connections");
  Family<Counter>& accepted = counters("berth_accepted_connections_total");
  Family<Gauge>& body_bytes = gauges("berth_body_bytes");
  Family<Counter>& http_failures = counters("berth_http_failures_total");

  FreeGpusMetrics free_gpus;  // beside the registry, which would keep nodes that are gone

  std::mutex render_mutex;
  std::function<MetricSample()> sampler;

  explicit Families(std::string_view version) {
    gauges("berth_build_info").Add({{"version", std::string(version)}}).Set(1);
    auto& durations = histograms("berth_request_duration_seconds");
    auto& policies = histograms("berth_policy_duration_seconds");
    for (const Verb verb : kVerbs) {
      for (std::size_t i = 0; i < kCodes.size(); ++i) {
        request[index(verb)][i] = &requests.Add({{"verb", label(verb)}, {"code", std::to_string(kCodes[i])}});
      }
      duration[index(verb)][0] = &durations.Add({{"verb", label(verb)}, {"form", "names"}}, duration_buckets());
      duration[index(verb)][1] = &durations.Add({{"verb", label(verb)}, {"form", "nodes"}}, duration_buckets());
      policy[index(verb)] = &policies.Add({{"verb", label(verb)}}, duration_buckets());
    }
    auto& binds = counters("berth_binds_total");
    for (std::size_t i = 0; i < bind.size(); ++i) {
      bind[i] = &binds.Add({{"result", std::string(to_string(static_cast<control::BindResult>(i)))}});
    }
    auto& bind_durations = histograms("berth_bind_duration_seconds");
    bind_own = &bind_durations.Add({{"part", "own"}}, duration_buckets());
    bind_api = &bind_durations.Add({{"part", "api"}}, duration_buckets());
    auto& rejections = counters("berth_rejected_nodes_total");
    for (int i = 1; i < model::kReasonCount; ++i) {
      const auto reason = static_cast<Reason>(i);
      rejected[static_cast<std::size_t>(i)] = &rejections.Add({{"reason", std::string(model::to_string(reason))}});
    }
  }

  void take(const MetricSample& sample) {
    if (sample.snapshot) {
      take(*sample.snapshot);
      take_coverage(*sample.snapshot, sample.wall);
      take_topology(*sample.snapshot);
    }
    snapshot_age.Set(seconds(sample.snapshot_age));
    snapshot_build.Set(seconds(sample.state.last_build));
    raise_to(publications, sample.state.publications);
    raise_to(updates, sample.state.updates);
    raise_to(expired, sample.state.soft_expired);
    for (std::size_t i = 0; i < sample.state.placement_failures.size(); ++i) {
      const std::string cause(to_string(static_cast<state::FailureCause>(i)));
      raise_to(placement_failures.Add({{"cause", cause}}), sample.state.placement_failures[i]);
    }
    queued.Set(static_cast<double>(sample.state.queue));
    decision_pods.Set(static_cast<double>(sample.decision_pods));
    for (const ServerSample& server : sample.servers) take(server);
    for (const SourceSample& source : sample.sources) take(source);
    take(sample.control);
    probe_masters.Set(static_cast<double>(sample.probes.masters));
    raise_to(probe_requests, sample.probes.requests);
    raise_to(probe_failures, sample.probes.failures);
    probe_age.Set(seconds(sample.probes.age));
  }

  void take(const model::Snapshot& snapshot) {
    ready.Set(snapshot.ready ? 1 : 0);
    snapshot_version.Set(static_cast<double>(snapshot.version));
    nodes.Set(static_cast<double>(snapshot.index->nodes()));
    pods.Set(static_cast<double>(snapshot.pods));
    bound.Set(static_cast<double>(snapshot.bound_pods));
    capacity.Set(static_cast<double>(snapshot.gpus));
    used.Set(static_cast<double>(snapshot.gpus_used));
    const auto firm = std::count_if(snapshot.ledger->begin(), snapshot.ledger->end(),
                                    [](const auto& entry) { return entry.second.kind == model::EntryKind::kFirm; });
    ledger.Add({{"kind", "firm"}}).Set(static_cast<double>(firm));
    ledger.Add({{"kind", "soft"}}).Set(static_cast<double>(snapshot.ledger->size()) - static_cast<double>(firm));
  }

  void take_topology(const model::Snapshot& snapshot) {
    std::array<std::size_t, model::kTopologySources> told{};
    std::size_t unknown = 0;
    for (const auto& block : snapshot.blocks) {
      for (const model::NodeState& state : *block) {
        if (state.gpus == 0 && !state.machine) continue;
        if (state.machine) {
          ++told[static_cast<std::size_t>(state.machine->source)];
        } else if (state.shape) {
          ++told[static_cast<std::size_t>(model::TopologySource::kLabels)];
        } else {
          ++unknown;
        }
      }
    }
    for (std::size_t i = 0; i < told.size(); ++i) {
      const std::string source(model::to_string(static_cast<model::TopologySource>(i)));
      topology_nodes.Add({{"source", source}}).Set(static_cast<double>(told[i]));
    }
    topology_nodes.Add({{"source", "unknown"}}).Set(static_cast<double>(unknown));
  }

  void take_coverage(const model::Snapshot& snapshot, core::WallTime now) {
    std::size_t known = 0;
    std::array<std::size_t, kSources.size()> holders{};
    core::WallTime oldest = now;
    for (const auto& placement : snapshot.datasets) {
      if (!placement) continue;
      ++known;
      for (const auto& holder : placement->holders) {
        ++holders[static_cast<std::size_t>(holder.source)];
        if (holder.source == CoverageSource::kMeasured) oldest = std::min(oldest, holder.observed);
      }
    }
    datasets.Set(static_cast<double>(known));
    for (const CoverageSource source : kSources) {
      dataset_holders.Add({{"source", std::string(model::to_string(source))}})
          .Set(static_cast<double>(holders[static_cast<std::size_t>(source)]));
    }
    oldest_measured.Set(seconds(now - oldest));
  }

  void take(const ServerSample& server) {
    const std::map<std::string, std::string> labels{{"server", server.server}};
    open_connections.Add(labels).Set(static_cast<double>(server.counters.open_connections));
    body_bytes.Add(labels).Set(static_cast<double>(server.counters.bodies_bytes));
    raise_to(accepted.Add(labels), server.counters.accepted);
    for (std::size_t i = 0; i < kHttpFailureCount; ++i) {
      const std::string kind(to_string(static_cast<HttpFailure>(i)));
      raise_to(http_failures.Add({{"server", server.server}, {"kind", kind}}), server.counters.failures[i]);
    }
  }

  void take(const control::ControlCounters& done) {
    waiting_pods.Set(static_cast<double>(done.waiting_pods));
    raise_to(wakeups.Add({{"kind", "pod"}}), done.pod_wakes);
    raise_to(wakeups.Add({{"kind", "node"}}), done.node_wakes);
    raise_to(failed_wakeups, done.failed_wakes);
    raise_to(events.Add({{"result", "sent"}}), done.events_sent);
    raise_to(events.Add({{"result", "failed"}}), done.events_failed);
    raise_to(events.Add({{"result", "dropped"}}), done.events_dropped);
    raise_to(locality_pods.Add({{"result", "full"}}), done.locality.full);
    raise_to(locality_pods.Add({{"result", "partial"}}), done.locality.partial);
    raise_to(locality_pods.Add({{"result", "none"}}), done.locality.none);
    raise_to(locality_bytes.Add({{"where", "local"}}), done.locality.local_bytes);
    raise_to(locality_bytes.Add({{"where", "remote"}}), done.locality.remote_bytes);
  }

  void take(const SourceSample& source) {
    const std::map<std::string, std::string> labels{{"resource", source.resource}};
    source_connected.Add(labels).Set(source.connected ? 1 : 0);
    raise_to(source_lists.Add(labels), source.lists);
    raise_to(source_watches.Add(labels), source.watches);
    raise_to(source_events.Add(labels), source.events);
    raise_to(source_restarts.Add(labels), source.restarts);
    raise_to(source_gone.Add(labels), source.gone);
    raise_to(source_failures.Add(labels), source.failures);
    raise_to(source_broken.Add(labels), source.broken_objects);
  }
};

Metrics::Metrics(std::string_view version) : families_(std::make_unique<Families>(version)) {}
Metrics::~Metrics() = default;

void Metrics::count_request(Verb verb, int code) {
  const auto known = std::find(kCodes.begin(), kCodes.end(), code);
  if (known != kCodes.end()) {
    families_->request[index(verb)][static_cast<std::size_t>(known - kCodes.begin())]->Increment();
  } else {
    families_->requests.Add({{"verb", label(verb)}, {"code", std::to_string(code)}}).Increment();
  }
}

void Metrics::observe_duration(Verb verb, bool whole_nodes, std::chrono::nanoseconds duration) {
  families_->duration[index(verb)][whole_nodes ? 1 : 0]->Observe(seconds(duration));
}

void Metrics::observe_policy(Verb verb, std::chrono::nanoseconds duration) {
  families_->policy[index(verb)]->Observe(seconds(duration));
}

void Metrics::observe_filter(const model::Decision& decision) {
  families_->asked.Increment(static_cast<double>(decision.asked));
  families_->answered.Increment(static_cast<double>(decision.candidate_count));
  std::array<std::uint32_t, model::kReasonCount> counts{};
  for (const model::Rejection& rejection : decision.rejected) ++counts[static_cast<std::size_t>(rejection.reason)];
  for (std::size_t reason = 1; reason < counts.size(); ++reason) {
    if (counts[reason] > 0) families_->rejected[reason]->Increment(counts[reason]);
  }
}

void Metrics::observe_bind(control::BindResult result, std::chrono::nanoseconds duration,
                           std::chrono::nanoseconds api) {
  families_->bind[static_cast<std::size_t>(result)]->Increment();
  families_->bind_own->Observe(seconds(duration - api));
  families_->bind_api->Observe(seconds(api));
}

void Metrics::count_untouched() { families_->untouched.Increment(); }
void Metrics::count_not_ready() { families_->not_ready.Increment(); }

void Metrics::observe_preemption(const policy::PreemptionOutcome& outcome, std::chrono::nanoseconds duration) {
  families_->preempt_answered_requests.Increment();
  families_->preempt_duration.Observe(seconds(duration));
  families_->preempt_answered.Increment(static_cast<double>(outcome.answer.size()));
  families_->preempt_rejected.Increment(static_cast<double>(outcome.rejected.size()));
  families_->preempt_outranked.Increment(static_cast<double>(outcome.outranked));
  families_->preempt_misplaced.Increment(static_cast<double>(outcome.misplaced));
  families_->preempt_added.Increment(static_cast<double>(outcome.added));
  families_->preempt_spared.Increment(static_cast<double>(outcome.spared));
}

void Metrics::count_preemption_refused() { families_->preempt_refused_requests.Increment(); }

void Metrics::set_sampler(std::function<MetricSample()> sampler) {
  const std::lock_guard lock(families_->render_mutex);
  families_->sampler = std::move(sampler);
}

std::string Metrics::render() {
  const std::lock_guard lock(families_->render_mutex);
  std::vector<prometheus::MetricFamily> free;
  if (families_->sampler) {
    const MetricSample sample = families_->sampler();
    families_->take(sample);
    if (sample.snapshot) free = families_->free_gpus.collect(*sample.snapshot);
  }
  auto all = families_->registry.Collect();
  std::ranges::move(free, std::back_inserter(all));
  return prometheus::TextSerializer().Serialize(all);
}

std::shared_ptr<const model::FreeGpusView> Metrics::free_gpus(const model::Snapshot& snapshot) {
  return families_->free_gpus.view(snapshot);
}

}  // namespace berth::server
