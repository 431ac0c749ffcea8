// The URL of a server, taken apart.
//
// Thread-safe: pure functions.
#pragma once

#include <string>

#include "berth/core/result.h"

namespace berth::net {

struct ServerUrl {
  bool https = true;
  std::string host;  // with brackets if an IPv6 address
  std::string port;
  std::string prefix;  // of every path; empty, or "/..." without a slash at its end

  [[nodiscard]] std::string origin() const { return (https ? "https://" : "http://") + host + ":" + port; }
  [[nodiscard]] bool loopback() const;
};

// kInvalid for anything but http(s)://host[:port][/prefix].
core::Result<ServerUrl> parse_server_url(const std::string& text);

}  // namespace berth::net
