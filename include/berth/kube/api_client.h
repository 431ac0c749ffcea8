// An authenticated client for one Kubernetes API server.
//
// Thread-safe: any number of calls at once. Errors say what the server said (message of the Status object):
// kDenied (401, 403), kNotFound, kConflict, kGone (410), kUnavailable (429, 5xx, no connection), kTimeout, kInvalid
// (other 4xx), kCancelled, kTooLarge. A token file is read again every minute, because the kubelet rotates it, and at
// once after a 401, with which the call is then made once more. Nothing is retried beyond that.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "berth/core/clock.h"
#include "berth/core/result.h"
#include "berth/kube/kubeconfig.h"
#include "berth/net/http_client.h"

namespace berth::kube {

struct ApiError : core::Error {
  int status = 0;                                   // HTTP; 0 without an answer
  std::optional<std::chrono::seconds> retry_after;  // as the server asks, with 429 and 503
};
template <class T>
using ApiResult = tl::expected<T, ApiError>;

enum class PatchType { kJson, kMerge, kStrategicMerge };

struct CallOptions {
  std::chrono::milliseconds deadline{30'000};  // 0: none
  std::chrono::milliseconds idle_timeout{0};   // longest silence of the server; 0: any
  std::chrono::milliseconds gather{0};         // as net::HttpRequest
  std::size_t max_response_bytes = 64U << 20U;
  const net::Cancellation* cancellation = nullptr;
};

class ApiClient {
 public:
  // An error is one that waiting would not mend: a URL or token that can't be used, a token that would go to another
  // machine over plain http, a token file that can't be read where there is no other token. Does not connect. `clock`
  // must outlive the client. So many idle connections are kept: a burst of more calls opens more, which costs TLS
  // handshakes.
  static core::Result<std::unique_ptr<ApiClient>> create(ServerAccess access, const core::Clock& clock,
                                                         std::size_t kept_connections = 8);
  ~ApiClient();
  ApiClient(const ApiClient&) = delete;
  ApiClient& operator=(const ApiClient&) = delete;

  // `target` is path and query. The result is the body.
  ApiResult<std::string> get(const std::string& target, const CallOptions& options = {});
  ApiResult<std::string> post(const std::string& target, std::string body, const CallOptions& options = {});
  ApiResult<std::string> patch(const std::string& target, PatchType type, std::string body,
                               const CallOptions& options = {});
  // Hands the body on as it comes, until the server or the handler ends it.
  ApiResult<void> stream(const std::string& target, const net::StreamHandler& handler, const CallOptions& options = {});

  [[nodiscard]] const std::string& server() const;  // URL, for messages

 private:
  struct State;
  explicit ApiClient(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace berth::kube
