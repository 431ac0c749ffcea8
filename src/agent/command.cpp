#include "command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include "berth/core/text.h"

namespace berth::agent {
namespace {

using core::ErrorCode;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kErrorBytes = 4'096;
constexpr milliseconds kKillGrace{2'000};
constexpr milliseconds kLook{5};

class Pipe {
 public:
  Pipe() = default;
  ~Pipe() {
    close_read();
    close_write();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  bool open() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    read_ = ends[0];
    write_ = ends[1];
    return fcntl(read_, F_SETFL, O_NONBLOCK) == 0;
  }
  void close_read() { close_end(read_); }
  void close_write() { close_end(write_); }
  [[nodiscard]] int read_end() const { return read_; }
  [[nodiscard]] int write_end() const { return write_; }

 private:
  static void close_end(int& end) {
    if (end >= 0) close(end);
    end = -1;
  }
  int read_ = -1;
  int write_ = -1;
};

// posix_spawn(), because our process has threads that hold locks: a fork() would copy them held.
int spawn(const std::string& program, const std::vector<std::string>& arguments, const Pipe& out, const Pipe& err,
          pid_t& child) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.write_end(), 1);
  posix_spawn_file_actions_adddup2(&actions, err.write_end(), 2);
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const int failed = posix_spawnp(&child, program.c_str(), &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

// Takes what is there. False at the end.
bool drain(int fd, std::string& into, std::size_t most) {
  std::array<char, 16'384> piece;
  while (true) {
    const ssize_t got = read(fd, piece.data(), piece.size());
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0) return false;
    const auto room = most - std::min(most, into.size());
    into.append(piece.data(), std::min(room, static_cast<std::size_t>(got)));
    if (static_cast<std::size_t>(got) > room) return true;  // the caller sees that it is full
  }
}

// The exit status, if it ends in time.
std::optional<int> reap(pid_t child, steady_clock::time_point until, const net::Cancellation* cancellation) {
  while (true) {
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (ended < 0 && errno != EINTR) return 0;
    if (steady_clock::now() >= until || (cancellation != nullptr && cancellation->cancelled())) return std::nullopt;
    poll(nullptr, 0, static_cast<int>(kLook.count()));
  }
}

}  // namespace

std::string CommandOutput::summary() const {
  std::string_view said = core::trimmed(errors).empty() ? out : errors;
  said = core::trimmed(said);
  said = said.substr(0, std::min<std::size_t>(said.find('\n'), 256));
  return "exit status " + std::to_string(exit_status) + (said.empty() ? "" : ": " + std::string(said));
}

core::Result<CommandOutput> Command::run(const std::vector<std::string>& arguments,
                                         const net::Cancellation& cancellation) {
  if (left_behind_ != 0) {
    if (!reap(left_behind_, steady_clock::now(), nullptr)) {
      return core::fail(ErrorCode::kTimeout, "process " + std::to_string(left_behind_) +
                                                 ", started earlier, still can't be killed; is the driver stuck?");
    }
    left_behind_ = 0;
  }
  if (cancellation.cancelled()) return core::fail(ErrorCode::kCancelled, "stopping");
  Pipe out;
  Pipe err;
  if (!out.open() || !err.open()) return core::fail(ErrorCode::kUnavailable, std::generic_category().message(errno));
  pid_t child = 0;
  if (const int failed = spawn(program_, arguments, out, err, child); failed != 0) {
    const auto code = failed == ENOENT ? ErrorCode::kNotFound : ErrorCode::kUnavailable;
    return core::fail(code, "can't be started: " + std::generic_category().message(failed));
  }
  out.close_write();
  err.close_write();

  CommandOutput output;
  const auto until = steady_clock::now() + limits_.deadline;
  std::optional<core::Error> failure;
  while (!failure && (out.read_end() >= 0 || err.read_end() >= 0)) {
    const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now());
    std::array<pollfd, 3> waited{pollfd{out.read_end(), POLLIN, 0}, pollfd{err.read_end(), POLLIN, 0},
                                 pollfd{cancellation.fd(), POLLIN, 0}};
    if (cancellation.cancelled()) {
      failure = core::Error{ErrorCode::kCancelled, "stopping", {}};
    } else if (left.count() <= 0) {
      failure = core::Error{
          ErrorCode::kTimeout, "gave no answer within " + std::to_string(limits_.deadline.count()) + " ms", {}};
    } else if (poll(waited.data(), waited.size(), static_cast<int>(left.count())) > 0) {
      if (waited[0].revents != 0 && !drain(out.read_end(), output.out, limits_.output_bytes)) out.close_read();
      if (waited[1].revents != 0 && !drain(err.read_end(), output.errors, kErrorBytes)) err.close_read();
      if (output.out.size() >= limits_.output_bytes) {
        failure = core::Error{
            ErrorCode::kTooLarge, "printed more than " + std::to_string(limits_.output_bytes) + " bytes", {}};
      }
    }
  }
  if (!failure) {
    if (const auto status = reap(child, until, &cancellation)) {
      output.exit_status = *status;
      return output;
    }
    failure = core::Error{cancellation.cancelled() ? ErrorCode::kCancelled : ErrorCode::kTimeout, "did not end", {}};
  }
  kill(-child, SIGKILL);
  if (!reap(child, steady_clock::now() + kKillGrace, nullptr)) left_behind_ = child;
  return tl::unexpected(*failure);
}

}  // namespace berth::agent
