// `berth serve`: wires sources, state and servers together and runs until SIGTERM or SIGINT.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "berth/server/http_server.h"

namespace berth::cli {

// The flags that were given; they count before the configuration file.
struct ServeFlags {
  std::string config;
  std::optional<std::string> listen;
  std::optional<std::string> admin_listen;
  std::optional<std::string> bind_listen;
  std::optional<std::string> log_level;
  std::string kubeconfig;
  std::string context;
  bool in_cluster = false;
  std::string cluster_file;
  std::string store = "memory://";
  bool insecure = false;
};

int serve(const ServeFlags& flags, const std::function<void(server::HttpServer&)>& more_extender_routes);

}  // namespace berth::cli
