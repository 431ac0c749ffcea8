#include "berth/net/http_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <mutex>
#include <utility>

#include "curl_handles.h"
#include "server_url.h"

namespace berth::net {
namespace {

using core::ErrorCode;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

void initialise_once() {
  static std::once_flag once;
  std::call_once(once, [] {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    // CURLOPT_NOSIGNAL leaves SIGPIPE to the application (libcurl's own handling changes it per call and thread).
    struct sigaction now{};
    if (sigaction(SIGPIPE, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) std::signal(SIGPIPE, SIG_IGN);
  });
}

const char* name_of(HttpMethod method) {
  switch (method) {
    case HttpMethod::kPost:
      return "POST";
    case HttpMethod::kPatch:
      return "PATCH";
    case HttpMethod::kDelete:
      return "DELETE";
    case HttpMethod::kGet:
      break;
  }
  return "GET";
}

bool has_line_break(std::string_view text) { return text.find_first_of(std::string_view("\r\n\0", 3)) != text.npos; }

template <class T>
void set(CURL* easy, CURLoption option, T value) {
  curl_easy_setopt(easy, option, value);
}

void set_pem(CURL* easy, CURLoption option, const std::string& pem) {
  curl_blob blob{const_cast<char*>(pem.data()), pem.size(), CURL_BLOB_NOCOPY};
  curl_easy_setopt(easy, option, &blob);
}

void set_tls(CURL* easy, const TlsOptions& tls) {
  set(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  set(easy, CURLOPT_SSL_VERIFYPEER, tls.verify ? 1L : 0L);
  set(easy, CURLOPT_SSL_VERIFYHOST, tls.verify ? 2L : 0L);
  // libcurl keeps a read CA file for a day unless told otherwise.
  set(easy, CURLOPT_CA_CACHE_TIMEOUT, 60L);
  if (!tls.ca_pem.empty() || !tls.ca_file.empty()) {
    // Else the directory of the system's CAs would be trusted beside ours.
    set(easy, CURLOPT_CAPATH, static_cast<const char*>(nullptr));
    if (!tls.ca_pem.empty()) {
      set_pem(easy, CURLOPT_CAINFO_BLOB, tls.ca_pem);
    } else {
      set(easy, CURLOPT_CAINFO, tls.ca_file.c_str());
    }
  }
  if (!tls.client_certificate_pem.empty()) {
    set_pem(easy, CURLOPT_SSLCERT_BLOB, tls.client_certificate_pem);
  } else if (!tls.client_certificate_file.empty()) {
    set(easy, CURLOPT_SSLCERT, tls.client_certificate_file.c_str());
  }
  if (!tls.client_key_pem.empty()) {
    set_pem(easy, CURLOPT_SSLKEY_BLOB, tls.client_key_pem);
  } else if (!tls.client_key_file.empty()) {
    set(easy, CURLOPT_SSLKEY, tls.client_key_file.c_str());
  }
}

// What the callbacks of one transfer know.
struct Exchange {
  CURL* easy = nullptr;
  const HttpRequest* request = nullptr;
  const StreamHandler* handler = nullptr;  // null: keep the body
  HttpResponse response;
  steady_clock::time_point last_byte = steady_clock::now();
  bool opened = false;
  bool too_large = false;
  bool ended_by_handler = false;

  [[nodiscard]] bool streaming() const { return handler != nullptr && status() / 100 == 2; }
  [[nodiscard]] int status() const {
    long code = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &code);
    return static_cast<int>(code);
  }
};

void open_stream(Exchange& exchange) {
  if (exchange.opened || !exchange.streaming()) return;
  exchange.opened = true;
  if (exchange.handler->on_open) exchange.handler->on_open();
}

std::size_t on_body(char* data, std::size_t size, std::size_t count, void* user) {
  auto& exchange = *static_cast<Exchange*>(user);
  const std::string_view bytes(data, size * count);
  exchange.last_byte = steady_clock::now();
  if (exchange.streaming()) {
    open_stream(exchange);
    if (exchange.handler->on_chunk(bytes)) return bytes.size();
    exchange.ended_by_handler = true;
    return CURL_WRITEFUNC_ERROR;
  }
  if (exchange.response.body.size() + bytes.size() > exchange.request->max_response_bytes) {
    exchange.too_large = true;
    return CURL_WRITEFUNC_ERROR;
  }
  exchange.response.body.append(bytes);
  return bytes.size();
}

std::size_t on_header(char* data, std::size_t size, std::size_t count, void* user) {
  auto& exchange = *static_cast<Exchange*>(user);
  exchange.last_byte = steady_clock::now();
  const std::string_view line(data, size * count);
  // The empty line: from here on a watch may be silent for long, but it stands.
  if (line == "\r\n" || line == "\n") open_stream(exchange);
  return line.size();
}

core::Error describe(CURLcode code, const char* details) {
  const std::string text = *details != '\0' ? details : curl_easy_strerror(code);
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
      return {ErrorCode::kTimeout, "no answer in time (" + text + ")", {}};
    case CURLE_PEER_FAILED_VERIFICATION:
      return {ErrorCode::kUnavailable,
              "the server's certificate is not trusted (" + text + "); check the CA and the server's name",
              {}};
    case CURLE_SSL_CACERT_BADFILE:
      return {ErrorCode::kInvalid, "the CA certificates can't be read (" + text + ")", {}};
    case CURLE_SSL_CERTPROBLEM:
      return {ErrorCode::kInvalid, "the client certificate or its key can't be used (" + text + ")", {}};
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
      return {ErrorCode::kUnavailable, "can't connect (" + text + ")", {}};
    default:
      return {ErrorCode::kUnavailable, "the connection broke (" + text + ")", {}};
  }
}

// Drives the transfer to its end.
core::Result<CURLcode> drive(Transfer& transfer, Exchange& exchange) {
  const HttpRequest& request = *exchange.request;
  while (true) {
    if (request.cancellation != nullptr && request.cancellation->cancelled()) {
      return core::fail(ErrorCode::kCancelled, "cancelled");
    }
    int running = 0;
    const auto last_byte = exchange.last_byte;
    if (const CURLMcode code = curl_multi_perform(transfer.multi(), &running); code != CURLM_OK) {
      return core::fail(ErrorCode::kInternal, curl_multi_strerror(code));
    }
    if (running == 0) {
      int left = 0;
      const CURLMsg* message = curl_multi_info_read(transfer.multi(), &left);
      return message != nullptr && message->msg == CURLMSG_DONE ? message->data.result : CURLE_RECV_ERROR;
    }
    if (request.gather.count() > 0 && request.cancellation != nullptr && exchange.last_byte != last_byte) {
      request.cancellation->wait_for(request.gather);
      continue;
    }
    milliseconds wait{1000};
    if (request.idle_timeout.count() > 0) {
      const auto left =
          std::chrono::ceil<milliseconds>(exchange.last_byte + request.idle_timeout - steady_clock::now());
      if (left.count() <= 0) {
        return core::fail(ErrorCode::kTimeout,
                          "nothing came for " + std::to_string(request.idle_timeout.count()) + " ms");
      }
      wait = std::min(wait, left);
    }
    curl_waitfd cancel{};
    cancel.events = CURL_WAIT_POLLIN;
    if (request.cancellation != nullptr) cancel.fd = request.cancellation->fd();
    curl_multi_poll(transfer.multi(), request.cancellation != nullptr ? &cancel : nullptr,
                    request.cancellation != nullptr ? 1 : 0, static_cast<int>(wait.count()), nullptr);
  }
}

}  // namespace

struct HttpClient::State {
  State(HttpClientOptions with, ServerUrl to)
      : options(std::move(with)), url(std::move(to)), pool(options.kept_connections) {}

  const HttpClientOptions options;
  const ServerUrl url;
  TransferPool pool;

  [[nodiscard]] bool takes_tokens() const { return url.https || url.loopback(); }
  core::Result<HttpResponse> exchange(const HttpRequest& request, const StreamHandler* handler);
  core::Result<HttpResponse> run(Transfer& transfer, const HttpRequest& request, const StreamHandler* handler) const;
  core::Result<HeaderList> headers(const HttpRequest& request) const;
  void set_target(CURL* easy, const HttpRequest& request, HeaderList& headers, HeaderList& connect_to) const;
};

core::Result<HeaderList> HttpClient::State::headers(const HttpRequest& request) const {
  HeaderList list;
  std::vector<std::string> lines = request.headers;
  lines.push_back("Accept: " + request.accept);
  if (!request.content_type.empty()) lines.push_back("Content-Type: " + request.content_type);
  lines.emplace_back("Expect:");  // no wait for "100 Continue" before a larger body
  if (!request.bearer_token.empty()) {
    if (has_line_break(request.bearer_token)) {
      return core::fail(ErrorCode::kInvalid, "the bearer token holds a line break");
    }
    if (!takes_tokens()) {
      return core::fail(ErrorCode::kInvalid, "a token is not sent over plain http; use an https:// URL");
    }
    lines.push_back("Authorization: Bearer " + request.bearer_token);
  }
  for (const std::string& line : lines) {
    if (has_line_break(line)) return core::fail(ErrorCode::kInvalid, "a header holds a line break");
    list.add(line);
  }
  return list;
}

void HttpClient::State::set_target(CURL* easy, const HttpRequest& request, HeaderList& headers,
                                   HeaderList& connect_to) const {
  std::string origin = url.origin();
  if (const std::string& name = options.tls.server_name; url.https && !name.empty()) {
    // The name in the URL is what libcurl asks for and checks in TLS; the connection goes to the real host.
    connect_to.add(name + ":" + url.port + ":" + url.host + ":" + url.port);
    headers.add("Host: " + url.host + ":" + url.port);
    set(easy, CURLOPT_CONNECT_TO, connect_to.get());
    origin = "https://" + name + ":" + url.port;
  }
  set(easy, CURLOPT_URL, (origin + url.prefix + request.target).c_str());
}

core::Result<HttpResponse> HttpClient::State::run(Transfer& transfer, const HttpRequest& request,
                                                  const StreamHandler* handler) const {
  CURL* easy = transfer.easy();
  auto list = headers(request);
  if (!list) return tl::unexpected(std::move(list.error()));
  HeaderList connect_to;
  set_target(easy, request, *list, connect_to);

  Exchange exchange{.easy = easy, .request = &request, .handler = handler, .response = {}};
  std::array<char, CURL_ERROR_SIZE> details{};
  set(easy, CURLOPT_ERRORBUFFER, details.data());
  set(easy, CURLOPT_NOSIGNAL, 1L);
  set(easy, CURLOPT_QUICK_EXIT, 1L);  // a cancel does not wait for the thread that looks a name up
  set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  // One stream a connection needs no HTTP/2, whose client in this libcurl had faults in its early 7.88 releases.
  set(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(easy, CURLOPT_FOLLOWLOCATION, 0L);
  set(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(easy, CURLOPT_USERAGENT, options.user_agent.c_str());
  set(easy, CURLOPT_HTTPHEADER, list->get());
  set(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options.connect_timeout.count()));
  set(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(request.deadline.count()));
  set(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  set(easy, CURLOPT_BUFFERSIZE, 256L << 10);
  if (url.loopback() || !options.proxies) set(easy, CURLOPT_NOPROXY, "*");
  if (request.method != HttpMethod::kGet) {
    set(easy, CURLOPT_CUSTOMREQUEST, name_of(request.method));
    if (request.method != HttpMethod::kDelete || !request.body.empty()) {
      set(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
      set(easy, CURLOPT_POSTFIELDS, request.body.c_str());
    }
  }
  if (url.https) set_tls(easy, options.tls);
  set(easy, CURLOPT_WRITEFUNCTION, &on_body);
  set(easy, CURLOPT_WRITEDATA, &exchange);
  set(easy, CURLOPT_HEADERFUNCTION, &on_header);
  set(easy, CURLOPT_HEADERDATA, &exchange);

  curl_multi_add_handle(transfer.multi(), easy);
  auto code = drive(transfer, exchange);
  curl_off_t retry_after = 0;
  curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &retry_after);
  exchange.response.status = exchange.status();
  curl_multi_remove_handle(transfer.multi(), easy);

  if (!code) return tl::unexpected(std::move(code.error()));
  if (exchange.too_large) {
    return core::fail(ErrorCode::kTooLarge,
                      "the answer has more than " + std::to_string(request.max_response_bytes) + " bytes");
  }
  if (*code != CURLE_OK && !exchange.ended_by_handler) return tl::unexpected(describe(*code, details.data()));
  if (retry_after > 0) exchange.response.retry_after = std::chrono::seconds(retry_after);
  return std::move(exchange.response);
}

core::Result<HttpResponse> HttpClient::State::exchange(const HttpRequest& request, const StreamHandler* handler) {
  auto transfer = pool.take();
  if (!transfer->valid()) return core::fail(ErrorCode::kInternal, "no memory for a connection");
  auto result = run(*transfer, request, handler);
  pool.give_back(std::move(transfer));
  if (!result) {
    // Continue tokens and the like in a query tell nobody anything.
    const std::string path = request.target.substr(0, request.target.find('?'));
    result.error().where = std::string(name_of(request.method)) + " " + url.origin() + url.prefix + path;
  }
  return result;
}

HttpClient::HttpClient(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpClient::~HttpClient() = default;

core::Result<std::unique_ptr<HttpClient>> HttpClient::create(HttpClientOptions options) {
  initialise_once();
  auto url = parse_server_url(options.url);
  if (!url) return tl::unexpected(std::move(url.error()));
  return std::unique_ptr<HttpClient>(new HttpClient(std::make_unique<State>(std::move(options), std::move(*url))));
}

bool HttpClient::takes_tokens() const { return state_->takes_tokens(); }

core::Result<HttpResponse> HttpClient::send(const HttpRequest& request) { return state_->exchange(request, nullptr); }

core::Result<HttpResponse> HttpClient::stream(const HttpRequest& request, const StreamHandler& handler) {
  return state_->exchange(request, &handler);
}

}  // namespace berth::net
