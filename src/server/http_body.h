// Reads request bodies within limits: each one, and all in work together.
//
// RequestReader belongs to one connection and its thread; BodyBudget is thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "berth/core/clock.h"
#include "http_head.h"
#include "http_socket.h"

namespace berth::server {

// Bytes of all request bodies in work. Counted as they arrive, so that a client which announces much and sends little
// takes nothing from others.
class BodyBudget {
 public:
  explicit BodyBudget(std::size_t limit) : limit_(limit) {}
  [[nodiscard]] bool take(std::size_t bytes);
  void give_back(std::size_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  [[nodiscard]] std::size_t used() const { return used_.load(std::memory_order_relaxed); }

 private:
  const std::size_t limit_;
  std::atomic<std::size_t> used_{0};
};

// A share of the budget, given back at the end of its scope.
class BodyShare {
 public:
  explicit BodyShare(BodyBudget& budget) : budget_(budget) {}
  ~BodyShare() { budget_.give_back(taken_); }
  BodyShare(const BodyShare&) = delete;
  BodyShare& operator=(const BodyShare&) = delete;
  [[nodiscard]] bool take(std::size_t bytes);

 private:
  BodyBudget& budget_;
  std::size_t taken_ = 0;
};

// Memory straight from the system, and straight back: what malloc is given back it may keep, and with 2,048 connections
// that is a lot to keep.
class PageBuffer {
 public:
  explicit PageBuffer(std::size_t bytes);  // throws std::bad_alloc
  ~PageBuffer();
  PageBuffer(const PageBuffer&) = delete;
  PageBuffer& operator=(const PageBuffer&) = delete;
  [[nodiscard]] char* data() const { return data_; }

 private:
  char* data_;
  std::size_t bytes_;
};

// Reads requests one after the other, with what came too early kept for the next. The buffer exists only while a
// request is being read: an idle connection costs little more than its thread.
class RequestReader {
 public:
  explicit RequestReader(const HttpSocket& socket) : socket_(socket) {}

  // True if bytes of the next request are already here.
  [[nodiscard]] bool has_bytes() const { return begin_ < end_; }
  void release_buffer();

  // The next head, up to and with its empty line. A refusal with status 0 says that no request has begun.
  tl::expected<std::string, HttpRefusal> read_head(core::SteadyTime deadline);

  // The body of `head`, with spare capacity of kBodyPadding. 413 if it is over `limit`, 503 if the budget is used up,
  // 408 if the client stalls; after a refusal the rest of the body is still in the connection.
  tl::expected<std::string, HttpRefusal> read_body(const RequestHead& head, std::size_t limit, BodyShare& share,
                                                   core::SteadyTime deadline);

  // Reads and drops a body of `length` bytes; false if that failed.
  bool discard(std::uint64_t length, core::SteadyTime deadline);

 private:
  // Makes has_bytes() true.
  tl::expected<void, HttpRefusal> fill(core::SteadyTime deadline);
  [[nodiscard]] std::string_view bytes() const {
    return has_bytes() ? std::string_view(buffer_->data() + begin_, end_ - begin_) : std::string_view();
  }
  // `whole`: the most that the body can become.
  tl::expected<void, HttpRefusal> append(std::string& body, std::uint64_t length, std::size_t whole, std::size_t limit,
                                         BodyShare& share, core::SteadyTime deadline);
  // The next line without its CR LF.
  tl::expected<std::string, HttpRefusal> read_line(core::SteadyTime deadline);

  const HttpSocket& socket_;
  std::optional<PageBuffer> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

inline constexpr std::size_t kBodyPadding = 64;  // SIMDJSON_PADDING, so that the parser need not copy

}  // namespace berth::server
