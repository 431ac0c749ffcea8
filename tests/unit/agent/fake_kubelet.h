// A real gRPC server on a socket that answers as the kubelet's PodResources API does.
#pragma once

#include <grpcpp/grpcpp.h>
#include <podresources/api.grpc.pb.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace berth::agent {

struct FakeDevice {
  std::string resource;  // "nvidia.com/gpu"; empty: a claim of the driver gpu.nvidia.com
  std::string id;
};

class FakeKubelet final : public v1::PodResourcesLister::Service {
 public:
  explicit FakeKubelet(std::string socket) : socket_(std::move(socket)) { start(); }
  ~FakeKubelet() override { stop(); }
  FakeKubelet(const FakeKubelet&) = delete;
  FakeKubelet& operator=(const FakeKubelet&) = delete;

  [[nodiscard]] std::string address() const { return "unix://" + socket_; }
  void start() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address(), grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      silent_ = false;
      changed_.notify_all();
    }
    if (server_) server_->Shutdown();
    server_.reset();
  }

  void put(const std::string& ns, const std::string& name, const std::vector<FakeDevice>& devices) {
    const std::lock_guard lock(mutex_);
    v1::PodResources* pod = answer_.add_pod_resources();
    pod->set_namespace_(ns);
    pod->set_name(name);
    v1::ContainerResources* container = pod->add_containers();
    container->set_name("main");
    for (const FakeDevice& device : devices) {
      if (device.resource.empty()) {
        v1::ClaimResource* claim = container->add_dynamic_resources()->add_claim_resources();
        claim->set_driver_name("gpu.nvidia.com");
        claim->set_device_name(device.id);
      } else {
        v1::ContainerDevices* one = container->add_devices();
        one->set_resource_name(device.resource);
        one->add_device_ids(device.id);
      }
    }
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    answer_.Clear();
  }
  // From now on calls get no answer.
  void set_silent() {
    const std::lock_guard lock(mutex_);
    silent_ = true;
  }
  int calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  // Waits until so many calls have come; false after 30 s.
  bool wait_for_calls(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30), [&] { return calls_ >= count; });
  }

 private:
  grpc::Status List(grpc::ServerContext*, const v1::ListPodResourcesRequest*,
                    v1::ListPodResourcesResponse* answer) override {
    std::unique_lock lock(mutex_);
    ++calls_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !silent_; });
    *answer = answer_;
    return grpc::Status::OK;
  }

  const std::string socket_;
  std::mutex mutex_;
  std::condition_variable changed_;
  v1::ListPodResourcesResponse answer_;
  bool silent_ = false;
  int calls_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace berth::agent
