#include "berth/sources/file_source.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "berth/net/thread.h"
#include "dump_file.h"
#include "file_watch.h"

namespace berth::sources {

using core::ErrorCode;

struct FileSource::State {
  State(FileSourceOptions with, model::UpdateSink& to, const core::Clock& with_clock)
      : options(std::move(with)), sink(to), clock(with_clock) {}

  const FileSourceOptions options;
  model::UpdateSink& sink;
  const core::Clock& clock;
  net::Cancellation cancellation;
  std::optional<FileWatch> watch;
  std::thread thread;

  mutable std::mutex mutex;
  SourceCounters counters{.resource = "file"};
  std::string trouble = "the cluster file has not been read yet";  // empty: the last reading was good

  [[nodiscard]] bool standard_input() const { return options.file == "-"; }
  core::Result<std::string> text() const;
  core::Result<void> read();
  void follow();
};

core::Result<std::string> FileSource::State::text() const {
  if (standard_input()) return read_whole(options.standard_input, "standard input", options.max_bytes);
  const int fd = open(options.file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    const ErrorCode code = errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kUnavailable;
    return core::fail(code, "can't open it: " + std::generic_category().message(errno), options.file);
  }
  auto text = read_whole(fd, options.file, options.max_bytes);
  close(fd);
  return text;
}

core::Result<void> FileSource::State::read() {
  const std::string name = standard_input() ? "standard input" : options.file;
  auto dump = text().and_then([&](std::string json) { return parse_dump(json, name, options.resources); });
  const std::lock_guard lock(mutex);
  if (!dump) {
    trouble = dump.error().to_string();
    ++counters.failures;
    return tl::unexpected(dump.error());
  }
  trouble.clear();
  ++counters.lists;
  counters.last_event = clock.wall();
  spdlog::info("{}: {} nodes, {} pods, {} datasets", name, dump->nodes.size(), dump->pods.size(),
               dump->datasets.size());
  if (dump->broken > 0) {
    spdlog::warn("{}: {} objects have parts that can't be read and are left out: {}", name, dump->broken,
                 dump->first_broken_why);
  }
  counters.broken_objects += dump->broken;
  codec::push_dump(*std::move(dump), sink);
  return {};
}

void FileSource::State::follow() {
  while (watch->wait_for_change(cancellation, options.quiet, options.look_every)) {
    if (const auto result = read(); !result) {
      spdlog::warn("{}; the last good state stays in use", result.error().to_string());
    }
  }
}

FileSource::FileSource(FileSourceOptions options, model::UpdateSink& sink, const core::Clock& clock)
    : state_(std::make_unique<State>(std::move(options), sink, clock)) {}

FileSource::~FileSource() { stop(); }

core::Result<void> FileSource::start() {
  // Before the first reading, so that no change falls between the two.
  if (!state_->standard_input()) state_->watch.emplace(state_->options.file);
  if (auto result = state_->read(); !result) return result;
  if (!state_->watch) return {};
  state_->thread = net::start_thread("cluster file", [state = state_.get()] { state->follow(); });
  return {};
}

void FileSource::stop() {
  state_->cancellation.cancel();
  if (state_->thread.joinable()) state_->thread.join();
}

bool FileSource::synced() const {
  const std::lock_guard lock(state_->mutex);
  return state_->counters.lists > 0;
}

bool FileSource::connected() const {
  const std::lock_guard lock(state_->mutex);
  return state_->trouble.empty();
}

std::string FileSource::why_not_ready() const {
  const std::lock_guard lock(state_->mutex);
  return state_->trouble;
}

std::vector<SourceCounters> FileSource::counters() const {
  const std::lock_guard lock(state_->mutex);
  SourceCounters counters = state_->counters;
  counters.connected = state_->trouble.empty();
  return {std::move(counters)};
}

}  // namespace berth::sources
