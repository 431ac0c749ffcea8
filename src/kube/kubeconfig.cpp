#include "berth/kube/kubeconfig.h"

#include <yaml-cpp/yaml.h>

#include <cstdlib>
#include <new>
#include <optional>
#include <utility>

#include "base64.h"
#include "small_file.h"
#include "token_source.h"
#include "yaml_fields.h"

namespace berth::kube {
namespace {

using core::ErrorCode;
using core::Result;
using std::filesystem::path;

constexpr std::string_view kSupported =
    "; supported are token, tokenFile, and client-certificate(-data) with client-key(-data)";

// The mapping called `inner` of the entry of `list` whose name is `name`.
Result<YamlFields> named_entry(const YamlFields& top, const std::string& file, std::string_view list,
                               std::string_view inner, const std::string& name) {
  const YAML::Node entries = top.node(list);
  if (!entries.IsNull() && !entries.IsSequence()) return top.invalid(list, "must be a list");
  std::optional<YamlFields> found;
  std::size_t index = 0;
  for (const auto& entry : entries) {
    const std::string what = std::string(list) + "[" + std::to_string(index++) + "]";
    auto fields = YamlFields::of(entry, file, what);
    if (!fields) return fields;
    const auto entry_name = fields->text("name");
    if (!entry_name) return tl::unexpected(entry_name.error());
    if (*entry_name != name) continue;
    if (found) return fields->invalid("name", "\"" + name + "\" is given twice");
    auto content = YamlFields::of(fields->node(inner), file, what + "." + std::string(inner));
    if (!content) return content;
    found = std::move(*content);
  }
  if (!found) {
    return core::fail(ErrorCode::kNotFound, std::string(list) + " has no entry named \"" + name + "\"", file);
  }
  return std::move(*found);
}

// A file's path and PEM text of a pair of keys such as client-key and client-key-data.
Result<void> read_pem(const YamlFields& fields, const std::string& key, const path& directory, std::string& file,
                      std::string& pem) {
  const auto data = fields.text(key + "-data");
  if (!data) return tl::unexpected(data.error());
  if (!data->empty()) {
    auto decoded = decode_base64(*data);
    if (!decoded || decoded->find("-----BEGIN") == std::string::npos) {
      return fields.invalid(key + "-data", "must be base64 of PEM text");
    }
    pem = std::move(*decoded);
    return {};
  }
  const auto name = fields.text(key);
  if (!name) return tl::unexpected(name.error());
  if (name->empty()) return {};
  file = (directory / *name).lexically_normal().string();
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) {
    return fields.invalid(key, "names a file that does not exist or is none: " + file);
  }
  return {};
}

Result<void> read_cluster(const YamlFields& cluster, const path& directory, ServerAccess& access) {
  const auto server = cluster.text("server");
  if (!server) return tl::unexpected(server.error());
  if (server->empty()) return cluster.invalid("server", "is missing");
  access.server = *server;
  if (cluster.has("proxy-url")) {
    return cluster.invalid("proxy-url", "is not supported; set HTTPS_PROXY in the environment instead");
  }
  const auto skip_verify = cluster.flag("insecure-skip-tls-verify");
  if (!skip_verify) return tl::unexpected(skip_verify.error());
  access.tls.verify = !*skip_verify;
  if (auto ca = read_pem(cluster, "certificate-authority", directory, access.tls.ca_file, access.tls.ca_pem); !ca) {
    return ca;
  }
  if (!access.tls.verify && !(access.tls.ca_file.empty() && access.tls.ca_pem.empty())) {
    return cluster.invalid("insecure-skip-tls-verify", "can't go together with a certificate-authority");
  }
  auto name = cluster.text("tls-server-name");
  if (!name) return tl::unexpected(name.error());
  access.tls.server_name = std::move(*name);
  return {};
}

Result<void> read_user(const YamlFields& user, const path& directory, ServerAccess& access) {
  for (const char* key :
       {"exec", "auth-provider", "username", "password", "as", "as-uid", "as-groups", "as-user-extra"}) {
    if (user.has(key)) return user.invalid(key, "is not supported" + std::string(kSupported));
  }
  auto token = user.text("token");
  if (!token) return tl::unexpected(token.error());
  if (!token->empty() && !is_token(*token)) return user.invalid("token", "must be one line of visible ASCII");
  access.token = std::move(*token);
  const auto token_file = user.text("tokenFile");
  if (!token_file) return tl::unexpected(token_file.error());
  if (!token_file->empty()) access.token_file = (directory / *token_file).lexically_normal().string();

  net::TlsOptions& tls = access.tls;
  if (auto read =
          read_pem(user, "client-certificate", directory, tls.client_certificate_file, tls.client_certificate_pem);
      !read) {
    return read;
  }
  if (auto read = read_pem(user, "client-key", directory, tls.client_key_file, tls.client_key_pem); !read) return read;
  const bool has_certificate = !tls.client_certificate_file.empty() || !tls.client_certificate_pem.empty();
  const bool has_key = !tls.client_key_file.empty() || !tls.client_key_pem.empty();
  if (has_certificate != has_key) {
    return user.invalid(has_key ? "client-key" : "client-certificate",
                        has_key ? "needs a client-certificate" : "needs a client-key");
  }
  return {};
}

Result<ServerAccess> read_document(const YAML::Node& document, const path& directory, std::string_view context_name,
                                   const std::string& file) {
  const auto top = YamlFields::of(document, file, "");
  if (!top) return tl::unexpected(top.error());
  const auto kind = top->text("kind");
  if (!kind) return tl::unexpected(kind.error());
  if (!kind->empty() && *kind != "Config") return top->invalid("kind", "must be Config");

  auto name = context_name.empty() ? top->text("current-context") : Result<std::string>(std::string(context_name));
  if (!name) return tl::unexpected(name.error());
  if (name->empty()) return core::fail(ErrorCode::kInvalid, "no current-context is set; name a context", file);
  const auto context = named_entry(*top, file, "contexts", "context", *name);
  if (!context) return tl::unexpected(context.error());
  const auto cluster_name = context->text("cluster");
  if (!cluster_name) return tl::unexpected(cluster_name.error());
  const auto user_name = context->text("user");
  if (!user_name) return tl::unexpected(user_name.error());
  const auto ns = context->text("namespace");
  if (!ns) return tl::unexpected(ns.error());

  ServerAccess access;
  access.ns = *ns;
  const auto cluster = named_entry(*top, file, "clusters", "cluster", *cluster_name);
  if (!cluster) return tl::unexpected(cluster.error());
  if (auto read = read_cluster(*cluster, directory, access); !read) return tl::unexpected(read.error());
  if (user_name->empty()) return access;  // `kubectl proxy` needs none
  const auto user = named_entry(*top, file, "users", "user", *user_name);
  if (!user) return tl::unexpected(user.error());
  if (auto read = read_user(*user, directory, access); !read) return tl::unexpected(read.error());
  return access;
}

}  // namespace

Result<ServerAccess> parse_kubeconfig(const std::string& text, const path& directory, std::string_view context,
                                      const std::string& name) {
  if (text.size() > kMaxKubeconfigBytes) {
    return core::fail(ErrorCode::kTooLarge, "it has more than " + std::to_string(kMaxKubeconfigBytes) + " bytes", name);
  }
  try {
    return read_document(YAML::Load(text), directory, context, name);
  } catch (const YAML::Exception& exception) {
    // yaml-cpp's text quotes nothing but its own words.
    return core::fail(ErrorCode::kInvalid, "not YAML: " + exception.msg, place(name, exception.mark));
  } catch (const std::bad_alloc&) {
    return core::fail(ErrorCode::kTooLarge, "it takes too much memory", name);
  }
}

std::string kubeconfig_for(const std::string& url, const std::string& user, const std::string& cluster) {
  const std::string more = cluster.empty() ? "" : ", " + cluster;
  return "apiVersion: v1\nkind: Config\ncurrent-context: only\n"
         "contexts: [{name: only, context: {cluster: only, user: only}}]\n"
         "clusters: [{name: only, cluster: {server: '" +
         url + "'" + more + "}}]\nusers: [{name: only, user: {" + user + "}}]\n";
}

Result<ServerAccess> load_kubeconfig(const path& file, std::string_view context) {
  const auto text = read_small_file(file, kMaxKubeconfigBytes);
  if (!text) return tl::unexpected(text.error());
  return parse_kubeconfig(*text, std::filesystem::absolute(file).parent_path(), context, file.string());
}

InClusterPaths InClusterPaths::from_environment() {
  InClusterPaths paths;
  if (const char* host = std::getenv("KUBERNETES_SERVICE_HOST")) paths.host = host;
  if (const char* port = std::getenv("KUBERNETES_SERVICE_PORT")) paths.port = port;
  return paths;
}

Result<ServerAccess> load_in_cluster(const InClusterPaths& paths) {
  if (paths.host.empty() || paths.port.empty()) {
    return core::fail(ErrorCode::kNotFound,
                      "not in a pod: KUBERNETES_SERVICE_HOST or KUBERNETES_SERVICE_PORT is not set; use a kubeconfig");
  }
  ServerAccess access;
  const bool ipv6 = paths.host.find(':') != std::string::npos;
  access.server = "https://" + (ipv6 ? "[" + paths.host + "]" : paths.host) + ":" + paths.port;
  access.token_file = (paths.directory / "token").string();
  access.tls.ca_file = (paths.directory / "ca.crt").string();
  for (const std::string& file : {access.token_file, access.tls.ca_file}) {
    if (auto text = read_small_file(file, kMaxTokenBytes); !text) {
      text.error().message += "; is automountServiceAccountToken off?";
      return tl::unexpected(text.error());
    }
  }
  if (const auto ns = read_small_file(paths.directory / "namespace", 1024)) access.ns = *ns;
  return access;
}

}  // namespace berth::kube
