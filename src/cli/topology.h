// `berth topology`: what `nvidia-smi topo -m` says of a machine, and its best sets of GPUs.
#pragma once

#include <string>

namespace berth::cli {

struct TopologyFlags {
  std::string file;  // "-": standard input
  std::string format = "table";
  std::string config;  // for the bandwidths
};

int topology(const TopologyFlags& flags);

}  // namespace berth::cli
