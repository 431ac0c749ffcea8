// The HTTP client of the benches, with a clock: no library stands between it and the wire.
//
// Not thread-safe, but one thread may read while another writes. Errors are values that name the call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "berth/core/clock.h"
#include "berth/core/result.h"
#include "berth/net/loopback.h"

namespace berth::bench {

struct Answer {
  int status = 0;
  std::string_view body;       // until the next call
  core::SteadyTime sent;       // before the first byte was written
  core::SteadyTime body_sent;  // the system had taken the last byte
  core::SteadyTime done;       // the last byte of the answer was here
};

// HTTP/1.1 as kube-scheduler's Go client speaks it: one connection that is kept, Content-Length both ways.
class HttpClient {
 public:
  static core::Result<HttpClient> connect(std::uint16_t port);
  [[nodiscard]] int fd() const { return socket_.fd(); }

  core::Result<Answer> get(const std::string& path);
  // The body is `first` and `second`.
  core::Result<Answer> post(const std::string& path, std::string_view first, std::string_view second = {});
  // The two halves of post().
  core::Result<void> send_post(const std::string& path, std::string_view first, std::string_view second = {});
  core::Result<Answer> receive();

 private:
  explicit HttpClient(net::Socket socket) : socket_(std::move(socket)) {}

  net::Socket socket_;
  std::string head_;
  std::string buffer_;
  Answer answer_;
};

}  // namespace berth::bench
