// The node agent: reads the GPUs of its machine with nvidia-smi and asks the kubelet who holds them, and keeps two
// annotations of its Node in step with that, which Berth reads (docs/agent.md).
//
// It changes nothing on the machine and starts no program but nvidia-smi. Whatever fails is logged once, tried again
// later, and leaves the annotations as they are.
//
// Thread-safe: step() on one thread, or start() once; stop() from any thread.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "berth/core/clock.h"
#include "berth/kube/api_client.h"

namespace berth::agent {

struct AgentOptions {
  std::string node;
  std::string nvidia_smi = "nvidia-smi";  // looked up in PATH unless it has a slash
  std::string pod_resources = "unix:///var/lib/kubelet/pod-resources/kubelet.sock";
  std::filesystem::path sysfs = "/sys";
  std::chrono::milliseconds interval{10'000};          // between questions to the kubelet
  std::chrono::milliseconds machine_interval{60'000};  // between readings of the machine
  std::chrono::milliseconds no_gpu_interval{300'000};  // the same while it has no GPU: a driver may come later
  std::chrono::milliseconds command_deadline{30'000};  // of one nvidia-smi
  std::chrono::milliseconds list_deadline{10'000};     // of one question to the kubelet
  std::chrono::milliseconds write_gap{5'000};          // between two writes of one annotation
  std::chrono::milliseconds check_interval{600'000};   // between two looks whether the annotations are still there
  std::function<double()> random = {};                 // in [0, 1); empty: a generator of its own
  // Waits until the next step; empty: for that long, or until stop().
  std::function<void(std::chrono::milliseconds)> wait = {};
};

class Agent {
 public:
  // `client` null: what would be written is printed on standard output. Both must outlive the agent.
  Agent(AgentOptions options, kube::ApiClient* client, const core::Clock& clock);
  ~Agent();  // stops
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // Does what is due, at first everything. True if all that was tried went well, or if there is no GPU. Not after
  // start().
  bool step();
  // Goes on until stop().
  void start();
  // Returns as soon as the call or the program that is waited for has been broken off.
  void stop();

 private:
  struct Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace berth::agent
