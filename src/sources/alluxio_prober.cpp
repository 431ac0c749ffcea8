#include "berth/sources/alluxio_prober.h"

#include <arpa/inet.h>
#include <spdlog/spdlog.h>

#include <condition_variable>
#include <exception>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

#include "berth/codec/alluxio.h"
#include "berth/core/thread_class.h"
#include "berth/net/cancellation.h"
#include "berth/net/http_client.h"
#include "berth/net/thread.h"
#include "probe_schedule.h"

namespace berth::sources {
namespace {

using core::ErrorCode;

constexpr const char* kTarget = "/api/v1/master/info";

// The URL of a master at `address`, which comes from a pod: an IP and a port, and nothing else.
core::Result<std::string> url_of(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  std::string host = address.substr(0, colon);
  const std::string port = colon == std::string::npos ? "" : address.substr(colon + 1);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  in6_addr ip{};
  const bool v4 = inet_pton(AF_INET, host.c_str(), &ip) == 1;
  const bool v6 = !v4 && inet_pton(AF_INET6, host.c_str(), &ip) == 1;
  if ((!v4 && !v6) || port.empty() || port.find_first_not_of("0123456789") != std::string::npos) {
    return core::fail(ErrorCode::kInvalid, "\"" + address + "\" is not an IP and a port");
  }
  return "http://" + (v6 ? "[" + host + "]" : host) + ":" + port;
}

}  // namespace

struct AlluxioProber::State {
  State(std::function<std::vector<AlluxioMaster>()> with_masters, model::UpdateSink& to, AlluxioProberOptions with,
        const core::Clock& with_clock)
      : masters(std::move(with_masters)),
        sink(to),
        options(std::move(with)),
        clock(with_clock),
        schedule({options.every, options.while_loading, options.while_awaited, options.longest}) {}

  const std::function<std::vector<AlluxioMaster>()> masters;
  model::UpdateSink& sink;
  const AlluxioProberOptions options;
  const core::Clock& clock;
  net::Cancellation cancellation;
  std::thread looker;
  std::vector<std::thread> askers;  // of the looker's thread, until it has ended

  mutable std::mutex mutex;
  std::condition_variable due;
  ProbeSchedule schedule;
  std::mt19937_64 generator{std::random_device{}()};
  std::uint64_t probes = 0;
  std::uint64_t failures = 0;
  bool stopping = false;

  void look();
  void ask();
  core::Result<model::Measured> probe(const AlluxioMaster& master) const;
  void take(const AlluxioMaster& master, core::Result<model::Measured> answer);
  double random() {
    return options.random ? options.random() : std::uniform_real_distribution<double>(0, 1)(generator);
  }
};

void AlluxioProber::State::look() {
  while (!cancellation.cancelled()) {
    auto now_there = masters();
    // A cluster without Alluxio has no askers.
    while (askers.size() < std::min(options.in_flight, now_there.size())) {
      askers.push_back(net::start_thread("alluxio prober", [this] {
        core::favour_throughput();
        ask();
      }));
    }
    {
      const std::lock_guard lock(mutex);
      schedule.set(now_there, clock.now());
      due.notify_all();
    }
    if (options.wait) {
      options.wait(options.look_every);
    } else {
      cancellation.wait_for(options.look_every);
    }
  }
}

void AlluxioProber::State::ask() {
  std::unique_lock lock(mutex);
  while (true) {
    std::optional<AlluxioMaster> master;
    due.wait(lock, [&] { return stopping || (master = schedule.take(clock.now())); });
    if (stopping) return;
    lock.unlock();
    auto answer = probe(*master);
    lock.lock();
    if (stopping) return;
    take(*master, std::move(answer));
  }
}

// Want of memory is a failure as any other: it is tried again.
core::Result<model::Measured> AlluxioProber::State::probe(const AlluxioMaster& master) const try {
  auto url = url_of(master.address);
  if (!url) return tl::unexpected(std::move(url.error()));
  // A client of its own: thousands of masters would keep thousands of connections.
  auto client = net::HttpClient::create({.url = std::move(*url), .proxies = false});
  if (!client) return tl::unexpected(std::move(client.error()));
  model::Measured measured{.dataset = master.dataset, .workers = {}, .at = clock.wall()};
  auto response = (*client)->send({.target = kTarget,
                                   .deadline = options.deadline,
                                   .max_response_bytes = options.max_answer_bytes,
                                   .cancellation = &cancellation});
  if (!response) return tl::unexpected(std::move(response.error()));
  if (response->status != 200) {
    return core::fail(ErrorCode::kUnavailable, "it answered " + std::to_string(response->status));
  }
  auto workers = codec::read_master_info(response->body);
  if (!workers) return tl::unexpected(std::move(workers.error()));
  measured.workers = std::move(*workers);
  return measured;
} catch (const std::bad_alloc&) {
  return core::fail(ErrorCode::kUnavailable, "no memory for its answer");
}

void AlluxioProber::State::take(const AlluxioMaster& master, core::Result<model::Measured> answer) {
  const auto turn = schedule.done(master, answer.has_value(), clock.now(), random());
  ++probes;
  if (!answer) ++failures;
  using enum ProbeSchedule::Turn;
  if (turn == kForgotten) return;
  if (turn == kWentSilent) {
    spdlog::warn("Alluxio master of {} at {}: {}; its last figures stay in use", master.dataset.to_string(),
                 master.address, answer.error().to_string());
  }
  if (turn == kAnswersAgain) {
    spdlog::info("Alluxio master of {} at {}: answers again", master.dataset.to_string(), master.address);
  }
  if (answer) sink.push(std::move(*answer));
}

AlluxioProber::AlluxioProber(std::function<std::vector<AlluxioMaster>()> masters, model::UpdateSink& sink,
                             AlluxioProberOptions options, const core::Clock& clock)
    : state_(std::make_unique<State>(std::move(masters), sink, std::move(options), clock)) {}

AlluxioProber::~AlluxioProber() { stop(); }

void AlluxioProber::start() {
  state_->looker = net::start_thread("alluxio masters", [state = state_.get()] { state->look(); });
}

void AlluxioProber::stop() {
  state_->cancellation.cancel();
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
    state_->due.notify_all();
  }
  if (state_->looker.joinable()) state_->looker.join();
  for (std::thread& asker : state_->askers) {
    if (asker.joinable()) asker.join();
  }
}

ProberCounters AlluxioProber::counters() const {
  const std::lock_guard lock(state_->mutex);
  return {.masters = state_->schedule.masters(),
          .probes = state_->probes,
          .failures = state_->failures,
          .oldest = state_->schedule.oldest(state_->clock.now())};
}

}  // namespace berth::sources
