// The strict reader of a request's head, which runs before cpp-httplib sees a byte.
//
// cpp-httplib 0.11.4 trusts what it reads: it has no limit on lines or headers, parses Range with std::regex (whose
// recursion overflows a small stack), decompresses bodies, and takes the first of several lengths. Here everything is
// bounded and whatever could be understood in two ways is refused. Rules: RFC 9112 sections 2 to 6.
//
// Thread-safe: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace berth::server {

inline constexpr std::size_t kMaxHeadBytes = 64U << 10U;
inline constexpr std::size_t kMaxTargetBytes = 4U << 10U;
inline constexpr std::size_t kMaxHeaders = 200;

struct RequestHead {
  std::string method;
  std::string target;  // origin form, without fragment: "/filter?x=1"
  bool http_1_0 = false;
  bool keep_alive = true;  // what the client asks for
  bool chunked = false;
  std::uint64_t content_length = 0;  // 0 without a body and where chunked
  bool expects_continue = false;     // the client waits for "100 Continue" before it sends the body
};

// What a request is answered with when it can't be served.
struct HttpRefusal {
  int status = 400;
  std::string message;  // for a person
};

inline tl::unexpected<HttpRefusal> refuse(int status, std::string message) {
  return tl::unexpected<HttpRefusal>(HttpRefusal{status, std::move(message)});
}

// End of the head in `bytes` (past the empty line), 0 if more bytes are needed; a refusal if no further byte can help.
tl::expected<std::size_t, HttpRefusal> find_head_end(std::string_view bytes);

// Reads a whole head: everything up to and with the empty line.
tl::expected<RequestHead, HttpRefusal> parse_head(std::string_view head);

// Reads the line before a chunk, without its line end: "1a2b" or "1a2b;extension".
tl::expected<std::uint64_t, HttpRefusal> parse_chunk_size(std::string_view line);

}  // namespace berth::server
