// How the watch on one resource fares, for metrics and for people.
#pragma once

#include <string>

#include "berth/kube/reflector.h"
#include "berth/sources/source.h"

namespace berth::sources {

struct WatchStatus {
  SourceCounters counters = {};
  bool synced = false;          // a whole list has been taken once
  std::string last_error = {};  // empty while connected
};

inline WatchStatus status_of(const std::string& resource, const kube::ReflectorStatus& status) {
  return {.counters = {.resource = resource,
                       .connected = status.connected,
                       .lists = status.lists,
                       .watches = status.watches,
                       .events = status.events,
                       .restarts = status.restarts,
                       .gone = status.gone,
                       .failures = status.failures,
                       .broken_objects = status.broken_objects + status.broken_lines,
                       .last_event = status.last_event},
          .synced = status.synced,
          .last_error = status.last_error};
}

// Empty if all is well.
inline std::string trouble(const WatchStatus& status) {
  if (status.synced && status.counters.connected) return {};
  const std::string state = status.synced ? "out of date" : "not listed yet";
  return status.counters.resource + ": " + state + (status.last_error.empty() ? "" : " (" + status.last_error + ")");
}

}  // namespace berth::sources
