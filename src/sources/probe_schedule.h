// Which Alluxio master is to be asked next, and when.
//
// A master is asked at once when it is new, or when it answers at another address; then every `every`, jittered by a
// quarter so that masters that came together part; more often while a DataLoad runs or pods wait; after failures ever
// more seldom. Those that answer come before those that did not: the dead may keep askers busy, but not from the
// living.
//
// Not thread-safe. Decides only: the time and the randomness are given.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "berth/core/clock.h"
#include "berth/sources/alluxio_prober.h"

namespace berth::sources {

struct ProbeIntervals {
  std::chrono::milliseconds every{20'000};
  std::chrono::milliseconds while_loading{5'000};
  std::chrono::milliseconds while_awaited{400};
  std::chrono::milliseconds longest{120'000};  // between attempts at a master that does not answer
};

class ProbeSchedule {
 public:
  explicit ProbeSchedule(ProbeIntervals intervals) : intervals_(intervals) {}

  // All masters there are now. Of two with one dataset the first counts.
  void set(const std::vector<AlluxioMaster>& masters, core::SteadyTime now);
  // The one to be asked now; it is not given again before done().
  std::optional<AlluxioMaster> take(core::SteadyTime now);

  enum class Turn : std::uint8_t { kSame, kWentSilent, kAnswersAgain, kForgotten };
  // What came of asking; `random` in [0, 1). kForgotten: it is no longer wanted, or at another address.
  Turn done(const AlluxioMaster& master, bool answered, core::SteadyTime now, double random);

  [[nodiscard]] std::size_t masters() const { return entries_.size(); }
  // For how long the one that has been silent longest has not answered; since it is known if it never has.
  [[nodiscard]] std::chrono::nanoseconds oldest(core::SteadyTime now) const;

 private:
  struct Entry {
    AlluxioMaster master;
    bool asked_now = false;
    std::uint32_t failures = 0;               // since it last answered
    std::optional<core::SteadyTime> asked{};  // the last time, to its end
    double jitter = 1;                        // of the next interval
    core::SteadyTime answered{};              // the last time, or since when it is known
  };
  [[nodiscard]] bool due(const Entry& entry, core::SteadyTime now) const;

  ProbeIntervals intervals_;
  std::map<std::string, Entry> entries_;  // by "namespace/name" of the dataset
};

}  // namespace berth::sources
