#include "berth/server/extender_handlers.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "berth/codec/extender_request.h"
#include "berth/codec/extender_response.h"
#include "berth/policy/decide.h"

namespace berth::server {
namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::milliseconds;

// Rejected nodes are listed up to this many; more cost the scheduler time, and explain has them all.
constexpr std::size_t kListedRejections = 100;
// Parser memory that is kept between requests: enough for 50,000 names, in as many readers as schedulers ask at once.
constexpr std::size_t kKeptParserBytes = 8U << 20U;
constexpr std::size_t kKeptReaders = 4;
// While a scheduler sends whole nodes, two readers keep what 1,000 or 2,000 nodes take: new memory's page faults are
// half of the time that reading 14 MB takes. The next call with names frees it.
constexpr std::size_t kKeptWholeBytes = 32U << 20U;
constexpr std::size_t kKeptWholeReaders = 2;

// Readers in turn: a thread sits on every connection, and a reader's memory on each would add up.
class ReaderPool {
 public:
  // A reader for one call.
  class Lease {
   public:
    explicit Lease(ReaderPool& pool) : pool_(pool), reader_(pool.take()) {}
    ~Lease() { pool_.put(std::move(reader_), whole_nodes_); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    core::Result<const codec::ExtenderRequest*> read(std::string& body, const model::ResourceNames& resources) {
      auto request = reader_.read(body, resources);
      whole_nodes_ = request && (*request)->whole_nodes;
      return request;
    }

   private:
    ReaderPool& pool_;
    codec::ExtenderReader reader_;
    bool whole_nodes_ = false;
  };

 private:
  codec::ExtenderReader take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return {};
    codec::ExtenderReader reader = std::move(idle_.back());
    idle_.pop_back();
    return reader;
  }
  void put(codec::ExtenderReader reader, bool whole_nodes) {
    reader.trim(whole_nodes ? kKeptWholeBytes : kKeptParserBytes);
    const std::lock_guard lock(mutex_);
    if (!whole_nodes) {
      for (codec::ExtenderReader& idle : idle_) idle.trim(kKeptParserBytes);
    }
    if (idle_.size() < (whole_nodes ? kKeptWholeReaders : kKeptReaders)) idle_.push_back(std::move(reader));
  }

  std::mutex mutex_;
  std::vector<codec::ExtenderReader> idle_;
};

// One call, parsed and joined with the snapshot it is answered from.
struct Call {
  const codec::ExtenderRequest* request;
  model::PodRequest pod;
  std::shared_ptr<const model::Snapshot> snapshot;
  core::SteadyTime parsed;
};

HttpResponse bad_request(const core::Error& error) {
  HttpResponse response;
  response.status = 400;
  codec::write_error(response.body, error.to_string());
  return response;
}

std::int32_t clamped(std::int64_t gpus) {
  return static_cast<std::int32_t>(std::min<std::int64_t>(gpus, std::numeric_limits<std::int32_t>::max()));
}

void stop_clock(model::Decision& decision, const ExtenderContext& context, const Call& call) {
  const auto took = context.clock.now() - call.parsed;
  decision.took = duration_cast<microseconds>(took);
  context.metrics.observe_policy(decision.verb, took);
}

// Ends the record of a decision and keeps it; the ledger hears of it once the answer is out.
void tell(HttpResponse& response, const ExtenderContext& context, model::Decision decision, const Call& call,
          std::string winner) {
  decision.snapshot_age = duration_cast<milliseconds>(context.clock.now() - call.snapshot->built);
  auto kept = std::make_shared<const model::Decision>(std::move(decision));
  context.decisions.add(kept);
  // A call for one node is a nomination checked or another tool's question: it must leave no trace in the ledger.
  if (kept->one_node) return;
  response.after = [&context, kept = std::move(kept), winner = std::move(winner)] {
    context.state.post({kept->pod.uid, winner, clamped(kept->pod.gpus), kept->pod.priority, kept->verb,
                        !kept->pod.datasets.empty(), kept->pod.parts, kept->pod.gang});
    if (context.decided) context.decided(kept);
  };
}

policy::Query query_of(const Call& call, const ExtenderContext& context, model::Verb verb) {
  return {*call.snapshot, call.pod, call.request->names, context.state.attempt_number(call.pod.uid, verb),
          context.clock.wall()};
}

void write_filter(std::string& out, const Call& call, std::span<const std::uint32_t> kept,
                  std::span<const policy::Rejected> rejected) {
  const codec::ExtenderRequest& request = *call.request;
  std::vector<std::string_view> nodes;
  nodes.reserve(kept.size());
  for (const std::uint32_t name : kept) {
    nodes.push_back(request.whole_nodes ? request.raw_nodes[name] : request.names[name]);
  }
  std::vector<codec::FailedNode> failed;
  std::vector<codec::FailedNode> unresolvable;
  if (kept.empty() || rejected.size() <= kListedRejections) {
    for (const policy::Rejected& node : rejected) {
      auto& list = model::unresolvable(node.reason) ? unresolvable : failed;
      list.push_back({request.names[node.name], model::to_string(node.reason)});
    }
  }
  codec::write_filter_answer(out, {request.whole_nodes, nodes, failed, unresolvable});
}

HttpResponse answer_filter(const Call& call, const ExtenderContext& context) {
  HttpResponse response;
  policy::FilterOutcome outcome =
      policy::decide_filter(query_of(call, context, model::Verb::kFilter), context.settings);
  stop_clock(outcome.decision, context, call);
  context.metrics.observe_filter(outcome.decision);
  // With one node left Prioritize is not called: this is the winner.
  std::string winner = outcome.kept.size() == 1 ? outcome.decision.winner : std::string();
  write_filter(response.body, call, outcome.kept, outcome.rejected);
  tell(response, context, std::move(outcome.decision), call, std::move(winner));
  return response;
}

void write_scores(std::string& out, const Call& call, std::span<const policy::HostScore> hosts) {
  std::vector<codec::HostScore> scores;
  scores.reserve(hosts.size());
  for (const policy::HostScore& host : hosts) scores.push_back({call.request->names[host.name], host.score});
  codec::write_priorities(out, scores);
}

HttpResponse answer_prioritize(const Call& call, const ExtenderContext& context) {
  HttpResponse response;
  policy::PrioritizeOutcome outcome =
      policy::decide_prioritize(query_of(call, context, model::Verb::kPrioritize), context.settings);
  stop_clock(outcome.decision, context, call);
  write_scores(response.body, call, outcome.scores);
  std::string winner = outcome.decision.winner;
  tell(response, context, std::move(outcome.decision), call, std::move(winner));
  return response;
}

// A pod that is none of our business keeps every node, and Prioritize cares for nothing but the CPU that GPUs need.
HttpResponse pass_untouched(const Call& call, const ExtenderContext& context, model::Verb verb) {
  HttpResponse response;
  if (verb == model::Verb::kPrioritize) {
    std::vector<policy::HostScore> scores;
    if (call.snapshot->ready && call.pod.requests.basic.cpu_milli > 0) {
      scores = policy::prioritize_without_gpus({*call.snapshot, call.pod, call.request->names}, context.settings);
    }
    write_scores(response.body, call, scores);
    return response;
  }
  const auto& nodes = call.request->whole_nodes ? call.request->raw_nodes : call.request->names;
  codec::write_filter_answer(response.body, {call.request->whole_nodes, nodes, {}, {}});
  return response;
}

// An empty list would look like "no node fits"; an error is retried with back-off.
HttpResponse not_ready(const Call& call, model::Verb verb) {
  HttpResponse response;
  if (verb == model::Verb::kPrioritize) {
    codec::write_priorities(response.body, {});
  } else {
    codec::write_filter_error(response.body, "berth is not ready: " + call.snapshot->not_ready_why);
  }
  return response;
}

HttpResponse handle(HttpRequest& http, const ExtenderContext& context, ReaderPool& readers, model::Verb verb) {
  const auto started = context.clock.now();
  ReaderPool::Lease reader(readers);
  const auto request = reader.read(http.body, context.resources);
  if (!request) {
    context.metrics.count_request(verb, 400);
    return bad_request(request.error());
  }
  Call call{*request, model::make_request((*request)->pod, context.defaults), context.state.snapshots().load(),
            context.clock.now()};
  model::resolve_claims(call.pod, *call.snapshot);
  model::apply_policy(call.pod, *call.snapshot, context.defaults);
  HttpResponse response;
  if (!call.pod.ours()) {
    context.metrics.count_untouched();
    response = pass_untouched(call, context, verb);
  } else if (!call.snapshot->ready) {
    if (verb == model::Verb::kFilter) context.metrics.count_not_ready();
    response = not_ready(call, verb);
  } else {
    response = verb == model::Verb::kFilter ? answer_filter(call, context) : answer_prioritize(call, context);
  }
  context.metrics.count_request(verb, 200);
  context.metrics.observe_duration(verb, call.request->whole_nodes, context.clock.now() - started);
  return response;
}

}  // namespace

void add_extender_routes(HttpServer& server, const ExtenderContext& context) {
  const auto readers = std::make_shared<ReaderPool>();
  for (const auto verb : {model::Verb::kFilter, model::Verb::kPrioritize}) {
    server.post("/" + std::string(model::to_string(verb)),
                [&context, readers, verb](HttpRequest& request) { return handle(request, context, *readers, verb); });
  }
}

}  // namespace berth::server
