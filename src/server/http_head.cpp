#include "http_head.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace berth::server {
namespace {

// The characters of a token, RFC 9110 section 5.6.2.
bool is_token_char(char c) {
  if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return true;
  return std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}
bool is_token(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_token_char); }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool same(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Calls `each` with every element of a comma-separated list.
template <class F>
void for_list(std::string_view list, F each) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    each(trim(list.substr(0, comma)));
    if (comma == std::string_view::npos) return;
    list.remove_prefix(comma + 1);
  }
}

// What the headers said, as far as it matters here.
struct Headers {
  std::size_t count = 0;
  bool has_length = false;
  std::uint64_t length = 0;
  bool has_transfer_encoding = false;
  bool close = false;
  bool keep_alive = false;
  bool expects_continue = false;
};

tl::expected<void, HttpRefusal> take_length(std::string_view value, Headers& headers) {
  // Two lengths are refused even where they agree: nothing that talks to us sends two.
  if (headers.has_length) return refuse(400, "more than one Content-Length");
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), headers.length);
  if (value.empty() || error != std::errc{} || end != value.data() + value.size()) {
    return refuse(400, "Content-Length is not a number of bytes");
  }
  headers.has_length = true;
  return {};
}

tl::expected<void, HttpRefusal> take_header(std::string_view name, std::string_view value, Headers& headers) {
  if (same(name, "content-length")) return take_length(value, headers);
  if (same(name, "transfer-encoding")) {
    if (headers.has_transfer_encoding || !same(value, "chunked"))
      return refuse(501, "Transfer-Encoding must be chunked");
    headers.has_transfer_encoding = true;
  } else if (same(name, "content-encoding")) {
    if (!same(value, "identity")) return refuse(415, "Content-Encoding is not supported, send the body as it is");
  } else if (same(name, "connection")) {
    for_list(value, [&](std::string_view option) {
      headers.close = headers.close || same(option, "close");
      headers.keep_alive = headers.keep_alive || same(option, "keep-alive");
    });
  } else if (same(name, "expect")) {
    if (!same(value, "100-continue")) return refuse(417, "Expect must be 100-continue");
    headers.expects_continue = true;
  }
  return {};
}

tl::expected<void, HttpRefusal> take_line(std::string_view line, Headers& headers) {
  if (++headers.count > kMaxHeaders) return refuse(431, "too many headers");
  const std::size_t colon = line.find(':');
  // A line that begins with a blank continues the one before (obs-fold): parsers differ on it, so it is refused, as is
  // a blank before the colon.
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return refuse(400, "malformed header");
  const std::string_view value = trim(line.substr(colon + 1));
  const bool printable = std::all_of(value.begin(), value.end(), [](char c) {
    return c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
  });
  if (!printable) return refuse(400, "control character in a header");
  return take_header(line.substr(0, colon), value, headers);
}

tl::expected<void, HttpRefusal> take_request_line(std::string_view line, RequestHead& head) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return refuse(400, "malformed request line");
  const std::string_view version = line.substr(last + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return refuse(505, "HTTP version must be 1.1 or 1.0");
  head.http_1_0 = version == "HTTP/1.0";

  const std::string_view method = line.substr(0, first);
  if (!is_token(method)) return refuse(400, "malformed method");
  constexpr std::array<std::string_view, 8> kMethods{"GET",    "HEAD",    "POST",  "PUT",
                                                     "DELETE", "OPTIONS", "TRACE", "PATCH"};
  if (std::find(kMethods.begin(), kMethods.end(), method) == kMethods.end()) return refuse(501, "unknown method");
  head.method = method;

  std::string_view target = line.substr(first + 1, last - first - 1);
  if (target.size() > kMaxTargetBytes) return refuse(414, "request target is too long");
  const bool printable = std::all_of(target.begin(), target.end(),
                                     [](char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7f; });
  if (target.empty() || !printable) return refuse(400, "malformed request target");
  // Absolute form, as sent through a proxy: the host is of no interest.
  if (const std::size_t scheme = target.find("://"); target.front() != '/' && scheme != std::string_view::npos) {
    const std::size_t path = target.find('/', scheme + 3);
    target = path == std::string_view::npos ? "/" : target.substr(path);
  }
  if (target.front() != '/' && target != "*") return refuse(400, "request target must begin with /");
  // More than one question mark makes cpp-httplib refuse the request; the first one ends the path.
  head.target = target.substr(0, target.find('#'));
  if (const std::size_t query = head.target.find('?'); query != std::string::npos) {
    for (std::size_t at = head.target.find('?', query + 1); at != std::string::npos; at = head.target.find('?', at)) {
      head.target.replace(at, 1, "%3F");
    }
  }
  if (head.target.size() > kMaxTargetBytes) return refuse(414, "request target is too long");
  return {};
}

}  // namespace

tl::expected<std::size_t, HttpRefusal> find_head_end(std::string_view bytes) {
  const std::size_t end = bytes.find("\r\n\r\n");
  const std::string_view head = bytes.substr(0, end == std::string_view::npos ? bytes.size() : end);
  // A bare line feed can't end a head that we accept: say so instead of waiting for more.
  for (std::size_t at = head.find('\n'); at != std::string_view::npos; at = head.find('\n', at + 1)) {
    if (at == 0 || head[at - 1] != '\r') return refuse(400, "lines must end with CR LF");
  }
  if (head.size() > kMaxHeadBytes) return refuse(431, "request head is too large");
  return end == std::string_view::npos ? 0 : end + 4;
}

tl::expected<RequestHead, HttpRefusal> parse_head(std::string_view head) {
  RequestHead result;
  Headers headers;
  bool first = true;
  while (!head.empty()) {
    const std::size_t end = head.find("\r\n");
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(end == std::string_view::npos ? head.size() : end + 2);
    if (line.empty()) break;
    if (line.find('\r') != std::string_view::npos) return refuse(400, "lines must end with CR LF");
    const auto taken = first ? take_request_line(line, result) : take_line(line, headers);
    if (!taken) return tl::unexpected(taken.error());
    first = false;
  }
  if (first) return refuse(400, "malformed request line");
  if (headers.has_transfer_encoding && (headers.has_length || result.http_1_0)) {
    return refuse(400, "Transfer-Encoding together with Content-Length or HTTP/1.0");
  }
  result.chunked = headers.has_transfer_encoding;
  result.content_length = headers.length;
  result.keep_alive = !headers.close && (!result.http_1_0 || headers.keep_alive);
  result.expects_continue = headers.expects_continue && !result.http_1_0;
  return result;
}

tl::expected<std::uint64_t, HttpRefusal> parse_chunk_size(std::string_view line) {
  const std::string_view digits = trim(line.substr(0, line.find(';')));
  std::uint64_t size = 0;
  // from_chars takes no sign, no "0x" and no blanks, which strtoul does.
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size, 16);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size()) {
    return refuse(400, "malformed chunk size");
  }
  return size;
}

}  // namespace berth::server
