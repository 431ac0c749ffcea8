// Binds pods as kube-scheduler asks for it: gives them their GPUs and makes the one call to the API server.
//
// Thread-safe; bind() waits for the API server on the caller's thread, and for nobody else. What it answers is an error
// text, empty for a pod that is bound: kube-scheduler tries a pod again from the start after any error.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "berth/codec/bind.h"
#include "berth/control/bind_book.h"
#include "berth/control/counters.h"
#include "berth/control/waiting_pods.h"
#include "berth/kube/api_client.h"
#include "berth/model/pod.h"
#include "berth/net/cancellation.h"

namespace berth::control {

struct BinderOptions {
  std::chrono::milliseconds timeout{3'000};  // of all calls, below kube-scheduler's httpTimeout (5 s)
  bool hami_annotations = false;             // writes those of HAMi, too
  policy::Settings settings = {};
  model::PodDefaults defaults = {};
  model::ResourceNames resources = {};
};

struct BindOutcome {
  BindResult result = BindResult::kBound;
  std::string error;                   // empty if the pod is bound
  std::chrono::nanoseconds api{0};     // of the time, spent waiting for the API server
  model::GpuPlacement placement = {};  // what it gets
};

class Binder {
 public:
  // What Filter was told of the pod, if it was asked; may be called from any thread.
  using FindRequest = std::function<std::optional<model::PodRequest>(const codec::BindRequest&)>;

  // The references must outlive it. `state` is told of promises and failures.
  Binder(BinderOptions options, kube::ApiClient& client, const core::SnapshotCell<model::Snapshot>& snapshots,
         model::UpdateSink& state, const WaitingPods& waiting, FindRequest find, const core::Clock& clock);
  ~Binder();  // stops
  Binder(const Binder&) = delete;
  Binder& operator=(const Binder&) = delete;

  BindOutcome bind(const codec::BindRequest& request);

  // A thread that forgets what is over.
  void start();
  void stop();
  [[nodiscard]] BindBook& book() { return book_; }

 private:
  struct Answer {
    BindResult result = BindResult::kBound;
    std::string error;
  };

  [[nodiscard]] core::Result<model::PodRequest> request_of(const codec::BindRequest& request, BindOutcome& outcome);
  using Call = std::function<kube::ApiResult<std::string>(const kube::CallOptions& options)>;
  [[nodiscard]] kube::ApiResult<std::string> call(BindOutcome& outcome, const Call& what);
  [[nodiscard]] Answer answer_of(const codec::BindRequest& request, const kube::ApiResult<std::string>& result,
                                 BindOutcome& outcome);
  void settle(const codec::BindRequest& request, const model::PodRequest& pod, const kube::ApiResult<std::string>& told,
              BindResult result);

  const BinderOptions options_;
  kube::ApiClient& client_;
  const core::SnapshotCell<model::Snapshot>& snapshots_;
  model::UpdateSink& state_;
  const WaitingPods& waiting_;
  const FindRequest find_;
  const core::Clock& clock_;
  BindBook book_;
  net::Cancellation stopping_;
  std::thread thread_;
};

}  // namespace berth::control
