// Sets up the log: lines on standard error, for people or as JSON.
//
// Call set_up_logging once, before other threads log through spdlog's default logger. What is foreign (names, messages
// of peers) is escaped, so that one message is always one line. No request bodies and no secrets are logged, and the
// path of an answered request logs nothing at info.
#pragma once

#include <string>
#include <string_view>

#include "berth/core/clock.h"
#include "berth/server/config.h"

namespace berth::server {

void set_up_logging(const LogConfig& config);

// The lines, with their line end. `module` is the logger's name, left out if it is empty.
// {"time":"2026-11-29T16:00:00.123Z","level":"info","module":"kube","message":"..."}
std::string json_line(core::WallTime time, std::string_view level, std::string_view module, std::string_view message);
// 2026-11-29T16:00:00.123Z info  kube: ...
std::string text_line(core::WallTime time, std::string_view level, std::string_view module, std::string_view message);

}  // namespace berth::server
