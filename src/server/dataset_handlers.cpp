#include "dataset_handlers.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "admin_answers.h"
#include "berth/codec/dataset_json.h"

namespace berth::server {
namespace {

constexpr std::size_t kDefaultDatasets = 100;
constexpr std::size_t kMostDatasets = 10'000;

std::optional<model::DatasetRef> dataset_named(std::string_view name) {
  const auto slash = name.find('/');
  if (slash == 0 || slash == std::string_view::npos || slash + 1 == name.size()) return std::nullopt;
  return model::DatasetRef{std::string(name.substr(0, slash)), std::string(name.substr(slash + 1))};
}

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
  const auto dataset = dataset_named(name);
  if (!dataset) return failure(400, "name the dataset: /api/v1/datasets?dataset=NAMESPACE/NAME");
  auto body = codec::write_dataset(*snapshot, context.clock.wall(), *dataset);
  if (!body) {
    return failure(404, "there is no dataset " + name + ": no Dataset object, and no node with a label of it");
  }
  response.body = *std::move(body);
  return response;
}

}  // namespace

void add_dataset_routes(HttpServer& server, const ExtenderContext& context) {
  server.get("/api/v1/datasets", [&context](HttpRequest& request) { return datasets(context, request); });
}

}  // namespace berth::server
