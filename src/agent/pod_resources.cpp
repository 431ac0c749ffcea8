#include "pod_resources.h"

#include <grpcpp/grpcpp.h>
#include <podresources/api.grpc.pb.h>

#include <mutex>
#include <string_view>
#include <utility>

namespace berth::agent {
namespace {

using core::ErrorCode;

constexpr int kMostAnswerBytes = 16 << 20;
// "nvidia.com/gpu", "nvidia.com/gpu.shared", "nvidia.com/mig-1g.5gb"; not NICs, which have such names too.
constexpr std::string_view kGpus = "nvidia.com/gpu";
constexpr std::string_view kPartitions = "nvidia.com/mig-";
constexpr std::string_view kDriver = "gpu.nvidia.com";

ErrorCode code_of(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return ErrorCode::kTimeout;
    case grpc::StatusCode::CANCELLED:
      return ErrorCode::kCancelled;
    case grpc::StatusCode::PERMISSION_DENIED:
    case grpc::StatusCode::UNAUTHENTICATED:
      return ErrorCode::kDenied;
    case grpc::StatusCode::RESOURCE_EXHAUSTED:  // the message is too large, or the kubelet is asked too often
      return ErrorCode::kTooLarge;
    default:
      return ErrorCode::kUnavailable;
  }
}

PodDevices devices_of(const v1::PodResources& pod) {
  PodDevices found{pod.namespace_(), pod.name(), {}, {}};
  for (const auto& container : pod.containers()) {
    for (const auto& devices : container.devices()) {
      const std::string& resource = devices.resource_name();
      if (!resource.starts_with(kGpus) && !resource.starts_with(kPartitions)) continue;
      found.devices.insert(found.devices.end(), devices.device_ids().begin(), devices.device_ids().end());
    }
    for (const auto& claim : container.dynamic_resources()) {
      for (const auto& device : claim.claim_resources()) {
        if (device.driver_name() == kDriver) found.claimed.push_back(device.device_name());
      }
    }
  }
  return found;
}

}  // namespace

struct PodResources::State {
  std::string address;
  std::unique_ptr<v1::PodResourcesLister::Stub> stub;  // null: not connected

  std::mutex mutex;
  bool cancelled = false;
  grpc::ClientContext* call = nullptr;  // that is being made
};

PodResources::PodResources(std::string address) : state_(std::make_unique<State>()) {
  state_->address = std::move(address);
}

PodResources::~PodResources() = default;

core::Result<std::vector<PodDevices>> PodResources::list(std::chrono::milliseconds deadline) {
  if (!state_->stub) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(kMostAnswerBytes);
    // Not one that another object has made, with its waits between attempts.
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    state_->stub = v1::PodResourcesLister::NewStub(
        grpc::CreateCustomChannel(state_->address, grpc::InsecureChannelCredentials(), arguments));
  }
  grpc::ClientContext call;
  call.set_deadline(std::chrono::system_clock::now() + deadline);
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->cancelled) return core::fail(ErrorCode::kCancelled, "stopping");
    state_->call = &call;
  }
  v1::ListPodResourcesResponse answer;
  const grpc::Status status = state_->stub->List(&call, {}, &answer);
  {
    const std::lock_guard lock(state_->mutex);
    state_->call = nullptr;
  }
  if (!status.ok()) {
    state_->stub.reset();
    return core::fail(code_of(status.error_code()), status.error_message().substr(0, 512), state_->address);
  }
  std::vector<PodDevices> pods;
  for (const auto& pod : answer.pod_resources()) {
    PodDevices found = devices_of(pod);
    if (!found.devices.empty() || !found.claimed.empty()) pods.push_back(std::move(found));
  }
  return pods;
}

void PodResources::cancel() {
  const std::lock_guard lock(state_->mutex);
  state_->cancelled = true;
  if (state_->call != nullptr) state_->call->TryCancel();
}

}  // namespace berth::agent
