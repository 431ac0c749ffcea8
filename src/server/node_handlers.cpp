#include "node_handlers.h"

#include <string>
#include <utility>

#include "admin_answers.h"
#include "berth/codec/node_json.h"

namespace berth::server {
namespace {

constexpr std::size_t kDefaultNodes = 100;
constexpr std::size_t kMostNodes = 10'000;

HttpResponse nodes(const ExtenderContext& context, HttpRequest& request) {
  const auto snapshot = context.state.snapshots().load();
  if (!snapshot->ready) return failure(503, "berth is not ready: " + snapshot->not_ready_why);
  const auto free = context.metrics.free_gpus(*snapshot);
  HttpResponse response;
  const std::string name = request.query("node");
  if (name.empty()) {
    const auto limit = count_parameter(request, "limit", kDefaultNodes, kMostNodes);
    if (!limit) return failure(400, limit.error().to_string());
    response.body = codec::write_nodes(*snapshot, *free, context.clock.wall(), *limit);
    return response;
  }
  auto body = codec::write_node(*snapshot, *free, context.clock.wall(), name);
  if (!body) return failure(404, "there is no node " + name);
  response.body = *std::move(body);
  return response;
}

}  // namespace

void add_node_routes(HttpServer& server, const ExtenderContext& context) {
  server.get("/api/v1/nodes", [&context](HttpRequest& request) { return nodes(context, request); });
}

}  // namespace berth::server
