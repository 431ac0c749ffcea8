// `berth agent`: tells Berth of the GPUs of the node that it runs on.
#pragma once

#include <optional>
#include <string>

namespace berth::cli {

struct AgentFlags {
  std::string node;
  std::string kubeconfig;
  std::string context;
  bool in_cluster = false;
  std::string nvidia_smi = "nvidia-smi";
  std::string pod_resources = "unix:///var/lib/kubelet/pod-resources/kubelet.sock";
  std::string interval = "10s";
  std::string machine_interval = "1m";
  bool once = false;
  bool dry_run = false;
  std::optional<std::string> log_level;
};

int agent(const AgentFlags& flags);

}  // namespace berth::cli
