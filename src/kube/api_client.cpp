#include "berth/kube/api_client.h"

#include <utility>

#include "berth/codec/kubernetes_objects.h"
#include "token_source.h"

namespace berth::kube {
namespace {

using core::ErrorCode;

ErrorCode code_of(int status) {
  switch (status) {
    case 401:
    case 403:
      return ErrorCode::kDenied;
    case 404:
      return ErrorCode::kNotFound;
    case 409:
      return ErrorCode::kConflict;
    case 410:
      return ErrorCode::kGone;
    case 413:
      return ErrorCode::kTooLarge;
    case 429:
      return ErrorCode::kUnavailable;
    default:
      return status >= 400 && status < 500 ? ErrorCode::kInvalid : ErrorCode::kUnavailable;
  }
}

// What the server says: the message of a Status object, or the beginning of whatever a proxy in between wrote.
std::string message_of(const std::string& body) {
  constexpr std::size_t kShown = 200;
  if (!body.empty() && body.front() == '{') {
    // A watch's ERROR event holds the same object, and its reader is the one that knows it.
    std::string event = R"({"type":"ERROR","object":)" + body + "}";
    codec::ObjectReader reader{model::ResourceNames{}};
    if (auto status = reader.read_event<model::Node>(event); status && !status->message.empty()) return status->message;
  }
  std::string text = body.substr(0, kShown);
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7F) c = ' ';
  }
  return text;
}

const char* content_type(PatchType type) {
  switch (type) {
    case PatchType::kJson:
      return "application/json-patch+json";
    case PatchType::kMerge:
      return "application/merge-patch+json";
    case PatchType::kStrategicMerge:
      break;
  }
  return "application/strategic-merge-patch+json";
}

tl::unexpected<ApiError> to_error(const net::HttpResponse& response, const std::string& where) {
  ApiError error;
  error.code = code_of(response.status);
  error.status = response.status;
  error.retry_after = response.retry_after;
  error.where = where;
  const std::string said = message_of(response.body);
  error.message = "the API server answered " + std::to_string(response.status) + (said.empty() ? "" : ": " + said);
  return tl::unexpected(std::move(error));
}

tl::unexpected<ApiError> to_error(core::Error error) {
  ApiError result;
  static_cast<core::Error&>(result) = std::move(error);
  return tl::unexpected(std::move(result));
}

}  // namespace

struct ApiClient::State {
  State(ServerAccess with, const core::Clock& clock, std::unique_ptr<net::HttpClient> client)
      : access(std::move(with)), token(access.token, access.token_file, clock), http(std::move(client)) {}

  ServerAccess access;
  TokenSource token;
  std::unique_ptr<net::HttpClient> http;

  ApiResult<std::string> call(net::HttpRequest request, const CallOptions& options, const net::StreamHandler* handler);
};

ApiResult<std::string> ApiClient::State::call(net::HttpRequest request, const CallOptions& options,
                                              const net::StreamHandler* handler) {
  request.deadline = options.deadline;
  request.idle_timeout = options.idle_timeout;
  request.gather = options.gather;
  request.max_response_bytes = options.max_response_bytes;
  request.cancellation = options.cancellation;
  request.bearer_token = token.current();
  const auto exchange = [&] { return handler != nullptr ? http->stream(request, *handler) : http->send(request); };
  auto response = exchange();
  if (response && response->status == 401) {
    if (std::string fresh = token.refresh(); fresh != request.bearer_token) {
      request.bearer_token = std::move(fresh);
      response = exchange();
    }
  }
  if (!response) return to_error(std::move(response.error()));
  if (response->status / 100 != 2) {
    return to_error(*response, access.server + request.target.substr(0, request.target.find('?')));
  }
  return std::move(response->body);
}

ApiClient::ApiClient(std::unique_ptr<State> state) : state_(std::move(state)) {}
ApiClient::~ApiClient() = default;

core::Result<std::unique_ptr<ApiClient>> ApiClient::create(ServerAccess access, const core::Clock& clock,
                                                           std::size_t kept_connections) {
  auto http = net::HttpClient::create({.url = access.server, .tls = access.tls, .kept_connections = kept_connections});
  if (!http) return tl::unexpected(std::move(http.error()));
  auto state = std::make_unique<State>(std::move(access), clock, std::move(*http));
  if (auto started = state->token.start(); !started) {
    started.error().message = "no token: " + started.error().message;
    return tl::unexpected(std::move(started.error()));
  }
  if (!state->token.current().empty() && !state->http->takes_tokens()) {
    return core::fail(ErrorCode::kInvalid, "a token is not sent over plain http; use an https:// URL",
                      state->access.server);
  }
  return std::unique_ptr<ApiClient>(new ApiClient(std::move(state)));
}

const std::string& ApiClient::server() const { return state_->access.server; }

ApiResult<std::string> ApiClient::get(const std::string& target, const CallOptions& options) {
  return state_->call({.target = target}, options, nullptr);
}

ApiResult<std::string> ApiClient::post(const std::string& target, std::string body, const CallOptions& options) {
  return state_->call(
      {.method = net::HttpMethod::kPost, .target = target, .body = std::move(body), .content_type = "application/json"},
      options, nullptr);
}

ApiResult<std::string> ApiClient::patch(const std::string& target, PatchType type, std::string body,
                                        const CallOptions& options) {
  return state_->call({.method = net::HttpMethod::kPatch,
                       .target = target,
                       .body = std::move(body),
                       .content_type = content_type(type)},
                      options, nullptr);
}

ApiResult<void> ApiClient::stream(const std::string& target, const net::StreamHandler& handler,
                                  const CallOptions& options) {
  auto result = state_->call({.target = target}, options, &handler);
  if (!result) return tl::unexpected(std::move(result.error()));
  return {};
}

}  // namespace berth::kube
