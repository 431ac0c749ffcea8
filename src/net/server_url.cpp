#include "server_url.h"

#include <arpa/inet.h>
#include <curl/curl.h>

#include <memory>

namespace berth::net {
namespace {

std::string part(CURLU* url, CURLUPart which, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, which, &text, flags) != CURLUE_OK || text == nullptr) return {};
  std::string copy = text;
  curl_free(text);
  return copy;
}

}  // namespace

bool ServerUrl::loopback() const {
  if (host == "localhost" || host == "[::1]") return true;
  in_addr address{};
  return inet_pton(AF_INET, host.c_str(), &address) == 1 && (ntohl(address.s_addr) >> 24U) == 127;
}

core::Result<ServerUrl> parse_server_url(const std::string& text) {
  using core::ErrorCode;
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> url(curl_url(), curl_url_cleanup);
  // The text is not repeated before it is known to hold no password.
  if (!url || curl_url_set(url.get(), CURLUPART_URL, text.c_str(), CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK) {
    return core::fail(ErrorCode::kInvalid, "the server's URL must look like https://host:port");
  }
  if (!part(url.get(), CURLUPART_USER).empty() || !part(url.get(), CURLUPART_PASSWORD).empty()) {
    return core::fail(ErrorCode::kInvalid, "the server's URL must not hold a user name or password");
  }
  const std::string scheme = part(url.get(), CURLUPART_SCHEME);
  if (scheme != "https" && scheme != "http") {
    return core::fail(ErrorCode::kInvalid,
                      "the server's URL must begin with https:// or http://, not " + scheme + "://");
  }
  if (!part(url.get(), CURLUPART_QUERY).empty() || !part(url.get(), CURLUPART_FRAGMENT).empty()) {
    return core::fail(ErrorCode::kInvalid, "the server's URL must not hold a query or a fragment");
  }
  ServerUrl result;
  result.https = scheme == "https";
  result.host = part(url.get(), CURLUPART_HOST);
  result.port = part(url.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
  result.prefix = part(url.get(), CURLUPART_PATH);
  while (!result.prefix.empty() && result.prefix.back() == '/') result.prefix.pop_back();
  if (result.host.empty()) return core::fail(ErrorCode::kInvalid, "the server's URL names no host");
  return result;
}

}  // namespace berth::net
