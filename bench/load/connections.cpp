#include "connections.h"

#include <poll.h>
#include <sys/resource.h>

#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "extender_args.h"
#include "sockets.h"

namespace berth::bench {
namespace {

using std::chrono::steady_clock;

// Reads one answer from each connection, in the order in which they come.
core::Result<void> collect(std::vector<HttpClient>& clients, const std::vector<core::SteadyTime>& asked,
                           Latencies& latencies) {
  std::vector<pollfd> waiting;
  for (const HttpClient& client : clients) waiting.push_back({client.fd(), POLLIN, 0});
  for (std::size_t left = clients.size(); left > 0;) {
    if (::poll(waiting.data(), waiting.size(), 30'000) <= 0) {
      return core::fail(core::ErrorCode::kTimeout, std::to_string(left) + " connections got no answer within 30 s");
    }
    for (std::size_t i = 0; i < clients.size(); ++i) {
      if (waiting[i].fd < 0 || waiting[i].revents == 0) continue;
      const auto answer = clients[i].receive();
      if (!answer) return tl::unexpected(answer.error());
      if (answer->status != 200)
        return core::fail(core::ErrorCode::kInvalid, "status " + std::to_string(answer->status));
      latencies.add(answer->done - asked[i]);
      waiting[i].fd = -1;
      --left;
    }
  }
  return {};
}

void allow_open_files(std::size_t count) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, std::max<rlim_t>(limit.rlim_cur, count));
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

core::Result<ConnectionFigures> measure_connections(const GeneratedCluster& cluster, std::uint16_t extender_port,
                                                    std::size_t connections, std::chrono::seconds idle) {
  allow_open_files(connections + 100);
  std::vector<std::string> names;
  for (std::size_t node = 0; node < std::min<std::size_t>(100, cluster.nodes()); ++node) {
    names.push_back(GeneratedCluster::node_name(node));
  }
  std::string body;
  append_args_with_names(body, waiting_pod("burst", "b0057000-0000-4000-8000-000000000000", 1, ""),
                         std::vector<std::string_view>(names.begin(), names.end()));

  ConnectionFigures figures;
  figures.connections = connections;
  figures.idle = idle;
  std::vector<HttpClient> clients;
  std::vector<core::SteadyTime> asked;
  for (std::size_t i = 0; i < connections; ++i) {
    asked.push_back(steady_clock::now());
    auto client = HttpClient::connect(extender_port);
    if (!client) return tl::unexpected(client.error());
    if (auto sent = client->send_post("/filter", body); !sent) return tl::unexpected(sent.error());
    clients.push_back(*std::move(client));
  }
  if (auto got = collect(clients, asked, figures.first); !got) return tl::unexpected(got.error());
  std::this_thread::sleep_for(idle);
  for (std::size_t i = 0; i < connections; ++i) {
    asked[i] = steady_clock::now();
    if (auto sent = clients[i].send_post("/filter", body); !sent) return tl::unexpected(sent.error());
  }
  if (auto got = collect(clients, asked, figures.after_idle); !got) return tl::unexpected(got.error());
  return figures;
}

}  // namespace berth::bench
