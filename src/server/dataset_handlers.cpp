#include "dataset_handlers.h"

#include <string>
#include <utility>

#include "admin_answers.h"
#include "berth/codec/dataset_json.h"
#include "berth/codec/recommend_json.h"
#include "berth/codec/recommend_request.h"
#include "berth/policy/recommend.h"

namespace berth::server {
namespace {

constexpr std::size_t kDefaultDatasets = 100;
constexpr std::size_t kMostDatasets = 10'000;

HttpResponse not_ready(const model::Snapshot& snapshot) {
  return failure(503, "berth is not ready: " + snapshot.not_ready_why);
}

HttpResponse datasets(const ExtenderContext& context, HttpRequest& request) {
  const auto snapshot = context.state.snapshots().load();
  if (!snapshot->ready) return not_ready(*snapshot);
  HttpResponse response;
  const std::string name = request.query("dataset");
  if (name.empty()) {
    const auto limit = count_parameter(request, "limit", kDefaultDatasets, kMostDatasets);
    if (!limit) return failure(400, limit.error().to_string());
    codec::DatasetLimits limits;
    limits.datasets = *limit;
    response.body = codec::write_datasets(*snapshot, context.clock.wall(), limits);
    return response;
  }
  const auto dataset = model::parse_dataset_ref(name, {});
  if (!dataset || dataset->ns.empty()) return failure(400, "name the dataset: /api/v1/datasets?dataset=NAMESPACE/NAME");
  auto body = codec::write_dataset(*snapshot, context.clock.wall(), *dataset);
  if (!body) {
    return failure(404, "there is no dataset " + name + ": no Dataset object, and no node with a label of it");
  }
  response.body = *std::move(body);
  return response;
}

HttpResponse recommend(const ExtenderContext& context, HttpRequest& http) {
  auto request = codec::read_recommend_request(http.body, context.resources, context.defaults, policy::kMostAdvised);
  if (!request) return failure(400, request.error().to_string());
  const auto snapshot = context.state.snapshots().load();
  if (!snapshot->ready) return not_ready(*snapshot);
  model::resolve_claims(request->pod, *snapshot);
  model::apply_policy(request->pod, *snapshot, context.defaults);
  if (request->pod.invalid) return failure(400, request->pod.invalid->to_string());
  const policy::AdviceQuery query{*snapshot, request->pod, request->nodes, request->warm, context.clock.wall()};
  HttpResponse response;
  response.body = codec::write_recommendation(policy::recommend(query, context.settings));
  return response;
}

}  // namespace

void add_dataset_routes(HttpServer& server, const ExtenderContext& context) {
  server.get("/api/v1/datasets", [&context](HttpRequest& request) { return datasets(context, request); });
  server.post("/api/v1/recommend", [&context](HttpRequest& request) { return recommend(context, request); });
}

}  // namespace berth::server
