// `berth explain`: why a pod went where it went, from a running Berth or worked out on a dump.
#pragma once

#include <cstddef>
#include <string>

namespace berth::cli {

struct ExplainFlags {
  std::string pod;  // NAMESPACE/NAME; empty with pod_file
  std::string server = "http://127.0.0.1:8901";
  std::string kubeconfig;  // not empty: through the API server's service proxy
  std::string context;
  std::string service = "berth/berth:admin";  // NAMESPACE/NAME:PORT, with kubeconfig
  std::string cluster_file;                   // not empty: offline
  std::string pod_file;
  std::string config;
  bool json = false;
  std::size_t most = 16;  // candidates in the table
};

int explain(const ExplainFlags& flags);

}  // namespace berth::cli
