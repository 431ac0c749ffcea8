#include "berth/server/bind_handlers.h"

#include "berth/codec/bind.h"
#include "berth/codec/extender_response.h"

namespace berth::server {

void add_bind_routes(HttpServer& server, const BindContext& context) {
  server.post("/bind", [&context](HttpRequest& http) {
    const auto began = context.clock.now();
    HttpResponse response;
    const auto request = codec::read_bind_request(http.body);
    if (!request) {
      response.status = 400;
      codec::write_error(response.body, request.error().to_string());
      return response;
    }
    const control::BindOutcome outcome = context.binder.bind(*request);
    codec::write_bind_answer(response.body, outcome.error);
    context.metrics.observe_bind(outcome.result, context.clock.now() - began, outcome.api);
    return response;
  });
}

control::Binder::FindRequest requests_of(const DecisionLog& decisions) {
  return [&decisions](const codec::BindRequest& request) -> std::optional<model::PodRequest> {
    const auto found = decisions.find(request.ns + "/" + request.pod);
    if (!found) return std::nullopt;
    const auto& decision = found->filter ? found->filter : found->prioritize;
    if (!request.uid.empty() && decision->pod.uid != request.uid) return std::nullopt;
    return decision->pod;
  };
}

}  // namespace berth::server
