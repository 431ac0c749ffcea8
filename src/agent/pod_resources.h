// Asks the kubelet which pod holds which devices: its PodResources API, on a socket of the node.
//
// API: podresources/v1 of k8s.io/kubelet. Each call that fails ends the connection, and the next one makes a new one:
// the kubelet makes its socket anew when it starts.
//
// Thread-safe: list() on one thread, cancel() on any.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "berth/core/result.h"

namespace berth::agent {

struct PodDevices {
  std::string ns;
  std::string pod;
  std::vector<std::string> devices;  // IDs, as the device plugin has them
  std::vector<std::string> claimed;  // names of devices of DRA's driver for GPUs
  friend bool operator==(const PodDevices&, const PodDevices&) = default;
};

class PodResources {
 public:
  // `address`: "unix:///var/lib/kubelet/pod-resources/kubelet.sock".
  explicit PodResources(std::string address);
  ~PodResources();
  PodResources(const PodResources&) = delete;
  PodResources& operator=(const PodResources&) = delete;

  // The pods that hold GPUs or partitions of NVIDIA's, by extended resource or by claims of the driver gpu.nvidia.com.
  // kUnavailable if the kubelet doesn't listen, kTimeout, kDenied, kTooLarge above 16 MiB; kCancelled after cancel().
  core::Result<std::vector<PodDevices>> list(std::chrono::milliseconds deadline);
  // Ends a call that is being made, and all later ones.
  void cancel();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace berth::agent
