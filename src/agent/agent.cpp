#include "berth/agent/agent.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "berth/net/cancellation.h"
#include "berth/net/thread.h"
#include "holders.h"
#include "machine_probe.h"
#include "pod_resources.h"
#include "publisher.h"
#include "trouble.h"

namespace berth::agent {
namespace {

using core::ErrorCode;
using core::SteadyTime;
using std::chrono::milliseconds;

PublisherOptions publisher_options(const AgentOptions& options) {
  PublisherOptions made;
  made.node = options.node;
  made.write_gap = options.write_gap;
  made.check_every = options.check_interval;
  made.random = options.random;
  return made;
}

AgentOptions completed(AgentOptions options) {
  if (!options.random) {
    options.random = [generator = std::mt19937_64(std::random_device()())]() mutable {
      return std::uniform_real_distribution<double>(0, 1)(generator);
    };
  }
  return options;
}

}  // namespace

struct Agent::Loop {
  Loop(AgentOptions given, kube::ApiClient* client, const core::Clock& its_clock)
      : options(completed(std::move(given))),
        clock(its_clock),
        probe(options.nvidia_smi, options.sysfs, {.deadline = options.command_deadline}),
        resources(options.pod_resources),
        publisher(publisher_options(options), client, its_clock) {}

  // True if all went well, or there is no GPU.
  bool step();
  bool read_machine();
  bool read_holders();
  void run();

  const AgentOptions options;
  const core::Clock& clock;
  net::Cancellation stopping;
  MachineProbe probe;
  PodResources resources;
  Publisher publisher;
  Trouble machine_trouble{"machine"};
  Trouble partial_trouble{"machine, in part"};
  Trouble kubelet_trouble{"kubelet"};
  Trouble unknown_trouble{"kubelet, in part"};
  bool told_no_gpu = false;

  std::optional<MachineReading> machine;  // the last good one; nullopt: none yet
  std::vector<std::string> unknown;       // device IDs for which the machine has been read again
  SteadyTime machine_at{};                // when it is read next
  SteadyTime holders_at{};
  std::thread thread;
};

bool Agent::Loop::read_machine() {
  auto read = probe.read(stopping);
  machine_at = clock.now() + options.machine_interval;
  if (!read && read.error().code == ErrorCode::kCancelled) return false;
  if (!read && read.error().code == ErrorCode::kNotFound && !machine) {
    machine_at = clock.now() + options.no_gpu_interval;
    if (!std::exchange(told_no_gpu, true)) {
      spdlog::info("no NVIDIA GPU here ({}); nothing is published, and this is looked at again every {} minutes",
                   read.error().to_string(), std::chrono::ceil<std::chrono::minutes>(options.no_gpu_interval).count());
    }
    return true;
  }
  if (read) {
    if (const auto set = publisher.set_machine(read->reading.machine); !set) read = tl::unexpected(set.error());
  }
  if (!read) {
    machine_trouble.is(read.error().to_string(), "what was published of the machine stays");
    return false;
  }
  machine_trouble.over();
  if (read->partial) {
    partial_trouble.is(read->partial->to_string(), "the rest of what the machine tells is published");
  } else {
    partial_trouble.over();
  }
  machine = std::move(read->reading);
  return true;
}

bool Agent::Loop::read_holders() {
  const auto pods = resources.list(options.list_deadline);
  holders_at = clock.now() + options.interval;
  if (!pods) {
    if (pods.error().code == ErrorCode::kCancelled) return false;
    kubelet_trouble.is(pods.error().to_string(), "what was published of the pods' GPUs stays");
    return false;
  }
  kubelet_trouble.over();
  auto reading = holders_of(*pods, *machine);
  if (!reading.unknown.empty() && reading.unknown != unknown) {
    // Partitions come and go while pods are started. Once for each ID: some plugins have IDs of their own.
    unknown = reading.unknown;
    if (read_machine()) reading = holders_of(*pods, *machine);
  }
  if (reading.unknown.empty()) {
    unknown.clear();
    unknown_trouble.over();
  } else {
    unknown_trouble.is("device \"" + reading.unknown.front() + "\" is no GPU or partition of this machine",
                       "pods that hold such devices are left out");
  }
  if (const auto set = publisher.set_holders(reading.holders); !set) {
    kubelet_trouble.is(set.error().to_string(), "what was published of the pods' GPUs stays");
    return false;
  }
  return true;
}

bool Agent::Loop::step() {
  bool good = true;
  if (clock.now() >= machine_at) good = read_machine();
  if (machine && clock.now() >= holders_at) good = read_holders() && good;
  if (clock.now() >= publisher.due()) good = publisher.step(stopping) && good;
  return good;
}

void Agent::Loop::run() {
  while (!stopping.cancelled()) {
    step();
    SteadyTime next = std::min(machine_at, publisher.due());
    if (machine) next = std::min(next, holders_at);
    const auto wait = std::max(milliseconds(0), std::chrono::ceil<milliseconds>(next - clock.now()));
    if (options.wait) {
      options.wait(wait);
    } else {
      stopping.wait_for(wait);
    }
  }
}

Agent::Agent(AgentOptions options, kube::ApiClient* client, const core::Clock& clock)
    : loop_(std::make_unique<Loop>(std::move(options), client, clock)) {}

Agent::~Agent() { stop(); }

bool Agent::step() { return loop_->step(); }

void Agent::start() {
  loop_->thread = net::start_thread("agent", [this] { loop_->run(); });
}

void Agent::stop() {
  loop_->stopping.cancel();
  loop_->resources.cancel();
  if (loop_->thread.joinable()) loop_->thread.join();
}

}  // namespace berth::agent
