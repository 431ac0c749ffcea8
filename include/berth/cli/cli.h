// The command line: `berth serve`, `berth explain`, `berth version`.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "berth/server/http_server.h"

namespace berth::cli {

// Returns the exit status: 0, 1 for a failure, 2 for wrong usage. `more_extender_routes` is called with the extender
// server before it starts, for programs that measure it.
int run(int argc, char** argv, const std::function<void(server::HttpServer&)>& more_extender_routes = {});

}  // namespace berth::cli
