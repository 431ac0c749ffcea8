// The head of a request and the line before a chunk. What is accepted reads one way only.
#include <cstdio>
#include <string>
#include <string_view>

#include "require.h"
#include "server/http_head.h"

namespace {

using berth::fuzz::require;
using namespace berth::server;

void check_refusal(const HttpRefusal& refusal) {
  require(refusal.status >= 400 && refusal.status < 600 && !refusal.message.empty(), "a refusal says why");
}

bool same(const RequestHead& a, const RequestHead& b) {
  return a.method == b.method && a.target == b.target && a.http_1_0 == b.http_1_0 && a.keep_alive == b.keep_alive &&
         a.chunked == b.chunked && a.content_length == b.content_length && a.expects_continue == b.expects_continue;
}

// The plainest head that means the same.
std::string written(const RequestHead& head) {
  std::string text = head.method + ' ' + head.target + (head.http_1_0 ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n");
  text += head.keep_alive ? "Connection: keep-alive\r\n" : "Connection: close\r\n";
  if (head.chunked) text += "Transfer-Encoding: chunked\r\n";
  if (head.content_length > 0) text += "Content-Length: " + std::to_string(head.content_length) + "\r\n";
  if (head.expects_continue) text += "Expect: 100-continue\r\n";
  return text + "\r\n";
}

void check_head(std::string_view text) {
  const auto head = parse_head(text);
  if (!head) return check_refusal(head.error());
  require(head->target == "*" || head->target.starts_with('/'), "a target is a path or *");
  require(head->target.size() <= kMaxTargetBytes, "a target is bounded");
  for (const char c : head->target) {
    require(static_cast<unsigned char>(c) > 0x20 && c != 0x7f && c != '#', "a target is one word without fragment");
  }
  require(head->target.find('?') == head->target.rfind('?'), "a target has one query at most");
  require(!head->chunked || (head->content_length == 0 && !head->http_1_0), "a body has one length");
  const std::string plain = written(*head);
  const auto again = parse_head(plain);
  require(again && same(*head, *again), "a head reads as itself");
}

void check_end(std::string_view text) {
  const auto end = find_head_end(text);
  if (!end) return check_refusal(end.error());
  if (*end == 0) {
    require(text.size() <= kMaxHeadBytes, "no waiting for a head that is too large already");
    return;
  }
  require(*end <= text.size() && *end <= kMaxHeadBytes + 4, "a head ends within the bytes and its bound");
  require(text.substr(0, *end).ends_with("\r\n\r\n"), "a head ends with an empty line");
  const auto early = find_head_end(text.substr(0, *end - 1));
  require(early && *early == 0, "a head that lacks a byte waits for it");
  const auto alone = find_head_end(text.substr(0, *end));
  require(alone && *alone == *end, "what follows a head does not move its end");
  check_head(text.substr(0, *end));
}

void check_chunk_size(std::string_view line) {
  const auto size = parse_chunk_size(line);
  if (!size) return check_refusal(size.error());
  char plain[32];
  std::snprintf(plain, sizeof plain, "%llx", static_cast<unsigned long long>(*size));
  const auto again = parse_chunk_size(plain);
  require(again && *again == *size, "a chunk size reads as itself");
  require(line.substr(0, line.find(';')).find_first_not_of("0123456789abcdefABCDEF \t") == std::string_view::npos,
          "a chunk size is hexadecimal digits");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string text(data, data + size);
  check_end(text);
  check_head(text);
  check_chunk_size(std::string_view(text).substr(0, text.find("\r\n")));
  return 0;
}
