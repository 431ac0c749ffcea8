// A kubeconfig for one server, as text.
#pragma once

#include <string>

namespace berth::tests {

// `cluster` and `user`: further entries of the two, in YAML's flow form.
inline std::string kubeconfig(const std::string& url, const std::string& user = {}, const std::string& cluster = {}) {
  const std::string more = cluster.empty() ? "" : ", " + cluster;
  return "apiVersion: v1\nkind: Config\ncurrent-context: test\n"
         "contexts: [{name: test, context: {cluster: test, user: test}}]\n"
         "clusters: [{name: test, cluster: {server: '" +
         url + "'" + more + "}}]\nusers: [{name: test, user: {" + user + "}}]\n";
}

}  // namespace berth::tests
