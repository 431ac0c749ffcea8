// Where the view of the cluster comes from.
//
// Thread-safe: start() and stop() once each, from one thread; all else from any thread at any time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/core/clock.h"
#include "berth/core/result.h"

namespace berth::sources {

// Of one kind of thing that a source reads; for metrics, the numbers are counted since the start.
struct SourceCounters {
  std::string resource;        // "nodes", "pods", "file"
  bool connected = false;      // now, and of this resource alone
  std::uint64_t lists = 0;     // complete views taken
  std::uint64_t watches = 0;   // watches begun
  std::uint64_t events = 0;    // single changes taken
  std::uint64_t restarts = 0;  // watches resumed after a failure
  std::uint64_t gone = 0;      // versions no longer kept (410)
  std::uint64_t failures = 0;  // attempts that failed
  // Objects left out because they could not be read, or of which a part was; and events likewise.
  std::uint64_t broken_objects = 0;
  core::WallTime last_event{};  // epoch: none yet
};

class Source {
 public:
  virtual ~Source() = default;
  // An error is one that waiting would not mend; it names the place and what to do.
  virtual core::Result<void> start() = 0;
  virtual void stop() = 0;

  // A first complete view has been pushed.
  [[nodiscard]] virtual bool synced() const = 0;
  // What has been pushed is as new as it can be; false while the other side is out of reach or unreadable.
  [[nodiscard]] virtual bool connected() const = 0;
  // Why not synced, or why not connected, for a person; empty if both.
  [[nodiscard]] virtual std::string why_not_ready() const = 0;
  [[nodiscard]] virtual std::vector<SourceCounters> counters() const = 0;
};

}  // namespace berth::sources
