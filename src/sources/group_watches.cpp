#include "group_watches.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "berth/codec/api_resources.h"
#include "berth/net/thread.h"

namespace berth::sources {
namespace {

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

GroupWatches::GroupWatches(kube::ApiClient& client, model::UpdateSink& sink, std::vector<ServedGroup> groups,
                           const ApiSourceOptions& options, const core::Clock& clock)
    : client_(client), sink_(sink), options_(options), clock_(clock) {
  for (ServedGroup& what : groups) {
    Group& group = groups_.emplace_back();
    group.what = std::move(what);
    group.status.counters.resource = group.what.name;
    group.watches.resize(group.what.kinds.size());
  }
}

GroupWatches::~GroupWatches() { stop(); }

void GroupWatches::start() {
  thread_ = net::start_thread("API groups", [this] { run(); });
}

void GroupWatches::stop() {
  cancellation_.cancel();
  if (thread_.joinable()) thread_.join();
  // No lock: the thread that makes them has ended, and a reflector's end may take as long as its target.
  for (Group& group : groups_) {
    for (Watch& watch : group.watches) {
      if (watch.reflector) watch.reflector->stop();
    }
  }
}

void GroupWatches::run() {
  while (!cancellation_.cancelled()) {
    for (Group& group : groups_) look(group);
    if (options_.wait) {
      options_.wait(options_.look_every);
    } else {
      cancellation_.wait_for(options_.look_every);
    }
  }
}

void GroupWatches::look(Group& group) {
  constexpr std::size_t kMostBytes = std::size_t{4} << 20U;
  Paths served;
  const auto is_served = [&served](const ServedKind& kind) { return served.contains(kind.resource); };
  for (const std::string& version : group.what.versions) {
    const std::string path = "/apis/" + group.what.name + "/" + version;
    auto body = client_.get(path, {.max_response_bytes = kMostBytes, .cancellation = &cancellation_});
    if (cancellation_.cancelled()) return;
    if (body) {
      const auto names = codec::read_resource_names(*body);
      if (!names) return failed(group, names.error());
      for (const std::string& name : *names) {
        std::string below = path + "/";
        served.try_emplace(name, below.append(name));
      }
    } else if (body.error().code != core::ErrorCode::kNotFound) {
      return failed(group, body.error());
    }
    if (std::ranges::all_of(group.what.kinds, is_served)) break;
  }
  if (!group.status.last_error.empty()) spdlog::info("{}: answered again", group.what.name);
  {
    const std::lock_guard lock(mutex_);
    group.status.synced = true;
    group.status.last_error.clear();
    group.status.counters.connected = true;
    ++group.status.counters.lists;
  }
  take(group, served);
}

void GroupWatches::failed(Group& group, const core::Error& error) {
  // Once an outage.
  if (group.status.last_error.empty()) spdlog::warn("{}: {}; trying again", group.what.name, error.to_string());
  const std::lock_guard lock(mutex_);
  group.status.last_error = error.to_string();
  group.status.counters.connected = false;
  ++group.status.counters.failures;
}

void GroupWatches::take(Group& group, const Paths& served) {
  std::string begun;
  for (std::size_t i = 0; i < group.watches.size(); ++i) {
    const ServedKind& kind = group.what.kinds[i];
    Watch& watch = group.watches[i];
    const auto found = served.find(kind.resource);
    const bool is_served = found != served.end();
    if (watch.reflector) {
      const bool as_watched = is_served && found->second == watch.path;
      if (as_watched || watch.reflector->status().connected) continue;
      end(kind, watch);
      // Another version of it replaces what was told of this one with its first list.
      if (!is_served) {
        sink_.push(kind.none());
        spdlog::info("{}: no longer served", kind.resource);
      }
    }
    if (!is_served) continue;
    begin(kind, found->second, watch);
    begun += (begun.empty() ? "" : ", ") + kind.resource;
  }
  if (!begun.empty()) spdlog::info("{} is served, watching {}", group.what.name, begun);

  const bool absent = group.watches.front().reflector == nullptr;
  if (absent && !group.absent && group.what.absent) group.what.absent();
  group.absent = absent;
}

void GroupWatches::begin(const ServedKind& kind, const std::string& path, Watch& watch) {
  kube::ReflectorOptions options = options_.reflector;
  options.name = kind.resource;
  options.path = path;
  options.page_size = options_.object_page_size;
  options.may_vanish = true;
  auto target = kind.target();
  auto reflector = std::make_unique<kube::Reflector>(client_, *target, std::move(options), clock_);
  reflector->start();
  const std::lock_guard lock(mutex_);
  watch.path = path;
  watch.target = std::move(target);
  watch.reflector = std::move(reflector);
  watch.ever = true;
}

void GroupWatches::end(const ServedKind& kind, Watch& watch) {
  watch.reflector->stop();
  const std::lock_guard lock(mutex_);
  add(watch.earlier, status_of(kind.resource, watch.reflector->status()).counters);
  watch.reflector.reset();
  watch.target.reset();
}

void GroupWatches::add_status(std::vector<WatchStatus>& statuses) const {
  const std::lock_guard lock(mutex_);
  for (const Group& group : groups_) {
    statuses.push_back(group.status);
    for (std::size_t i = 0; i < group.watches.size(); ++i) {
      const Watch& watch = group.watches[i];
      if (!watch.ever) continue;
      const std::string& resource = group.what.kinds[i].resource;
      // What is no longer served is as well known as can be.
      WatchStatus status{.counters = {.resource = resource, .connected = true}, .synced = true};
      if (watch.reflector) status = status_of(resource, watch.reflector->status());
      add(status.counters, watch.earlier);
      statuses.push_back(std::move(status));
    }
  }
}

}  // namespace berth::sources
