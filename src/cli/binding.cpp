#include "binding.h"

#include <utility>

namespace berth::cli {
namespace {

// Every request names four things.
constexpr std::size_t kMostRequestBytes = std::size_t{16} << 10U;

control::BinderOptions binder_options(const server::Config& config, const server::ExtenderContext& extender) {
  control::BinderOptions options;
  options.timeout = config.bind.timeout;
  options.hami_annotations = config.bind.hami_annotations;
  options.settings = extender.settings;
  options.defaults = extender.defaults;
  options.resources = extender.resources;
  return options;
}

server::HttpServerOptions server_options(const server::Config& config) {
  server::HttpServerOptions options;
  options.name = "bind";
  options.address = config.bind.listen;
  options.max_body_bytes = kMostRequestBytes;
  options.max_bodies_bytes = config.limits.max_bodies_bytes;
  options.max_connections = config.limits.max_connections;
  return options;
}

}  // namespace

Binding::Binding(const server::Config& config, std::unique_ptr<kube::ApiClient> client,
                 const server::ExtenderContext& extender, const control::WaitingPods& waiting)
    : client_(std::move(client)),
      binder_(binder_options(config, extender), *client_, extender.state.snapshots(), extender.state, waiting,
              server::requests_of(extender.decisions), extender.clock),
      context_{binder_, extender.metrics, extender.clock},
      server_(server_options(config)) {
  server::add_bind_routes(server_, context_);
}

core::Result<std::uint16_t> Binding::start() {
  binder_.start();
  return server_.start();
}

}  // namespace berth::cli
