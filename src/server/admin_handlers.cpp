#include "berth/server/admin_handlers.h"

#include <chrono>
#include <utility>

#include "admin_answers.h"
#include "berth/codec/admin_json.h"
#include "berth/codec/extender_request.h"
#include "berth/policy/what_if.h"
#include "dataset_handlers.h"
#include "node_handlers.h"

namespace berth::server {
namespace {

constexpr std::size_t kDefaultDecisions = 50;
constexpr std::size_t kMostDecisions = 1000;

HttpResponse text(int status, std::string body) { return {status, std::move(body), "text/plain; charset=utf-8", {}}; }

std::chrono::milliseconds age_of(const model::Snapshot& snapshot, const core::Clock& clock) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(clock.now() - snapshot.built);
}

HttpResponse readyz(const AdminContext& context) {
  if (context.draining.load()) return text(503, "not ready: shutting down\n");
  const auto snapshot = context.extender.state.snapshots().load();
  const SourceStatus source = context.source();
  const std::string why = source.why.empty() ? "" : " (" + source.name + ": " + source.why + ")";
  if (!snapshot->ready) return text(503, "not ready: " + snapshot->not_ready_why + why + "\n");
  if (!source.connected) return text(200, "ok, but answering from what is known" + why + "\n");
  return text(200, "ok\n");
}

HttpResponse summary(const AdminContext& context) {
  const auto snapshot = context.extender.state.snapshots().load();
  const SourceStatus source = context.source();
  HttpResponse response;
  response.body = codec::write_summary({context.version, snapshot.get(), age_of(*snapshot, context.extender.clock),
                                        context.extender.decisions.pods(), source.name, source.connected,
                                        context.extender.metrics.free_gpus(*snapshot)->cluster});
  return response;
}

HttpResponse decisions(const AdminContext& context, HttpRequest& request) {
  const auto most = count_parameter(request, "limit", kDefaultDecisions, kMostDecisions);
  if (!most) return failure(400, most.error().to_string());
  std::vector<model::Explanation> told;
  for (const auto& kept : context.extender.decisions.latest(*most)) {
    told.push_back(model::explain(kept, model::Detail::kCounts));
  }
  HttpResponse response;
  response.body = codec::write_decisions(told);
  return response;
}

HttpResponse explain_pod(const AdminContext& context, HttpRequest& request) {
  const std::string pod = request.query("pod");
  if (pod.find('/') == std::string::npos) return failure(400, "name the pod: /api/v1/explain?pod=NAMESPACE/NAME");
  const auto kept = context.extender.decisions.find(pod);
  if (!kept) {
    return failure(404, "no decision is kept for pod " + pod +
                            ": kube-scheduler has not asked about it, it asks for nothing of ours, or it was long ago");
  }
  HttpResponse response;
  response.body = codec::write_explanation(model::explain(*kept));
  return response;
}

// What would be answered for the pod of an ExtenderArgs; over all nodes if it names none. Changes nothing.
HttpResponse explain_what_if(const AdminContext& context, HttpRequest& http) {
  const ExtenderContext& extender = context.extender;
  codec::ExtenderReader reader;
  const auto request = reader.read(http.body, extender.resources);
  if (!request) return failure(400, request.error().to_string());
  const auto snapshot = extender.state.snapshots().load();
  if (!snapshot->ready) return failure(503, "berth is not ready: " + snapshot->not_ready_why);
  model::PodRequest pod = model::make_request((*request)->pod, extender.defaults);
  model::resolve_claims(pod, *snapshot);
  model::apply_policy(pod, *snapshot, extender.defaults);
  std::vector<std::string_view> names = (*request)->names;
  if (names.empty()) names = policy::all_names(*snapshot);
  const policy::Query query{*snapshot, pod, names, 1, extender.clock.wall()};
  // No scheduler counts along here: a node without the GPUs must not look like a place.
  policy::Settings settings = extender.settings;
  settings.gpu_count = policy::GpuCountMode::kEnforce;
  model::Explanation told = model::explain(policy::what_if(query, settings));
  told.snapshot_age = age_of(*snapshot, extender.clock);
  HttpResponse response;
  response.body = codec::write_explanation(told);
  return response;
}

}  // namespace

void add_admin_routes(HttpServer& server, const AdminContext& context) {
  server.get("/healthz", [](HttpRequest&) { return text(200, "ok\n"); });
  server.get("/readyz", [&context](HttpRequest&) { return readyz(context); });
  server.get("/metrics", [&context](HttpRequest&) {
    return HttpResponse{200, context.extender.metrics.render(), "text/plain; version=0.0.4; charset=utf-8", {}};
  });
  server.get("/version", [&context](HttpRequest&) {
    HttpResponse response;
    response.body = "{\"version\":\"" + context.version + "\"}\n";
    return response;
  });
  server.get("/api/v1/summary", [&context](HttpRequest&) { return summary(context); });
  server.get("/api/v1/decisions", [&context](HttpRequest& request) { return decisions(context, request); });
  server.get("/api/v1/explain", [&context](HttpRequest& request) { return explain_pod(context, request); });
  server.post("/api/v1/explain", [&context](HttpRequest& request) { return explain_what_if(context, request); });
  add_dataset_routes(server, context.extender);
  add_node_routes(server, context.extender);
}

}  // namespace berth::server
