// Keeps a target in step with one resource of the API server: a list in pages, then a watch, for ever.
//
// The rules: a watch that ends is resumed at the last version seen, after a failure with back-off and jitter; 410 Gone,
// as status or as an event in the stream, leads to a new list, and so does a line that can't be read; the back-off
// begins anew, and an outage is over, only once a watch has lasted, because a server in trouble may well answer a first
// page or send a first event each time; a watch that stays silent longer than bookmarks allow (about one a minute) is
// taken for dead. A new list replaces everything, so that what was deleted in between goes. Nothing makes it give up
// but stop(). (k8s.io/client-go tools/cache/reflector.go.)
//
// Thread-safe: start() once, stop() and status() from any thread. The target is called on the reflector's own thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "berth/codec/kubernetes_objects.h"
#include "berth/core/clock.h"
#include "berth/core/result.h"
#include "berth/kube/api_client.h"

namespace berth::kube {

struct PageInfo {
  std::string resource_version;
  std::string continue_token;  // empty on the last page
  std::size_t broken = 0;      // items left out because they could not be read, or of which a part was
  std::string first_broken_why;
};

struct EventInfo {
  codec::WatchEventType type = codec::WatchEventType::kBookmark;
  std::string resource_version;
  int status_code = 0;  // with kError
  std::string message;
  std::string broken_why;  // why a part of the object was passed over; empty if none was
};

// Takes what a reflector gets. A list is taken page by page and counts when it is finished.
class ReflectorTarget {
 public:
  virtual ~ReflectorTarget() = default;
  virtual void begin_list() = 0;  // pages of a list that was not finished are void
  virtual core::Result<PageInfo> take_page(std::string& body) = 0;
  virtual void finish_list() = 0;
  virtual core::Result<EventInfo> take_event(std::string& line) = 0;
};

struct ReflectorOptions {
  std::string name = {};                            // in logs: "nodes"
  std::string path = {};                            // "/api/v1/nodes"
  bool may_vanish = false;                          // 404 means that the kind is served no longer: no warning
  std::size_t page_size = 500;                      // items; 0: all at once
  std::chrono::milliseconds list_deadline{60'000};  // of one page
  std::chrono::seconds watch_min{290};              // the server ends a watch after a random time between these two
  std::chrono::seconds watch_max{350};
  std::chrono::milliseconds idle_timeout{180'000};
  std::chrono::milliseconds gather{3};  // events that come within this time are read together
  std::chrono::milliseconds backoff_min{100};
  std::chrono::milliseconds backoff_max{10'000};
  std::chrono::milliseconds settled_after{30'000};  // a list that is wanted sooner after the last one waits its turn
  std::chrono::milliseconds watch_settled_after{10'000};
  std::size_t max_page_bytes = 512U << 20U;
  std::size_t max_line_bytes = 16U << 20U;  // etcd takes objects up to 1.5 MB
  std::function<double()> random = {};      // in [0, 1); empty: a generator of its own
  // Waits between attempts; empty: for that long, or until stop().
  std::function<void(std::chrono::milliseconds)> wait = {};
};

struct ReflectorStatus {
  bool synced = false;     // a whole list has been taken once
  bool connected = false;  // the last whole list, or the watch since, went well
  core::WallTime last_event{};
  std::string last_error;  // empty while connected
  std::uint64_t lists = 0;
  std::uint64_t pages = 0;
  std::uint64_t watches = 0;
  std::uint64_t events = 0;    // objects set or gone
  std::uint64_t restarts = 0;  // watches resumed after a failure
  std::uint64_t gone = 0;      // 410, both ways
  std::uint64_t failures = 0;  // requests that failed or broke off
  std::uint64_t outages = 0;   // from a failure until a watch has lasted; the log has two lines of each
  std::uint64_t broken_objects = 0;
  std::uint64_t broken_lines = 0;
};

class Reflector {
 public:
  // All three references must outlive it.
  Reflector(ApiClient& client, ReflectorTarget& target, ReflectorOptions options, const core::Clock& clock);
  ~Reflector();  // stops
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;

  void start();
  // Returns as soon as the target is done with what it is taking, whatever the network does.
  void stop();
  [[nodiscard]] ReflectorStatus status() const;

 private:
  struct Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace berth::kube
