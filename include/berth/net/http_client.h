// An HTTP/1.1 client for one server: TLS, tokens, deadlines, streaming, cancelling.
//
// Thread-safe: any number of threads may call send() and stream() at once; each call uses a connection of its own out
// of a small pool of kept ones. Errors are values: kUnavailable (no connection, broken connection, certificate not
// trusted), kTimeout, kTooLarge, kCancelled, kInvalid (a bad URL, header or certificate file). An answer with any
// status is no error here. No error text holds a token, a key or a query string. Redirects are not followed. Proxies
// are taken from the environment (https_proxy, no_proxy) unless told otherwise, but never for a loopback address.
// Creating the first client makes the process ignore SIGPIPE if nobody has set it.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/core/result.h"
#include "berth/net/cancellation.h"

namespace berth::net {

// (The empty initialisers let a caller name just the fields it sets.)
// TLS 1.2 or newer. Where a file and PEM text are both given, the text counts. Files are read again for new
// connections, so that rotated ones are taken up.
struct TlsOptions {
  std::string ca_file = {};  // PEM; neither: the CAs of the system
  std::string ca_pem = {};
  std::string client_certificate_file = {};
  std::string client_certificate_pem = {};
  std::string client_key_file = {};
  std::string client_key_pem = {};
  std::string server_name = {};  // expected in the certificate instead of the URL's host
  bool verify = true;
};

struct HttpClientOptions {
  std::string url = {};  // http(s)://host[:port][/prefix]
  TlsOptions tls = {};
  std::string user_agent = "berth";
  std::chrono::milliseconds connect_timeout{10'000};  // name look-up, TCP and TLS together
  bool proxies = true;                                // of the environment are used
  std::size_t kept_connections = 8;                   // of those that are idle
};

enum class HttpMethod { kGet, kPost, kPatch, kDelete };

struct HttpRequest {
  HttpMethod method = HttpMethod::kGet;
  std::string target = "/";  // path and query
  std::string body = {};
  std::string content_type = {};
  std::string accept = "application/json";
  std::string bearer_token = {};               // plain http takes one only to a loopback address
  std::vector<std::string> headers = {};       // further ones, "Name: value"
  std::chrono::milliseconds deadline{30'000};  // from the call to the last byte; 0: none
  std::chrono::milliseconds idle_timeout{0};   // longest time without a byte from the server; 0: none
  // After bytes have come, wait this long before looking for more: a stream of small pieces then wakes the reader for a
  // batch, not for each. 0: look at once.
  std::chrono::milliseconds gather{0};
  std::size_t max_response_bytes = 64U << 20U;  // of a body that is kept
  const Cancellation* cancellation = nullptr;   // may be null; must outlive the call
};

struct HttpResponse {
  int status = 0;
  std::string body = {};
  std::optional<std::chrono::seconds> retry_after = {};  // the header, as seconds from now
};

// Both are called on the thread of stream().
struct StreamHandler {
  std::function<void()> on_open = {};                   // the answer has begun with a status of 2xx; may be empty
  std::function<bool(std::string_view)> on_chunk = {};  // bytes as they come; false ends the stream
};

class HttpClient {
 public:
  // kInvalid for a URL that is none, has another scheme, or carries a user, password, query or fragment.
  static core::Result<std::unique_ptr<HttpClient>> create(HttpClientOptions options);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // False over plain http to another machine: a request with a bearer token would be kInvalid.
  [[nodiscard]] bool takes_tokens() const;

  core::Result<HttpResponse> send(const HttpRequest& request);
  // As send(), but the body of a 2xx answer goes to the handler and is not kept. No error if the handler ended it.
  core::Result<HttpResponse> stream(const HttpRequest& request, const StreamHandler& handler);

 private:
  struct State;
  explicit HttpClient(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace berth::net
