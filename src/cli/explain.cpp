#include "explain.h"

#include <cstdio>

#include "berth/cli/explain_table.h"
#include "berth/codec/admin_json.h"
#include "berth/codec/kubernetes_objects.h"
#include "berth/kube/api_client.h"
#include "berth/kube/kubeconfig.h"
#include "berth/net/http_client.h"
#include "berth/policy/what_if.h"
#include "berth/server/config.h"
#include "berth/state/cluster_state.h"
#include "read_text.h"
#include "report.h"

namespace berth::cli {
namespace {

using core::ErrorCode;
using core::Result;

constexpr std::size_t kMostDumpBytes = std::size_t{1} << 30U;
constexpr std::size_t kMostPodBytes = 16U << 20U;

// A query value, percent-encoded but for what names are made of.
std::string encoded(std::string_view text) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
  std::string out;
  for (const char c : text) {
    if (kPlain.find(c) != std::string_view::npos) {
      out += c;
    } else {
      char hex[4];
      std::snprintf(hex, sizeof hex, "%%%02X", static_cast<unsigned char>(c));
      out += hex;
    }
  }
  return out;
}

// The text of the server's {"error": ...}, or its body where it is none.
core::Error refused(int status, std::string body, const std::string& where) {
  constexpr std::string_view kStart = "{\"error\":\"";
  if (body.starts_with(kStart)) body = body.substr(kStart.size(), body.rfind('"') - kStart.size());
  return {status == 404 ? ErrorCode::kNotFound : ErrorCode::kUnavailable, body.substr(0, 512), where};
}

Result<model::Explanation> ask_server(const ExplainFlags& flags) {
  const std::string target = "/api/v1/explain?pod=" + encoded(flags.pod);
  auto client = net::HttpClient::create({.url = flags.server});
  if (!client) return tl::unexpected(client.error());
  net::HttpRequest request;
  request.target = target;
  const auto answer = (*client)->send(request);
  if (!answer) {
    core::Error error = answer.error();
    error.message += "; is Berth running there? Its first lines name the admin address";
    return tl::unexpected(error);
  }
  if (answer->status != 200) return tl::unexpected(refused(answer->status, answer->body, flags.server));
  return codec::read_explanation(answer->body);
}

Result<model::Explanation> ask_cluster(const ExplainFlags& flags) {
  const auto slash = flags.service.find('/');
  const auto colon = flags.service.rfind(':');
  if (slash == std::string::npos || colon == std::string::npos || colon < slash) {
    return core::fail(ErrorCode::kInvalid, "\"" + flags.service + "\" is not NAMESPACE/NAME:PORT", "--service");
  }
  auto access = kube::load_kubeconfig(flags.kubeconfig, flags.context);
  if (!access) return tl::unexpected(access.error());
  const core::SystemClock clock;
  auto client = kube::ApiClient::create(*std::move(access), clock);
  if (!client) return tl::unexpected(client.error());
  const std::string target = "/api/v1/namespaces/" + encoded(flags.service.substr(0, slash)) + "/services/" +
                             encoded(flags.service.substr(slash + 1)) +
                             "/proxy/api/v1/explain?pod=" + encoded(flags.pod);
  const auto body = (*client)->get(target);
  if (!body) return tl::unexpected<core::Error>(body.error());
  return codec::read_explanation(*body);
}

// The namespace that kubectl would take for a pod that names none.
void complete(model::Pod& pod) {
  if (pod.ns.empty()) {
    pod.ns = "default";
    if (!pod.gang.name.empty()) pod.gang.name.insert(0, pod.ns);
  }
  if (pod.uid.empty()) pod.uid = "what-if";
}

Result<model::Explanation> work_out(const ExplainFlags& flags) {
  server::Config config;
  if (!flags.config.empty()) {
    auto loaded = server::load_config(flags.config);
    if (!loaded) return tl::unexpected(loaded.error());
    config = *std::move(loaded);
  }
  codec::ObjectReader reader(config.resources);
  auto dump_text = read_text(flags.cluster_file, kMostDumpBytes);
  if (!dump_text) return tl::unexpected(dump_text.error());
  auto dump = reader.read_cluster_dump(*dump_text);
  if (!dump) return core::fail(dump.error().code, dump.error().to_string(), flags.cluster_file);
  auto pod_text = read_text(flags.pod_file, kMostPodBytes);
  if (!pod_text) return tl::unexpected(pod_text.error());
  auto pod = reader.read<model::Pod>(*pod_text);
  if (!pod) return core::fail(pod.error().code, pod.error().to_string(), flags.pod_file);
  complete(*pod);

  // A pod that is in the dump must not stand in its own way.
  std::erase_if(dump->pods, [&](const model::Pod& other) { return other.ns == pod->ns && other.name == pod->name; });
  const core::SystemClock clock;
  state::StateOptions options;
  options.link_bandwidths = config.link_bandwidths;
  options.mix = config.mix;
  options.mix.gpu_products = config.policy.gpu_products;
  state::ClusterState state(options, clock);
  codec::push_dump(*std::move(dump), state);
  state.step();
  const auto snapshot = state.snapshots().load();
  auto request = model::make_request(*pod, config.policy);
  model::resolve_claims(request, *snapshot);
  model::apply_policy(request, *snapshot, config.policy);
  const auto names = policy::all_names(*snapshot);
  if (names.empty()) return core::fail(ErrorCode::kInvalid, "has no nodes", flags.cluster_file);
  const auto started = clock.now();
  model::PodDecisions decisions =
      policy::what_if({*snapshot, request, names, 1, clock.wall()}, server::placement_settings(config, false));
  model::Explanation told = model::explain(decisions);
  told.filter_took = std::chrono::duration_cast<std::chrono::microseconds>(clock.now() - started);
  return told;
}

}  // namespace

int explain(const ExplainFlags& flags) {
  const bool offline = !flags.cluster_file.empty();
  if (!offline && flags.pod.find('/') == std::string::npos) {
    return report(kUsage,
                  "name the pod as NAMESPACE/NAME, or give --cluster-file and --pod (see `berth explain --help`)");
  }
  const auto told = offline ? work_out(flags) : flags.kubeconfig.empty() ? ask_server(flags) : ask_cluster(flags);
  if (!told) return report(told.error());
  const std::string text = flags.json ? codec::write_explanation(*told) : explain_table(*told, flags.most);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return kOk;
}

}  // namespace berth::cli
