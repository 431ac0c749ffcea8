#include "binds.h"

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api_server.h"
#include "extender_args.h"
#include "generated_cluster.h"
#include "pacer.h"
#include "server_process.h"
#include "sockets.h"

namespace berth::bench {
namespace {

using core::ErrorCode;
using std::chrono::steady_clock;

constexpr std::size_t kPodsPerNode = 10;
constexpr std::chrono::milliseconds kApiTime{10};
constexpr double kFiltersPerSecond = 50;
constexpr std::chrono::milliseconds kBetweenPods{5};  // a scheduler is no faster with 5,000 nodes

struct Bound {
  std::string node;
  std::string gpus;  // as written on the pod
  std::chrono::nanoseconds took{0};
};

// What the API server was asked to bind, by pod.
class Bindings {
 public:
  std::string take(std::string_view target, const std::string& body) {
    const auto arrived = steady_clock::now();
    std::this_thread::sleep_for(kApiTime);
    const auto binding = nlohmann::json::parse(body, nullptr, false);
    if (binding.is_discarded() || !target.ends_with("/binding")) return "{}";
    const auto& metadata = binding["metadata"];
    Bound bound{binding["target"].value("name", ""), {}, {}};
    if (metadata.contains("annotations")) bound.gpus = metadata["annotations"].value("berth.io/gpus", "");
    bound.took = steady_clock::now() - arrived;
    const std::lock_guard lock(mutex_);
    pods_[metadata.value("name", "")] = std::move(bound);
    return R"({"kind":"Status","apiVersion":"v1","status":"Success"})";
  }
  std::map<std::string, Bound> take_all() {
    const std::lock_guard lock(mutex_);
    return std::exchange(pods_, {});
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Bound> pods_;
};

// GPUs that two pods of a burst were given.
std::size_t count_shared(const std::map<std::string, Bound>& pods) {
  std::set<std::pair<std::string, std::string>> given;
  std::size_t shared = 0;
  for (const auto& [name, bound] : pods) {
    // Every pod asks for one.
    if (!bound.gpus.empty() && !given.emplace(bound.node, bound.gpus).second) ++shared;
  }
  return shared;
}

class Binds {
 public:
  Binds(std::size_t nodes, std::size_t pods, double changes)
      : cluster_(nodes, kPodsPerNode), api_(cluster_, changes), burst_(pods) {
    api_.on_post([this](std::string_view target, const std::string& body) { return bindings_.take(target, body); });
    for (std::size_t node = 0; node < nodes; ++node) nodes_.push_back(GeneratedCluster::node_name(node));
    names_ = args_tail_with_names(std::vector<std::string_view>(nodes_.begin(), nodes_.end()));
  }

  core::Result<void> start() {
    const auto port = api_.start();
    if (!port) return tl::unexpected(port.error());
    auto server = ServerProcess::start(write_kubeconfig(scratch_.path(), *port), scratch_.path(), true);
    if (!server) return tl::unexpected(server.error());
    server_.emplace(*std::move(server));
    auto asking = HttpClient::connect(server_->extender_port());
    if (!asking) return tl::unexpected(asking.error());
    asking_.emplace(*std::move(asking));
    for (std::size_t i = 0; i < burst_; ++i) {
      auto client = HttpClient::connect(server_->bind_port());
      if (!client) return tl::unexpected(client.error());
      clients_.push_back(*std::move(client));
    }
    return {};
  }

  // One second each, with or without the Binds.
  core::Result<void> run(std::size_t bursts, bool binds, BindFigures& figures) {
    std::atomic<bool> stop = false;
    core::Result<Latencies> filters;
    std::thread beside([&] { filters = filter_until(stop); });
    core::Result<void> done;
    Pacer pacer(1);
    for (std::size_t i = 0; i < bursts && done; ++i) {
      pacer.wait();
      done = burst(binds, figures);
    }
    stop = true;
    beside.join();
    if (!done) return done;
    if (!filters) return tl::unexpected(filters.error());
    (binds ? figures.filter_with : figures.filter_without).add_all(*filters);
    return {};
  }

 private:
  model::Pod next_pod() {
    const std::string number = std::to_string(next_pod_++);
    return waiting_pod("burst-" + number, "b1dd0000-0000-4000-8000-" + number, 1, "");
  }

  // The nodes that Filter keeps for the pod, the best first.
  static core::Result<std::vector<std::string>> filter(HttpClient& client, const model::Pod& pod,
                                                       const std::string& names, Latencies* latencies) {
    const auto answer = client.post("/filter", args_head_with_names(pod), names);
    if (!answer) return tl::unexpected(answer.error());
    if (latencies != nullptr) latencies->add(answer->done - answer->sent);
    const auto read = nlohmann::json::parse(answer->body, nullptr, false);
    if (answer->status != 200 || read.is_discarded() || !read["NodeNames"].is_array() || read["NodeNames"].empty()) {
      return core::fail(ErrorCode::kInvalid, "an unusable answer: " + std::string(answer->body.substr(0, 300)));
    }
    auto kept = read["NodeNames"].get<std::vector<std::string>>();
    // The winner of Prioritize counts as promised from then on.
    const std::vector<std::string_view> names_kept(kept.begin(), kept.end());
    const auto scores = client.post("/prioritize", args_head_with_names(pod), args_tail_with_names(names_kept));
    if (!scores) return tl::unexpected(scores.error());
    return kept;
  }

  core::Result<Latencies> filter_until(const std::atomic<bool>& stop) {
    auto client = HttpClient::connect(server_->extender_port());
    if (!client) return tl::unexpected(client.error());
    Latencies latencies;
    Pacer pacer(kFiltersPerSecond);
    while (!stop) {
      pacer.wait();
      const std::string number = std::to_string(next_beside_++);
      const auto pod = waiting_pod("beside-" + number, "be51de00-0000-4000-8000-" + number, 1, "");
      if (const auto kept = filter(*client, pod, names_, &latencies); !kept) return tl::unexpected(kept.error());
    }
    return latencies;
  }

  core::Result<void> burst(bool binds, BindFigures& figures) {
    std::vector<model::Pod> pods;
    std::vector<std::string> bodies;
    // A scheduler counts the pods that it has just placed by itself: the nodes that they fill are not asked about
    // again.
    std::set<std::string_view> left(nodes_.begin(), nodes_.end());
    for (std::size_t i = 0; i < burst_; ++i) {
      pods.push_back(next_pod());
      const auto kept =
          filter(*asking_, pods.back(), args_tail_with_names(std::vector(left.begin(), left.end())), nullptr);
      if (!kept) return tl::unexpected(kept.error());
      if (kept->empty()) return core::fail(ErrorCode::kInvalid, "no node that has not been chosen yet");
      const auto node = kept->begin();
      left.erase(left.find(*node));
      std::this_thread::sleep_for(kBetweenPods);
      bodies.push_back(R"({"PodName":")" + pods.back().name + R"(","PodNamespace":")" + pods.back().ns +
                       R"(","PodUID":")" + pods.back().uid + R"(","Node":")" + *node + "\"}");
    }
    if (!binds) return {};
    std::vector<std::chrono::nanoseconds> totals(burst_);
    if (auto asked = ask_all(bodies, totals); !asked) return asked;
    const std::map<std::string, Bound> bound = bindings_.take_all();
    for (std::size_t i = 0; i < burst_; ++i) {
      const auto found = bound.find(pods[i].name);
      if (found == bound.end()) {
        ++figures.refused;
        continue;
      }
      figures.total.add(totals[i]);
      figures.own.add(totals[i] - found->second.took);
    }
    figures.shared += count_shared(bound);
    // Shown bound, and over: the next burst finds the cluster as this one did.
    for (model::Pod& pod : pods) {
      const auto found = bound.find(pod.name);
      if (found == bound.end()) continue;
      pod.node = found->second.node;
      api_.publish("MODIFIED", pod);
    }
    for (const model::Pod& pod : pods) api_.publish("DELETED", pod);
    return {};
  }

  core::Result<void> ask_all(const std::vector<std::string>& bodies, std::vector<std::chrono::nanoseconds>& totals) {
    std::vector<core::SteadyTime> sent(burst_);
    std::vector<pollfd> waiting;
    for (std::size_t i = 0; i < burst_; ++i) {
      sent[i] = steady_clock::now();
      if (auto done = clients_[i].send_post("/bind", bodies[i]); !done) return done;
      waiting.push_back({clients_[i].fd(), POLLIN, 0});
    }
    for (std::size_t left = burst_; left > 0;) {
      if (::poll(waiting.data(), waiting.size(), 30'000) <= 0) return core::fail(ErrorCode::kTimeout, "no answer");
      for (std::size_t i = 0; i < burst_; ++i) {
        if (waiting[i].fd < 0 || waiting[i].revents == 0) continue;
        const auto answer = clients_[i].receive();
        if (!answer) return tl::unexpected(answer.error());
        const bool refused = answer->body.find("RESERVED") != std::string_view::npos;
        if (answer->status != 200 || (answer->body != R"({"Error":""})" && !refused)) {
          return core::fail(ErrorCode::kInvalid, std::string(answer->body.substr(0, 300)), bodies[i]);
        }
        totals[i] = answer->done - sent[i];
        waiting[i].fd = -1;
        --left;
      }
    }
    return {};
  }

  GeneratedCluster cluster_;
  ScratchDirectory scratch_;
  Bindings bindings_;
  ApiServer api_;
  const std::size_t burst_;
  std::vector<std::string> nodes_;
  std::string names_;
  std::optional<ServerProcess> server_;
  std::optional<HttpClient> asking_;
  std::vector<HttpClient> clients_;
  std::uint64_t next_pod_ = 0;
  std::uint64_t next_beside_ = 0;
};

}  // namespace

core::Result<BindFigures> measure_binds(std::size_t nodes, std::size_t bursts, std::size_t pods, double changes) {
  Binds binds(nodes, pods, changes);
  if (auto started = binds.start(); !started) return tl::unexpected(started.error());
  BindFigures figures;
  BindFigures warm;
  if (auto done = binds.run(1, true, warm); !done) return tl::unexpected(done.error());
  // In turns, so that what neighbours on the machine do falls on both.
  for (std::size_t done = 0; done < bursts; done += 5) {
    for (const bool with : {false, true}) {
      if (auto ran = binds.run(std::min<std::size_t>(5, bursts - done), with, figures); !ran) {
        return tl::unexpected(ran.error());
      }
    }
  }
  figures.shared += warm.shared;
  return figures;
}

}  // namespace berth::bench
