#include "api_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <deque>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pacer.h"
#include "sockets.h"

namespace berth::bench {
namespace {

constexpr std::size_t kKeptEvents = 20'000;
constexpr std::size_t kStreamPods = 400;  // bound at any time
constexpr std::chrono::seconds kBookmarkGap{30};

// The value of a query parameter, empty if absent. Berth needs no decoding for those we read.
std::string_view parameter(std::string_view target, std::string_view name) {
  const std::size_t query = target.find('?');
  if (query == std::string_view::npos) return {};
  for (std::size_t at = query + 1; at < target.size();) {
    const std::size_t end = std::min(target.find('&', at), target.size());
    const std::string_view pair = target.substr(at, end - at);
    if (pair.starts_with(name) && pair.size() > name.size() && pair[name.size()] == '=') {
      return pair.substr(name.size() + 1);
    }
    at = end + 1;
  }
  return {};
}

std::uint64_t number(std::string_view text, std::uint64_t otherwise) {
  std::uint64_t value = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// As libcurl writes it; 0 without a body.
std::size_t body_length(std::string_view head) {
  constexpr std::string_view kName = "\r\nContent-Length: ";
  const std::size_t at = head.find(kName);
  return at == std::string_view::npos ? 0 : number(head.substr(at + kName.size()), 0);
}

std::string chunk(std::string_view bytes) {
  std::array<char, 20> size{};
  std::snprintf(size.data(), size.size(), "%zx\r\n", bytes.size());
  return size.data() + std::string(bytes) + "\r\n";
}

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

struct Event {
  std::uint64_t version;
  std::string chunk;
};

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

  Listener listener;
  std::thread acceptor;
  std::thread streamer;
  std::atomic<bool> stopping = false;
  std::atomic<std::uint64_t> changes = 0;

  std::mutex mutex;
  std::list<std::pair<Socket, std::thread>> connections;
  std::array<std::vector<int>, kResources.size()> watches;  // by resource
  std::uint64_t version = 1000;
  std::uint64_t next_pod = 0;
  std::deque<model::Pod> bound;  // by the stream, oldest first
  std::deque<Event> log;

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

  void accept();
  void serve(const Socket& socket);
  bool answer(const Socket& socket, std::string_view target);
  [[nodiscard]] std::size_t count(std::size_t resource) const;
  void append_object(std::string& out, std::size_t resource, std::size_t number) const;
  std::string list(std::string_view target, std::size_t resource);
  void watch(const Socket& socket, std::string_view target, std::size_t resource);
  void stream();
  static void write_to_all(const std::vector<int>& watchers, const std::string& bytes);
  void publish(const char* type, const model::Pod& pod, const UsageChange* change);
  void bookmark();
};

void ApiServer::State::accept() {
  while (!stopping) {
    const int fd = ::accept4(listener.socket.fd(), nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // as Go's servers do, else an event waits for an ACK
    const std::lock_guard lock(mutex);
    auto& [socket, thread] = connections.emplace_back(Socket(fd), std::thread());
    thread = std::thread([this, &kept = socket] { serve(kept); });
  }
}

void ApiServer::State::serve(const Socket& socket) {
  std::string buffer;
  std::array<char, 4096> piece{};
  while (!stopping) {
    const std::size_t end = buffer.find("\r\n\r\n");
    if (end == std::string::npos) {
      const auto got = socket.read(piece.data(), piece.size());
      if (!got || *got == 0) return;
      buffer.append(piece.data(), *got);
      continue;
    }
    const std::string head = buffer.substr(0, end + 4);
    const std::size_t length = body_length(head);
    while (buffer.size() < head.size() + length) {
      const auto got = socket.read(piece.data(), piece.size());
      if (!got || *got == 0) return;
      buffer.append(piece.data(), *got);
    }
    const std::string body = buffer.substr(head.size(), length);
    buffer.erase(0, head.size() + length);
    const std::string_view line = std::string_view(head).substr(0, head.find("\r\n"));
    const std::size_t from = line.find(' ') + 1;
    const std::string_view target = line.substr(from, line.rfind(' ') - from);
    if (line.starts_with("POST ") && post) {
      const std::string told = post(target, body);
      const std::string length_line = "Content-Length: " + std::to_string(told.size()) + "\r\n\r\n";
      if (!socket.write("HTTP/1.1 201 Created\r\nContent-Type: application/json\r\n" + length_line, told)) return;
    } else if (!answer(socket, target)) {
      return;
    }
  }
}

// False: the connection is done.
bool ApiServer::State::answer(const Socket& socket, std::string_view target) {
  const std::string_view path = target.substr(0, target.find('?'));
  const auto* const found = std::ranges::find(kResources, path, &Resource::path);
  const auto resource = static_cast<std::size_t>(found - kResources.begin());
  std::string body;
  if (datasets != nullptr && path == kFluidGroup) {
    body = kFluidResources;
  } else if (found == kResources.end() || (datasets == nullptr && resource == kDatasetObjects)) {
    return socket.write("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n").has_value();
  } else if (!parameter(target, "watch").empty()) {
    watch(socket, target, resource);
    return false;
  } else {
    body = list(target, resource);
  }
  return socket
      .write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
                 "\r\n\r\n",
             body)
      .has_value();
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
  const std::size_t from = number(parameter(target, "continue"), 0);
  const std::size_t to = std::min(total, from + number(parameter(target, "limit"), total));
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

void ApiServer::State::watch(const Socket& socket, std::string_view target, std::size_t resource) {
  const auto until =
      std::chrono::steady_clock::now() + std::chrono::seconds(number(parameter(target, "timeoutSeconds"), 3600));
  const std::uint64_t from = number(parameter(target, "resourceVersion"), 0);
  auto& watchers = watches[resource];
  {
    const std::lock_guard lock(mutex);
    std::string start = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    if (resource == kPods) {
      if (!log.empty() && from + 1 < log.front().version) {
        start += chunk(R"({"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}})"
                       "\n");
      }
      for (const Event& event : log) {
        if (event.version > from) start += event.chunk;
      }
    }
    if (!socket.write(start)) return;
    watchers.push_back(socket.fd());
  }
  // Nothing more comes from the client but the end.
  while (!stopping) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) break;
    pollfd wait{socket.fd(), POLLIN, 0};
    if (::poll(&wait, 1, static_cast<int>(std::min<std::int64_t>(left.count(), 1000))) != 0) break;
  }
  const std::lock_guard lock(mutex);
  std::erase(watchers, socket.fd());
  static_cast<void>(socket.write("0\r\n\r\n"));
  socket.shut_down();
}

void ApiServer::State::write_to_all(const std::vector<int>& watchers, const std::string& bytes) {
  for (const int fd : watchers) {
    // A watcher that has gone is taken out by its own thread.
    static_cast<void>(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL));
  }
}

void ApiServer::State::publish(const char* type, const model::Pod& pod, const UsageChange* change) {
  ++version;
  std::string line = std::string(R"({"type":")") + type + R"(","object":)";
  append_pod_json(line, pod, std::to_string(version));
  line += "}\n";
  log.push_back({version, chunk(line)});
  if (log.size() > kKeptEvents) log.pop_front();
  if (change != nullptr && on_change) {
    UsageChange told = *change;
    told.written = std::chrono::steady_clock::now();
    on_change(told);
  }
  write_to_all(watches[kPods], log.back().chunk);
  ++changes;
}

void ApiServer::State::bookmark() {
  for (std::size_t resource = 0; resource < kResources.size(); ++resource) {
    const std::string line = R"({"type":"BOOKMARK","object":{"kind":")" + std::string(kResources[resource].kind) +
                             R"(","metadata":{"resourceVersion":")" + std::to_string(version) + "\"}}}\n";
    write_to_all(watches[resource], chunk(line));
  }
}

void ApiServer::State::stream() {
  Pacer pacer(changes_per_second);
  auto next_bookmark = std::chrono::steady_clock::now() + kBookmarkGap;
  for (std::uint64_t turn = 0; !stopping;) {
    pacer.wait();
    const std::lock_guard lock(mutex);
    if (watches[kPods].empty()) continue;
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
  if (state_->acceptor.joinable()) {
    state_->listener.socket.shut_down();
    state_->acceptor.join();
  }
  if (state_->streamer.joinable()) state_->streamer.join();
  for (auto& [socket, thread] : state_->connections) {
    socket.shut_down();
    thread.join();
  }
}

core::Result<std::uint16_t> ApiServer::start() {
  auto listener = listen_loopback();
  if (!listener) return tl::unexpected(listener.error());
  state_->listener = *std::move(listener);
  state_->acceptor = std::thread([state = state_.get()] { state->accept(); });
  if (state_->changes_per_second > 0) state_->streamer = std::thread([state = state_.get()] { state->stream(); });
  return state_->listener.port;
}

std::uint64_t ApiServer::changes_sent() const { return state_->changes; }

}  // namespace berth::bench
