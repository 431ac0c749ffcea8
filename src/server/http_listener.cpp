#include "http_listener.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <system_error>

namespace berth::server {
namespace {

// A burst of Binds opens hundreds of connections at once; the kernel cuts this to net.core.somaxconn.
constexpr int kBacklog = 4096;

std::string error_text(int error) { return std::generic_category().message(error); }

core::Result<int> bind_to(const addrinfo& info, const std::string& address) {
  const int fd = ::socket(info.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, info.ai_protocol);
  if (fd < 0) return core::fail(core::ErrorCode::kUnavailable, "can't open a socket: " + error_text(errno), address);
  // Not SO_REUSEPORT: a second instance on the same port must fail, not take a share of the connections.
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(fd, info.ai_addr, info.ai_addrlen) != 0 || ::listen(fd, kBacklog) != 0) {
    const int error = errno;
    ::close(fd);
    return core::fail(core::ErrorCode::kUnavailable,
                      "can't listen: " + error_text(error) + (error == EADDRINUSE ? "; choose another port" : ""),
                      address);
  }
  return fd;
}

core::Result<std::uint16_t> bound_port(int fd) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
    return core::fail(core::ErrorCode::kUnavailable, "can't read the port: " + error_text(errno));
  }
  if (bound.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in*>(&bound)->sin_port);
  return ntohs(reinterpret_cast<const sockaddr_in6*>(&bound)->sin6_port);
}

}  // namespace

core::Result<ListenAddress> parse_listen_address(std::string_view text) {
  const auto invalid = [&] {
    return core::fail(core::ErrorCode::kInvalid,
                      "\"" + std::string(text) + "\" is not HOST:PORT, such as 127.0.0.1:8900 or [::1]:8900");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return invalid();
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    if (host.empty()) return invalid();
  } else if (host.find(':') != std::string_view::npos) {
    return invalid();
  }
  if (host.find_first_of("[]/ \t\n") != std::string_view::npos) return invalid();
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (port.empty() || error != std::errc{} || end != port.data() + port.size()) return invalid();
  return ListenAddress{std::string(host), std::string(port)};
}

core::Result<Listener> listen_on(const std::string& address) {
  const auto parsed = parse_listen_address(address);
  if (!parsed) return tl::unexpected(parsed.error());
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const char* host = parsed->host.empty() ? nullptr : parsed->host.c_str();
  if (const int error = ::getaddrinfo(host, parsed->port.c_str(), &hints, &found); error != 0) {
    return core::fail(core::ErrorCode::kUnavailable, std::string("can't resolve: ") + ::gai_strerror(error), address);
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  const auto fd = bind_to(*found, address);
  if (!fd) return tl::unexpected(fd.error());
  const auto port = bound_port(*fd);
  if (!port) {
    ::close(*fd);
    return tl::unexpected(port.error());
  }
  return Listener{*fd, *port};
}

}  // namespace berth::server
