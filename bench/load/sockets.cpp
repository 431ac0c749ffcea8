#include "sockets.h"

#include <algorithm>
#include <charconv>
#include <chrono>

namespace berth::bench {
namespace {

using core::ErrorCode;

constexpr std::size_t kReadAtOnce = 256U << 10U;

}  // namespace

core::Result<HttpClient> HttpClient::connect(std::uint16_t port) {
  auto socket = net::connect_loopback(port);
  if (!socket) return tl::unexpected(socket.error());
  return HttpClient(*std::move(socket));
}

core::Result<Answer> HttpClient::get(const std::string& path) {
  answer_.sent = std::chrono::steady_clock::now();
  head_ =
      "GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: Go-http-client/1.1\r\nAccept-Encoding: gzip\r\n\r\n";
  if (auto sent = socket_.write(head_); !sent) return tl::unexpected(sent.error());
  answer_.body_sent = std::chrono::steady_clock::now();
  return receive();
}

core::Result<Answer> HttpClient::post(const std::string& path, std::string_view first, std::string_view second) {
  if (auto sent = send_post(path, first, second); !sent) return tl::unexpected(sent.error());
  return receive();
}

core::Result<void> HttpClient::send_post(const std::string& path, std::string_view first, std::string_view second) {
  answer_.sent = std::chrono::steady_clock::now();
  head_ = "POST " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: Go-http-client/1.1\r\nContent-Length: " +
          std::to_string(first.size() + second.size()) +
          "\r\nContent-Type: application/json\r\nAccept-Encoding: gzip\r\n\r\n";
  head_ += first;
  auto sent = socket_.write(head_, second);
  answer_.body_sent = std::chrono::steady_clock::now();
  return sent;
}

core::Result<Answer> HttpClient::receive() {
  std::size_t filled = 0;
  std::size_t end = std::string::npos;  // of the whole answer
  std::size_t head_size = 0;
  while (filled < end) {
    const std::size_t want = end == std::string::npos ? kReadAtOnce : end - filled;
    if (buffer_.size() < filled + want) buffer_.resize(filled + want);
    const auto got = socket_.read(buffer_.data() + filled, buffer_.size() - filled);
    if (!got) return tl::unexpected(got.error());
    if (*got == 0) return core::fail(ErrorCode::kUnavailable, "the server closed the connection");
    filled += *got;
    if (end != std::string::npos) continue;
    const std::size_t blank = std::string_view(buffer_).substr(0, filled).find("\r\n\r\n");
    if (blank == std::string::npos) continue;
    head_size = blank + 4;
    const std::string_view head(buffer_.data(), head_size);
    const std::size_t length = net::content_length(head);
    if (length == std::string_view::npos) return core::fail(ErrorCode::kInvalid, "an answer without Content-Length");
    answer_.status = 0;
    std::from_chars(head.data() + std::min<std::size_t>(9, head.size()), head.data() + head.size(), answer_.status);
    end = head_size + length;
  }
  answer_.done = std::chrono::steady_clock::now();
  answer_.body = std::string_view(buffer_).substr(head_size, end - head_size);
  return answer_;
}

}  // namespace berth::bench
