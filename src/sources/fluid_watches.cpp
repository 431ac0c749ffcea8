#include "fluid_watches.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "berth/codec/api_resources.h"
#include "berth/codec/kubernetes_objects.h"
#include "berth/net/thread.h"
#include "object_kinds.h"

namespace berth::sources {
namespace {

constexpr const char* kGroup = "data.fluid.io";
constexpr const char* kGroupPath = "/apis/data.fluid.io/v1alpha1";
constexpr const char* kDatasets = "datasets";

template <class ObjectKind>
std::unique_ptr<kube::ReflectorTarget> target_of(ObjectKind kind, const ApiSourceOptions& options,
                                                 model::UpdateSink& sink, ListHooks hooks) {
  return std::make_unique<ObjectTarget<ObjectKind>>(std::move(kind), options.resources, sink, std::move(hooks));
}

// What an earlier watch on the same resource had counted.
void add(SourceCounters& to, const SourceCounters& earlier) {
  to.lists += earlier.lists;
  to.watches += earlier.watches;
  to.events += earlier.events;
  to.restarts += earlier.restarts;
  to.gone += earlier.gone;
  to.failures += earlier.failures;
  to.broken_objects += earlier.broken_objects;
  to.last_event = std::max(to.last_event, earlier.last_event);
}

}  // namespace

struct FluidWatches::Kind {
  std::string resource;
  std::function<std::unique_ptr<kube::ReflectorTarget>(const ApiSourceOptions&, model::UpdateSink&, ListHooks)> target;
  std::function<model::ClusterUpdate()> none;
};

struct FluidWatches::Watch {
  std::unique_ptr<kube::ReflectorTarget> target;
  std::unique_ptr<kube::Reflector> reflector;
  bool ever = false;
  SourceCounters earlier;  // of watches that have ended
};

const std::vector<FluidWatches::Kind>& FluidWatches::kinds() {
  static const std::vector<Kind> kKinds = [] {
    const auto row = [](std::string resource, const auto& kind) {
      return Kind{std::move(resource),
                  [kind](const ApiSourceOptions& options, model::UpdateSink& sink, ListHooks hooks) {
                    return target_of(kind, options, sink, std::move(hooks));
                  },
                  [kind] { return kind.all({}); }};
    };
    std::vector<Kind> rows{row(kDatasets, DatasetKind{}), row("dataloads", DataLoadKind{})};
    for (const codec::RuntimeKind& runtime : codec::runtime_kinds()) {
      rows.push_back(row(std::string(runtime.resource), RuntimeKind{std::string(runtime.type)}));
    }
    return rows;
  }();
  return kKinds;
}

FluidWatches::FluidWatches(kube::ApiClient& client, model::UpdateSink& sink, FirstLists& first_lists,
                           const ApiSourceOptions& options, const core::Clock& clock)
    : client_(client),
      sink_(sink),
      first_lists_(first_lists),
      options_(options),
      clock_(clock),
      watches_(kinds().size()) {
  group_.counters.resource = kGroup;
}

FluidWatches::~FluidWatches() { stop(); }

void FluidWatches::start() {
  thread_ = net::start_thread(kGroup, [this] { run(); });
}

void FluidWatches::stop() {
  cancellation_.cancel();
  if (thread_.joinable()) thread_.join();
  // No lock: the thread that makes them has ended, and a reflector's end may take as long as its target.
  for (Watch& watch : watches_) {
    if (watch.reflector) watch.reflector->stop();
  }
}

void FluidWatches::run() {
  while (!cancellation_.cancelled()) {
    look();
    if (options_.wait) {
      options_.wait(options_.look_every);
    } else {
      cancellation_.wait_for(options_.look_every);
    }
  }
}

void FluidWatches::look() {
  constexpr std::size_t kMostBytes = std::size_t{4} << 20U;
  auto body = client_.get(kGroupPath, {.max_response_bytes = kMostBytes, .cancellation = &cancellation_});
  if (cancellation_.cancelled()) return;
  std::set<std::string> served;
  if (body) {
    auto names = codec::read_resource_names(*body);
    if (!names) return failed(names.error());
    served.insert(names->begin(), names->end());
  } else if (body.error().code != core::ErrorCode::kNotFound) {
    return failed(body.error());
  }
  if (!group_.last_error.empty()) spdlog::info("{}: answered again", kGroup);
  {
    const std::lock_guard lock(mutex_);
    group_.synced = true;
    group_.last_error.clear();
    group_.counters.connected = true;
    ++group_.counters.lists;
  }
  take(served);
}

void FluidWatches::failed(const core::Error& error) {
  // Once an outage.
  if (group_.last_error.empty()) spdlog::warn("{}: {}; trying again", kGroup, error.to_string());
  const std::lock_guard lock(mutex_);
  group_.last_error = error.to_string();
  group_.counters.connected = false;
  ++group_.counters.failures;
}

void FluidWatches::take(const std::set<std::string>& served) {
  std::string begun;
  for (std::size_t i = 0; i < kinds().size(); ++i) {
    const Kind& kind = kinds()[i];
    Watch& watch = watches_[i];
    const bool watched = watch.reflector != nullptr;
    if (served.contains(kind.resource) == watched) continue;
    if (!watched) {
      begin(kind, watch);
      begun += (begun.empty() ? "" : ", ") + kind.resource;
    } else if (!watch.reflector->status().connected) {
      end(kind, watch);
    }
  }
  if (!begun.empty()) spdlog::info("Fluid's API is served, watching {}", begun);

  const Fluid now = watches_.front().reflector ? Fluid::kPresent : Fluid::kAbsent;
  if (now == Fluid::kAbsent && fluid_ != now) {
    spdlog::info("no {} here: Fluid is not installed, or gone; datasets are known by node labels alone", kGroupPath);
    sink_.push(model::FluidServed{false});
    first_lists_.note(FirstLists::What::kDatasets);
  }
  fluid_ = now;
}

void FluidWatches::begin(const Kind& kind, Watch& watch) {
  ListHooks hooks;
  if (kind.resource == kDatasets) {
    hooks.before = [this] { sink_.push(model::FluidServed{true}); };
    hooks.after = [this] { first_lists_.note(FirstLists::What::kDatasets); };
  }
  kube::ReflectorOptions options = options_.reflector;
  options.name = kind.resource;
  options.path = std::string(kGroupPath) + "/" + kind.resource;
  options.page_size = options_.object_page_size;
  options.may_vanish = true;
  auto target = kind.target(options_, sink_, std::move(hooks));
  auto reflector = std::make_unique<kube::Reflector>(client_, *target, std::move(options), clock_);
  reflector->start();
  const std::lock_guard lock(mutex_);
  watch.target = std::move(target);
  watch.reflector = std::move(reflector);
  watch.ever = true;
}

void FluidWatches::end(const Kind& kind, Watch& watch) {
  watch.reflector->stop();
  {
    const std::lock_guard lock(mutex_);
    add(watch.earlier, status_of(kind.resource, watch.reflector->status()).counters);
    watch.reflector.reset();
    watch.target.reset();
  }
  sink_.push(kind.none());
  spdlog::info("{}: no longer served", kind.resource);
}

void FluidWatches::add_status(std::vector<WatchStatus>& statuses) const {
  const std::lock_guard lock(mutex_);
  statuses.push_back(group_);
  for (std::size_t i = 0; i < watches_.size(); ++i) {
    const Watch& watch = watches_[i];
    if (!watch.ever) continue;
    // What is no longer served is as well known as can be.
    WatchStatus status{.counters = {.resource = kinds()[i].resource, .connected = true}, .synced = true};
    if (watch.reflector) status = status_of(kinds()[i].resource, watch.reflector->status());
    add(status.counters, watch.earlier);
    statuses.push_back(std::move(status));
  }
}

}  // namespace berth::sources
