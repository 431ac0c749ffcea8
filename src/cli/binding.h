// The part of `berth serve` that binds pods: a server, a client of the API server and threads of its own, so that a
// slow API server holds up no Filter.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "berth/control/binder.h"
#include "berth/control/waiting_pods.h"
#include "berth/kube/api_client.h"
#include "berth/server/bind_handlers.h"
#include "berth/server/config.h"
#include "berth/server/decision_log.h"
#include "berth/server/extender_handlers.h"
#include "berth/server/http_server.h"

namespace berth::cli {

// Binds that are kept connections for: a burst of as many needs no new TLS handshake after the first.
inline constexpr std::size_t kBindConnections = 128;

class Binding {
 public:
  // The references must outlive it.
  Binding(const server::Config& config, std::unique_ptr<kube::ApiClient> client,
          const server::ExtenderContext& extender, const control::WaitingPods& waiting);

  // Listens; returns the port.
  core::Result<std::uint16_t> start();
  void drain(std::chrono::milliseconds deadline) { server_.drain(deadline); }
  void stop() { binder_.stop(); }
  [[nodiscard]] server::HttpCounters counters() const { return server_.counters(); }

 private:
  std::unique_ptr<kube::ApiClient> client_;
  control::Binder binder_;
  server::BindContext context_;
  server::HttpServer server_;
};

}  // namespace berth::cli
