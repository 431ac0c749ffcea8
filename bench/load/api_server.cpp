#include "api_server.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "berth/kube/watch_server.h"
#include "pacer.h"

namespace berth::bench {
namespace {

constexpr std::size_t kStreamPods = 400;  // bound at any time
constexpr std::chrono::seconds kBookmarkGap{30};

struct Resource {
  std::string_view path;
  std::string_view kind;
};
enum : std::size_t { kNodes, kPods, kClaims, kDatasetObjects };
constexpr std::array<Resource, 4> kResources = {{{"/api/v1/nodes", "Node"},
                                                 {"/api/v1/pods", "Pod"},
                                                 {"/api/v1/persistentvolumeclaims", "PersistentVolumeClaim"},
                                                 {"/apis/data.fluid.io/v1alpha1/datasets", "Dataset"}}};
constexpr std::string_view kFluidGroup = "/apis/data.fluid.io/v1alpha1";
constexpr std::string_view kFluidResources =
    R"({"kind":"APIResourceList","apiVersion":"v1","groupVersion":"data.fluid.io/v1alpha1","resources":[)"
    R"({"name":"datasets","singularName":"dataset","namespaced":true,"kind":"Dataset","verbs":["get","list","watch"]}]})";

// Those of kResources that can be watched, in their order.
std::vector<std::string> watched_paths(bool datasets) {
  std::vector<std::string> paths;
  for (const Resource& resource : kResources) paths.emplace_back(resource.path);
  if (!datasets) paths.pop_back();
  return paths;
}

}  // namespace

struct ApiServer::State {
  State(const GeneratedCluster& of, double rate, std::function<void(const UsageChange&)> callback,
        const GeneratedDatasets* its_datasets)
      : cluster(of), datasets(its_datasets), changes_per_second(rate), on_change(std::move(callback)) {
    for (std::size_t node = 0; node < cluster.nodes(); ++node) {
      if (cluster.used(node) <= 4) roomy.push_back(node);
    }
    for (std::size_t i = 0; i < std::min(kStreamPods, roomy.size() / 2); ++i)
      bound.push_back(stream_pod(next_pod++, true));
  }

  const GeneratedCluster& cluster;
  const GeneratedDatasets* const datasets;
  const double changes_per_second;
  const std::function<void(const UsageChange&)> on_change;
  std::vector<std::size_t> roomy;  // nodes that the pods of the stream go to, in turn

  std::thread streamer;
  std::atomic<bool> stopping = false;
  std::atomic<std::uint64_t> changes = 0;

  std::mutex mutex;
  std::uint64_t version = 1000;
  std::uint64_t next_pod = 0;
  std::deque<model::Pod> bound;  // by the stream, oldest first

  std::size_t node_of(std::uint64_t pod) const { return roomy[pod % roomy.size()]; }

  model::Pod stream_pod(std::uint64_t pod, bool is_bound) const {
    model::Pod made =
        waiting_pod("stream-" + std::to_string(pod), "5eed0000-0000-0000-0000-" + std::to_string(pod), 1, "");
    if (is_bound) {
      made.node = GeneratedCluster::node_name(node_of(pod));
      made.phase = model::PodPhase::kRunning;
    }
    return made;
  }

  std::function<std::string(std::string_view, const std::string&)> post;

  kube::ServedAnswer answer(const kube::ServedRequest& request);
  [[nodiscard]] std::size_t count(std::size_t resource) const;
  void append_object(std::string& out, std::size_t resource, std::size_t number) const;
  std::string list(std::string_view target, std::size_t resource);
  void stream();
  void publish(const char* type, const model::Pod& pod, const UsageChange* change);
  void bookmark();

  // Last: its threads end before all else.
  kube::WatchServer server{watched_paths(datasets != nullptr),
                           [this](const kube::ServedRequest& request) { return answer(request); }};
};

kube::ServedAnswer ApiServer::State::answer(const kube::ServedRequest& request) {
  if (request.method == "POST" && post) return {201, post(request.target, std::string(request.body))};
  const auto* const found = std::ranges::find(kResources, request.path, &Resource::path);
  const auto resource = static_cast<std::size_t>(found - kResources.begin());
  if (datasets != nullptr && request.path == kFluidGroup) return {200, std::string(kFluidResources)};
  if (found == kResources.end() || (datasets == nullptr && resource == kDatasetObjects)) return {404, {}};
  return {200, list(request.target, resource)};
}

std::size_t ApiServer::State::count(std::size_t resource) const {
  if (resource == kNodes) return cluster.nodes();
  if (resource == kPods) return cluster.pods() + (datasets != nullptr ? datasets->workers() : 0);
  return datasets != nullptr ? datasets->datasets() : 0;
}

void ApiServer::State::append_object(std::string& out, std::size_t resource, std::size_t number) const {
  constexpr std::string_view kVersion = "900";
  if (resource == kNodes) return append_node_json(out, cluster.node(number), kVersion);
  if (resource == kClaims) return append_claim_json(out, datasets->dataset(number), kVersion);
  if (resource == kDatasetObjects) return append_dataset_json(out, datasets->dataset(number), kVersion);
  if (number < cluster.pods()) return append_pod_json(out, cluster.pod(number), kVersion);
  append_worker_json(out, datasets->worker(number - cluster.pods()), kVersion);
}

std::string ApiServer::State::list(std::string_view target, std::size_t resource) {
  const std::size_t total = count(resource);
  const std::size_t from = kube::query_number(target, "continue", 0);
  const std::size_t to = std::min(total, from + kube::query_number(target, "limit", total));
  std::string items;
  for (std::size_t i = from; i < to; ++i) {
    if (i > from) items += ',';
    append_object(items, resource, i);
  }
  const std::lock_guard lock(mutex);
  // The last page holds what the stream has bound by the time of the version that is told.
  if (resource == kPods && to == total) {
    for (const model::Pod& pod : bound) {
      if (!items.empty()) items += ',';
      append_pod_json(items, pod, "950");
    }
  }
  std::string body = R"({"kind":")" + std::string(kResources[resource].kind) + R"(List","apiVersion":")" +
                     (resource == kDatasetObjects ? "data.fluid.io/v1alpha1" : "v1") +
                     R"(","metadata":{"resourceVersion":")" + std::to_string(version) + "\"";
  if (to < total) body += R"(,"continue":")" + std::to_string(to) + "\"";
  body += R"(},"items":[)";
  body += items;
  body += "]}";
  return body;
}

void ApiServer::State::publish(const char* type, const model::Pod& pod, const UsageChange* change) {
  ++version;
  std::string line = std::string(R"({"type":")") + type + R"(","object":)";
  append_pod_json(line, pod, std::to_string(version));
  line += "}\n";
  if (change != nullptr && on_change) {
    UsageChange told = *change;
    told.written = std::chrono::steady_clock::now();
    on_change(told);
  }
  server.publish(kPods, version, line);
  ++changes;
}

void ApiServer::State::bookmark() {
  const std::size_t served = watched_paths(datasets != nullptr).size();
  for (std::size_t resource = 0; resource < served; ++resource) {
    const std::string line = R"({"type":"BOOKMARK","object":{"kind":")" + std::string(kResources[resource].kind) +
                             R"(","metadata":{"resourceVersion":")" + std::to_string(version) + "\"}}}\n";
    server.tell(resource, line);
  }
}

void ApiServer::State::stream() {
  Pacer pacer(changes_per_second);
  auto next_bookmark = std::chrono::steady_clock::now() + kBookmarkGap;
  for (std::uint64_t turn = 0; !stopping;) {
    pacer.wait();
    const std::lock_guard lock(mutex);
    if (server.watchers(kPods) == 0) continue;
    if (std::chrono::steady_clock::now() >= next_bookmark) {
      bookmark();
      next_bookmark += kBookmarkGap;
    }
    switch (turn++ % 4) {
      case 0:
        publish("ADDED", stream_pod(next_pod, false), nullptr);
        break;
      case 1: {
        const std::size_t node = node_of(next_pod);
        bound.push_back(stream_pod(next_pod++, true));
        const UsageChange change{node, cluster.used(node) + 1, {}};
        publish("MODIFIED", bound.back(), &change);
        break;
      }
      case 2: {
        model::Pod& ended = bound.front();
        ended.phase = model::PodPhase::kSucceeded;
        const std::size_t node = node_of(next_pod - bound.size());
        const UsageChange change{node, cluster.used(node), {}};
        publish("MODIFIED", ended, &change);
        break;
      }
      default:
        publish("DELETED", bound.front(), nullptr);
        bound.pop_front();
    }
  }
}

ApiServer::ApiServer(const GeneratedCluster& cluster, double changes_per_second,
                     std::function<void(const UsageChange&)> on_change, const GeneratedDatasets* datasets)
    : state_(std::make_unique<State>(cluster, changes_per_second, std::move(on_change), datasets)) {}

void ApiServer::on_post(std::function<std::string(std::string_view, const std::string&)> handler) {
  state_->post = std::move(handler);
}

void ApiServer::publish(const char* type, const model::Pod& pod) {
  const std::lock_guard lock(state_->mutex);
  state_->publish(type, pod, nullptr);
}

ApiServer::~ApiServer() {
  state_->stopping = true;
  if (state_->streamer.joinable()) state_->streamer.join();
}

core::Result<std::uint16_t> ApiServer::start() {
  auto port = state_->server.start();
  if (port && state_->changes_per_second > 0) {
    state_->streamer = std::thread([state = state_.get()] { state->stream(); });
  }
  return port;
}

std::uint64_t ApiServer::changes_sent() const { return state_->changes; }

}  // namespace berth::bench
