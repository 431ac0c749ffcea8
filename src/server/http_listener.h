// Binds and listens on a TCP address.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "berth/core/result.h"

namespace berth::server {

struct ListenAddress {
  std::string host;  // without brackets; empty: every interface
  std::string port;
};

// "127.0.0.1:8900", "localhost:0", "[::1]:8900", ":8900".
core::Result<ListenAddress> parse_listen_address(std::string_view text);

struct Listener {
  int fd = -1;  // non-blocking, closed on exec; the caller's to close
  std::uint16_t port = 0;
};

// kUnavailable if the address is taken or not ours, kInvalid if it can't be understood.
core::Result<Listener> listen_on(const std::string& address);

}  // namespace berth::server
