// Bindings as the API server does them (assignPod() of k8s.io/kubernetes pkg/registry/core/pod/storage/storage.go), and
// single pods, for a FakeApiServer.
//
// Thread-safe.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "support/fake_api_server.h"

namespace berth::testing {

class BindingApi {
 public:
  // Answers the server's requests from now on; must outlive it or its requests.
  explicit BindingApi(FakeApiServer& server);

  // Asked before a pod ("NAMESPACE/NAME") is bound, without a lock: may wait, and may answer in place of the binding.
  void before(std::function<std::optional<ApiFault>(const std::string& pod)> hook);
  // The same after it is bound: the answer that is lost.
  void after(std::function<std::optional<ApiFault>(const std::string& pod)> hook);

 private:
  using Hook = std::function<std::optional<ApiFault>(const std::string& pod)>;
  std::optional<ApiFault> answer(const ApiRequest& request);
  ApiFault bind(const std::string& key, const ApiRequest& request);

  FakeApiServer& server_;
  std::mutex mutex_;
  Hook before_;
  Hook after_;
};

}  // namespace berth::testing
