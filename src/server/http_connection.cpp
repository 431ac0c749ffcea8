#include "http_connection.h"

#include <httplib.h>
#include <spdlog/spdlog.h>

#include <exception>
#include <new>
#include <optional>

#include "berth/codec/extender_response.h"

namespace berth::server {
namespace {

using std::chrono::milliseconds;

// How long an unused read buffer is kept: longer than the gap between the Filter and Prioritize calls of a busy
// scheduler, shorter than what makes idle connections cost memory.
constexpr milliseconds kKeepBuffer{1'000};
// A refused body up to this size is read and dropped, so that the connection can go on.
constexpr std::uint64_t kCheapDiscard = std::uint64_t{1} << 20U;
constexpr milliseconds kLinger{2'000};

HttpFailure failure_of(int status) {
  switch (status) {
    case 404:
      return HttpFailure::kNotFound;
    case 405:
      return HttpFailure::kMethod;
    case 408:
      return HttpFailure::kTimeout;
    case 413:
      return HttpFailure::kTooLarge;
    case 500:
      return HttpFailure::kHandler;
    case 503:
      return HttpFailure::kBodiesFull;
    default:
      return HttpFailure::kMalformed;
  }
}

// Gives cpp-httplib the head that we have read and checked, and joins the two writes of an answer (head, then body)
// into one.
class CheckedStream final : public httplib::Stream {
 public:
  CheckedStream(std::string head, const HttpSocket& socket, milliseconds write_timeout)
      : head_(std::move(head)), socket_(socket), write_timeout_(write_timeout) {}

  bool is_readable() const override { return true; }
  bool is_writable() const override { return true; }
  ssize_t read(char* into, size_t size) override {
    const std::size_t got = head_.copy(into, size, at_);
    at_ += got;
    return static_cast<ssize_t>(got);
  }
  ssize_t write(const char* from, size_t size) override {
    if (failed_) return -1;
    if (waiting_.empty()) {
      waiting_.assign(from, size);
    } else {
      send({from, size});
    }
    return failed_ ? -1 : static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string&, int& port) const override { port = 0; }
  void get_local_ip_and_port(std::string&, int& port) const override { port = 0; }
  // The library refuses to serve descriptors of FD_SETSIZE (1,024) and more, which select() can't watch; it watches
  // none of ours.
  socket_t socket() const override { return 0; }

  // Sends what still waits; false if the answer could not be sent.
  bool finish() {
    if (!failed_ && !waiting_.empty()) send({});
    return !failed_;
  }

 private:
  void send(std::string_view body) {
    failed_ = !socket_.write(waiting_, body, std::chrono::steady_clock::now() + write_timeout_);
    waiting_.clear();
  }

  const std::string head_;
  const HttpSocket& socket_;
  const milliseconds write_timeout_;
  std::size_t at_ = 0;
  std::string waiting_;
  bool failed_ = false;
};

// The connection loop. cpp-httplib decodes the target and its parameters and writes the answers; each request reaches
// it through the hooks below, and neither its routing, its body readers nor its sockets and threads are used.
class Connection final : private httplib::Server {
 public:
  Connection(HttpShared& shared, const HttpSocket& socket) : shared_(shared), socket_(socket), reader_(socket) {
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      answer(request, response);
      return HandlerResponse::Handled;
    });
    // After the library has said what it thinks of keeping the connection.
    set_post_routing_handler([this](const httplib::Request&, httplib::Response& response) {
      response.headers.erase("Keep-Alive");
      response.headers.erase("Connection");
      response.headers.erase("EXCEPTION_WHAT");
      if (unread_ || shared_.draining.load()) keep_ = false;
      if (!keep_) {
        response.set_header("Connection", "close");
      } else if (head_.http_1_0) {
        response.set_header("Connection", "keep-alive");
      }
    });
  }

  void run() {
    while (wait_for_request() && serve_request()) {
    }
    if (linger_) socket_.linger(kLinger);
  }

 private:
  bool wait_for_request() {
    if (reader_.has_bytes()) return true;
    const milliseconds keep_alive = shared_.options.keep_alive;
    const milliseconds first = std::min(kKeepBuffer, keep_alive);
    if (socket_.wait_idle(first)) return true;
    reader_.release_buffer();
    return keep_alive > first && !shared_.draining.load() && socket_.wait_idle(keep_alive - first);
  }

  // False when the connection is over.
  bool serve_request() {
    deadline_ = std::chrono::steady_clock::now() + shared_.options.body_timeout;
    refusal_.reset();
    allow_.clear();
    after_ = nullptr;
    head_ = {};
    keep_ = false;
    unread_ = true;
    const auto head = reader_.read_head(deadline_);
    if (!head && head.error().status == 0) return false;
    if (!head) {
      refusal_ = head.error();
    } else if (auto parsed = parse_head(*head)) {
      head_ = std::move(*parsed);
      keep_ = head_.keep_alive;
      unread_ = head_.chunked || head_.content_length > 0;
    } else {
      refusal_ = parsed.error();
    }
    // What was not understood is not handed on: the library answers a stand-in request with the refusal.
    const std::string checked =
        refusal_ ? "GET / HTTP/1.1\r\n\r\n" : head_.method + ' ' + head_.target + " HTTP/1.1\r\n\r\n";

    CheckedStream stream(checked, socket_, shared_.options.body_timeout);
    bool closed = false;
    // Charged from the first byte of the body until the answer is sent.
    BodyShare share(shared_.budget);
    share_ = &share;
    const bool served = process_request(stream, false, closed, nullptr);
    const bool sent = stream.finish() && served;
    linger_ = unread_;
    if (sent && after_) run_after();
    return sent && keep_ && !unread_;
  }

  // Nothing gets out of here: the library would answer by itself and take the connection to be in order.
  void answer(const httplib::Request& request, httplib::Response& response) {
    try {
      put(respond(request), response);
    } catch (const std::bad_alloc&) {
      shared_.count(HttpFailure::kMemory);
      keep_ = false;
      put({503, R"({"error":"out of memory, try again"})"}, response);
    } catch (const std::exception& thrown) {
      shared_.count(HttpFailure::kHandler);
      keep_ = false;
      spdlog::error("{}: a request failed: {}", shared_.options.name, thrown.what());
      put({500, R"({"error":"internal error"})"}, response);
    }
  }

  void put(HttpResponse result, httplib::Response& response) {
    response.status = result.status;
    response.body = std::move(result.body);
    response.headers.clear();
    // Never a bare application/json: the library would compress it, at three times the latency.
    response.set_header("Content-Type", result.content_type);
    if (!allow_.empty()) response.set_header("Allow", allow_);
    after_ = std::move(result.after);
  }

  HttpResponse respond(const httplib::Request& request) {
    if (refusal_) return refused(*refusal_);
    const HttpRoute* route = shared_.routes.find(request.path);
    if (route == nullptr) return refused_with_body({404, "no such path"});
    const HttpHandler* handler = route->find(request.method);
    if (handler == nullptr) {
      allow_ = route->allowed();
      return refused_with_body({405, "method not allowed, use " + allow_});
    }
    if (request.method != "POST") {
      drop_body();
      return call(*handler, request, {});
    }
    if (head_.expects_continue && head_.content_length <= shared_.options.max_body_bytes && !reader_.has_bytes() &&
        !socket_.write("HTTP/1.1 100 Continue\r\n\r\n", {}, deadline_)) {
      keep_ = false;
    }
    auto body = reader_.read_body(head_, shared_.options.max_body_bytes, *share_, deadline_);
    if (!body) return refused(body.error());
    unread_ = false;
    return call(*handler, request, std::move(*body));
  }

  HttpResponse call(const HttpHandler& handler, const httplib::Request& request, std::string body) {
    HttpRequest given;
    given.path = request.path;
    given.body = std::move(body);
    given.query = [&request](std::string_view name) { return request.get_param_value(std::string(name)); };
    try {
      return handler(given);
    } catch (const std::exception& thrown) {
      spdlog::error("{}: handler of {} failed: {}", shared_.options.name, request.path, thrown.what());
    } catch (...) {
      spdlog::error("{}: handler of {} failed", shared_.options.name, request.path);
    }
    return refused({500, "internal error"});
  }

  HttpResponse refused(const HttpRefusal& refusal) {
    shared_.count(failure_of(refusal.status));
    HttpResponse response;
    response.status = refusal.status;
    codec::write_error(response.body, refusal.message);
    return response;
  }

  // Refuses a request whose body is still to come.
  HttpResponse refused_with_body(const HttpRefusal& refusal) {
    drop_body();
    return refused(refusal);
  }

  // Takes a body that nobody wants out of the connection, where that is cheap.
  void drop_body() {
    if (head_.chunked || head_.expects_continue || head_.content_length > kCheapDiscard) return;
    unread_ = !reader_.discard(head_.content_length, deadline_);
  }

  void run_after() {
    try {
      after_();
    } catch (const std::exception& thrown) {
      shared_.count(HttpFailure::kHandler);
      spdlog::error("{}: work after an answer failed: {}", shared_.options.name, thrown.what());
    }
  }

  HttpShared& shared_;
  const HttpSocket& socket_;
  RequestReader reader_;
  bool linger_ = false;

  // Of the request being served.
  core::SteadyTime deadline_;
  RequestHead head_;
  std::optional<HttpRefusal> refusal_;
  BodyShare* share_ = nullptr;
  std::string allow_;
  std::function<void()> after_;
  bool keep_ = false;
  bool unread_ = false;  // what is in the connection may be the rest of this request: it must not be read as the next
};

}  // namespace

void serve_connection(HttpShared& shared, const HttpSocket& socket) { Connection(shared, socket).run(); }

std::string_view busy_answer() {
  static constexpr std::string_view kAnswer =
      "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 32\r\n"
      "Content-Type: application/json; charset=utf-8\r\n\r\n{\"error\":\"too many connections\"}";
  return kAnswer;
}

std::string_view to_string(HttpFailure failure) {
  switch (failure) {
    case HttpFailure::kMalformed:
      return "malformed";
    case HttpFailure::kNotFound:
      return "not_found";
    case HttpFailure::kMethod:
      return "method";
    case HttpFailure::kTooLarge:
      return "too_large";
    case HttpFailure::kTimeout:
      return "timeout";
    case HttpFailure::kBodiesFull:
      return "bodies_full";
    case HttpFailure::kConnectionsFull:
      return "connections_full";
    case HttpFailure::kHandler:
      return "handler";
    case HttpFailure::kMemory:
      return "memory";
  }
  return "";
}

}  // namespace berth::server
