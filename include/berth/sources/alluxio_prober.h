// Asks each Alluxio master how many bytes its workers hold, and pushes what it says (Measured).
//
// Off the path of requests: a master that is slow, dead or lying costs freshness and nothing else. What fails (no
// answer in time, too large, not 200, not readable) changes nothing that was known, is counted, and is told in the log
// once an outage. (GET /api/v1/master/info, AlluxioMasterRestServiceHandler.java of Alluxio/alluxio, 2.9.)
//
// Thread-safe, but start() and stop(), which are called once each from one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "berth/core/clock.h"
#include "berth/model/cluster_update.h"
#include "berth/model/dataset.h"

namespace berth::sources {

// The master of a dataset's cache.
struct AlluxioMaster {
  model::DatasetRef dataset;
  std::string address;   // IP and port of its web server, "10.0.0.7:19999" or "[fd00::7]:19999"
  bool loading = false;  // coverage is about to rise
  bool awaited = false;  // pods wait for it to rise
};

struct AlluxioProberOptions {
  std::chrono::milliseconds every{20'000};         // a master is asked, jittered by a quarter
  std::chrono::milliseconds while_loading{5'000};  // the same of one whose dataset is loading
  // The same of one whose dataset pods wait for: they are to be woken within a second of the change.
  std::chrono::milliseconds while_awaited{400};
  std::chrono::milliseconds longest{120'000};  // between attempts at one that does not answer
  std::chrono::milliseconds look_every{250};   // which masters there are, and which are due
  std::chrono::milliseconds deadline{2'000};   // of an answer, to its last byte
  std::size_t max_answer_bytes = std::size_t{4} << 20U;
  std::size_t in_flight = 8;
  std::function<double()> random = {};                       // in [0, 1); empty: a generator of its own
  std::function<void(std::chrono::milliseconds)> wait = {};  // between looks; empty: so long, or until stop()
};

struct ProberCounters {
  std::size_t masters = 0;             // there are now
  std::uint64_t probes = 0;            // done since the start
  std::uint64_t failures = 0;          // of them without a figure
  std::chrono::nanoseconds oldest{0};  // since the least recent answer of a master that there is; 0 without masters
};

class AlluxioProber {
 public:
  // `masters` tells which there are, and is called on a thread of its own. `sink` and `clock` must outlive the prober.
  AlluxioProber(std::function<std::vector<AlluxioMaster>()> masters, model::UpdateSink& sink,
                AlluxioProberOptions options, const core::Clock& clock);
  ~AlluxioProber();  // stops
  AlluxioProber(const AlluxioProber&) = delete;
  AlluxioProber& operator=(const AlluxioProber&) = delete;

  void start();
  // At once, whatever the masters do.
  void stop();
  [[nodiscard]] ProberCounters counters() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace berth::sources
