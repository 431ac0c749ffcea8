#include "berth/kube/reflector.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "berth/core/thread_class.h"
#include "berth/kube/backoff.h"
#include "berth/net/thread.h"
#include "line_splitter.h"

namespace berth::kube {
namespace {

using core::ErrorCode;
using std::chrono::milliseconds;

// What the loop does after a list or a watch.
enum class Next { kWatch, kRetry, kList };

std::string escape_query(const std::string& text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4U];
      out += kHex[byte & 0xFU];
    }
  }
  return out;
}

// After an etcd restored from a backup our version lies in the future: the server would never send what we miss.
bool is_version_too_large(const std::string& message) {
  return message.find("Too large resource version") != std::string::npos;
}

// A watch refused with one of these would be refused again; all others pass with time, or with new rights.
bool wants_new_list(int status) {
  return status >= 400 && status < 500 && status != 401 && status != 403 && status != 408 && status != 429;
}

}  // namespace

struct Reflector::Loop {
  Loop(ApiClient& with, ReflectorTarget& to, ReflectorOptions with_options, const core::Clock& with_clock)
      : client(with),
        target(to),
        options(std::move(with_options)),
        clock(with_clock),
        retry(options.backoff_min, options.backoff_max),
        relist(options.backoff_min, options.backoff_max) {}

  ApiClient& client;
  ReflectorTarget& target;
  const ReflectorOptions options;
  const core::Clock& clock;
  net::Cancellation cancellation;
  std::thread thread;
  std::mt19937_64 generator{std::random_device{}()};

  // Of the loop's thread.
  Backoff retry;   // after requests that failed
  Backoff relist;  // before lists that follow one another closely
  std::string version;
  std::optional<core::SteadyTime> listed_at;
  std::optional<std::chrono::seconds> retry_after;
  bool outage = false;  // since the first failure, until a watch has lasted
  bool told_broken_line = false;
  bool told_broken_object = false;

  mutable std::mutex mutex;
  ReflectorStatus status;

  void run();
  Next list();
  std::optional<PageInfo> take_page(std::string& body);
  Next watch();
  Next take_event(std::string& line);
  Next in_stream_error(const EventInfo& event);
  Next gone(const std::string& message);
  Next broken_line(const std::string& why);
  void tell_broken_object(const std::string& why);
  Next failed(const ApiError& error);

  template <class Change>
  void change(Change with) {
    const std::lock_guard lock(mutex);
    with(status);
  }
  void connected();
  void settled();
  double random() {
    return options.random ? options.random() : std::uniform_real_distribution<double>(0, 1)(generator);
  }
  void wait(milliseconds time) {
    if (options.wait) {
      options.wait(time);
    } else {
      cancellation.wait_for(time);
    }
  }
};

void Reflector::Loop::run() {
  Next next = Next::kList;
  while (!cancellation.cancelled()) {
    const bool listing = next == Next::kList || version.empty();
    if (listing && listed_at && clock.now() - *listed_at < options.settled_after) {
      wait(relist.next(random()));
    } else if (listing) {
      relist.reset();
    }
    if (cancellation.cancelled()) return;
    next = listing ? list() : watch();
    if (next == Next::kRetry && !cancellation.cancelled()) {
      constexpr milliseconds kLongest{60'000};
      milliseconds time = retry.next(random());
      if (retry_after) time = std::max(time, std::min<milliseconds>(*retry_after, kLongest));
      wait(time);
    }
  }
}

Next Reflector::Loop::list() {
  target.begin_list();
  version.clear();
  PageInfo page;
  std::size_t pages = 0;
  do {
    std::string query = options.path;
    if (options.page_size > 0) query += "?limit=" + std::to_string(options.page_size);
    if (!page.continue_token.empty()) query += "&continue=" + escape_query(page.continue_token);
    auto body = client.get(query, {.deadline = options.list_deadline,
                                   .max_response_bytes = options.max_page_bytes,
                                   .cancellation = &cancellation});
    if (!body) {
      if (body.error().code != ErrorCode::kGone) return failed(body.error());
      listed_at = clock.now();
      return gone(body.error().message);
    }
    auto taken = take_page(*body);
    if (!taken) return Next::kRetry;
    page = std::move(*taken);
    ++pages;
  } while (!page.continue_token.empty() && !cancellation.cancelled());
  if (cancellation.cancelled()) return Next::kList;

  target.finish_list();
  connected();
  version = std::move(page.resource_version);  // every page has that of the first
  listed_at = clock.now();
  change([&](ReflectorStatus& to) {
    to.synced = true;
    to.last_event = clock.wall();
    ++to.lists;
  });
  spdlog::info("{}: listed in {} page{}", options.name, pages, pages == 1 ? "" : "s");
  return Next::kWatch;
}

std::optional<PageInfo> Reflector::Loop::take_page(std::string& body) {
  auto page = target.take_page(body);
  if (page && page->resource_version.empty()) {
    page = core::fail(ErrorCode::kInvalid, "it has no resourceVersion", "metadata");
  }
  if (!page) {
    ApiError error;
    static_cast<core::Error&>(error) = page.error();
    error.message = "a list can't be read: " + error.message;
    failed(error);
    return std::nullopt;
  }
  change([&](ReflectorStatus& to) {
    ++to.pages;
    to.broken_objects += page->broken;
  });
  if (page->broken > 0) tell_broken_object(page->first_broken_why);
  return std::move(*page);
}

Next Reflector::Loop::watch() {
  const auto span = static_cast<double>((options.watch_max - options.watch_min).count());
  const auto seconds = options.watch_min + std::chrono::seconds(static_cast<std::int64_t>(span * random()));
  const std::string query = options.path +
                            "?watch=1&allowWatchBookmarks=true&timeoutSeconds=" + std::to_string(seconds.count()) +
                            "&resourceVersion=" + escape_query(version);
  change([](ReflectorStatus& to) { ++to.watches; });
  std::optional<core::SteadyTime> opened;
  const auto lasted = [&] { return opened && clock.now() - *opened >= options.watch_settled_after; };
  Next verdict = Next::kWatch;
  LineSplitter splitter(options.max_line_bytes);
  const net::StreamHandler handler{.on_open =
                                       [&] {
                                         opened = clock.now();
                                         connected();
                                       },
                                   .on_chunk =
                                       [&](std::string_view bytes) {
                                         const auto end = splitter.feed(bytes, [&](std::string& line) {
                                           verdict = take_event(line);
                                           if (verdict == Next::kWatch && lasted()) settled();
                                           return verdict == Next::kWatch && !cancellation.cancelled();
                                         });
                                         if (end == LineSplitter::End::kLineTooLong)
                                           verdict = broken_line("it is too long");
                                         return end == LineSplitter::End::kTakenAll;
                                       }};
  // The server ends the watch; the deadline is for one that forgets to.
  constexpr milliseconds kGrace{30'000};
  const auto result = client.stream(query, handler,
                                    {.deadline = seconds + kGrace,
                                     .idle_timeout = options.idle_timeout,
                                     .gather = options.gather,
                                     .cancellation = &cancellation});
  if (cancellation.cancelled() || verdict != Next::kWatch) return verdict;
  if (lasted()) settled();
  if (!result) {
    if (result.error().code == ErrorCode::kGone) return gone(result.error().message);
    if (is_version_too_large(result.error().message)) return gone(result.error().message);
    failed(result.error());
    if (wants_new_list(result.error().status)) return Next::kList;
    change([](ReflectorStatus& to) { ++to.restarts; });
    return Next::kRetry;
  }
  retry_after.reset();
  // A server that accepts every watch and soon ends it must not be asked in a tight loop.
  return lasted() ? Next::kWatch : Next::kRetry;
}

Next Reflector::Loop::take_event(std::string& line) {
  auto event = target.take_event(line);
  if (!event) return broken_line(event.error().to_string());
  if (event->type == codec::WatchEventType::kError) return in_stream_error(*event);
  if (event->resource_version.empty()) return broken_line("it has no resourceVersion");
  version = std::move(event->resource_version);
  change([&](ReflectorStatus& to) {
    to.last_event = clock.wall();
    if (event->type != codec::WatchEventType::kBookmark) ++to.events;
    if (!event->broken_why.empty()) ++to.broken_objects;
  });
  if (!event->broken_why.empty()) tell_broken_object(event->broken_why);
  return Next::kWatch;
}

Next Reflector::Loop::in_stream_error(const EventInfo& event) {
  if (event.status_code == 410 || is_version_too_large(event.message)) return gone(event.message);
  ApiError error;
  error.code = ErrorCode::kUnavailable;
  error.status = event.status_code;
  error.message = "the watch ended with an error " + std::to_string(event.status_code) + ": " + event.message;
  failed(error);
  if (wants_new_list(event.status_code)) return Next::kList;
  change([](ReflectorStatus& to) { ++to.restarts; });
  return Next::kRetry;
}

Next Reflector::Loop::gone(const std::string& message) {
  change([](ReflectorStatus& to) { ++to.gone; });
  spdlog::info("{}: the version we have is no longer kept, listing again ({})", options.name, message);
  return Next::kList;
}

void Reflector::Loop::tell_broken_object(const std::string& why) {
  if (std::exchange(told_broken_object, true)) return;
  spdlog::warn("{}: objects that can't be read are left out: {}", options.name, why);
}

Next Reflector::Loop::broken_line(const std::string& why) {
  change([](ReflectorStatus& to) { ++to.broken_lines; });
  if (!std::exchange(told_broken_line, true)) {
    spdlog::warn("{}: a watch event can't be read, listing again: {}", options.name, why);
  }
  return Next::kList;
}

Next Reflector::Loop::failed(const ApiError& error) {
  if (cancellation.cancelled()) return Next::kRetry;
  retry_after = error.retry_after;
  // Once an outage, else a long one, or one that comes and goes, would fill the log.
  const bool first = !std::exchange(outage, true);
  const bool told = first && !(options.may_vanish && error.code == ErrorCode::kNotFound);
  change([&](ReflectorStatus& to) {
    to.connected = false;
    to.last_error = error.to_string();
    ++to.failures;
    if (first) ++to.outages;
  });
  spdlog::log(told ? spdlog::level::warn : spdlog::level::debug, "{}: {}; trying again", options.name,
              error.to_string());
  return Next::kRetry;
}

void Reflector::Loop::connected() {
  retry_after.reset();
  change([](ReflectorStatus& to) {
    to.connected = true;
    to.last_error.clear();
  });
}

void Reflector::Loop::settled() {
  retry.reset();
  if (std::exchange(outage, false)) spdlog::info("{}: connected again", options.name);
}

Reflector::Reflector(ApiClient& client, ReflectorTarget& target, ReflectorOptions options, const core::Clock& clock)
    : loop_(std::make_unique<Loop>(client, target, std::move(options), clock)) {}

Reflector::~Reflector() { stop(); }

void Reflector::start() {
  loop_->thread = net::start_thread(loop_->options.name, [loop = loop_.get()] {
    core::favour_throughput();
    loop->run();
  });
}

void Reflector::stop() {
  loop_->cancellation.cancel();
  if (loop_->thread.joinable()) loop_->thread.join();
}

ReflectorStatus Reflector::status() const {
  const std::lock_guard lock(loop_->mutex);
  return loop_->status;
}

}  // namespace berth::kube
