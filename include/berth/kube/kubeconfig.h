// How to reach one API server, and as whom: from a kubeconfig file, or from a pod's own service account.
//
// Thread-safe: pure functions over files. Errors are values that name the file and, where known, line and field; none
// holds a credential. Formats: k8s.io/client-go tools/clientcmd/api/v1 (Config), rest.InClusterConfig.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "berth/core/result.h"
#include "berth/net/http_client.h"

namespace berth::kube {

struct ServerAccess {
  std::string server = {};  // URL
  net::TlsOptions tls = {};
  std::string token = {};       // fixed bearer token; empty: none
  std::string token_file = {};  // read again while we run; counts before `token` once it could be read
  std::string ns = {};          // namespace of the context or of our own pod, empty if none is named
};

inline constexpr std::size_t kMaxKubeconfigBytes = 1U << 20U;

// Reads kubeconfig text. `context`: its name, empty for current-context. Relative paths count from `directory`. What we
// can't do (exec plugins, auth providers, user names and passwords, impersonation, proxy-url) is an error that says
// what we can. `name` stands for the text in errors.
core::Result<ServerAccess> parse_kubeconfig(const std::string& text, const std::filesystem::path& directory,
                                            std::string_view context, const std::string& name);

// parse_kubeconfig() of a file. kNotFound if it is not there, kTooLarge above kMaxKubeconfigBytes.
core::Result<ServerAccess> load_kubeconfig(const std::filesystem::path& file, std::string_view context = {});

// Text of a kubeconfig for a server without any more to it. `user`, `cluster`: further entries of these, in YAML's flow
// form.
std::string kubeconfig_for(const std::string& url, const std::string& user = {}, const std::string& cluster = {});

// Where the kubelet puts a pod's service account, and the environment's two variables.
struct InClusterPaths {
  std::filesystem::path directory = "/var/run/secrets/kubernetes.io/serviceaccount";
  std::string host;  // KUBERNETES_SERVICE_HOST
  std::string port;  // KUBERNETES_SERVICE_PORT
  static InClusterPaths from_environment();
};

// kNotFound outside a pod, or in one without a service account token.
core::Result<ServerAccess> load_in_cluster(const InClusterPaths& paths = InClusterPaths::from_environment());

}  // namespace berth::kube
