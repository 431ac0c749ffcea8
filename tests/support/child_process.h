// A program run as a child: its output read line by line, signals, its exit status.
#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

namespace berth::tests {

inline constexpr std::chrono::seconds kDeadline{30};

class ChildProcess {
 public:
  enum class Input { kClosed, kOpen };

  // `arguments[0]` is the program. `input` goes to its standard input, which is then closed or stays open.
  explicit ChildProcess(const std::vector<std::string>& arguments, const std::string& input = {},
                        Input then = Input::kClosed) {
    int in[2];
    int out[2];
    int err[2];
    if (pipe(in) != 0 || pipe(out) != 0 || pipe(err) != 0) throw std::runtime_error("pipe");
    pid_ = fork();
    if (pid_ < 0) throw std::runtime_error("fork");
    if (pid_ == 0) {
      dup2(in[0], 0);
      dup2(out[1], 1);
      dup2(err[1], 2);
      for (const int fd : {in[0], in[1], out[0], out[1], err[0], err[1]}) close(fd);
      std::vector<char*> argv;
      for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
      argv.push_back(nullptr);
      execv(argv[0], argv.data());
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    close(err[1]);
    out_ = out[0];
    err_ = err[0];
    signal(SIGPIPE, SIG_IGN);
    for (std::size_t at = 0; at < input.size();) {
      const auto wrote = write(in[1], input.data() + at, input.size() - at);
      if (wrote <= 0) break;
      at += static_cast<std::size_t>(wrote);
    }
    if (then == Input::kOpen) {
      in_ = in[1];
    } else {
      close(in[1]);
    }
  }
  ~ChildProcess() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    if (in_ >= 0) close(in_);
    close(out_);
    close(err_);
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // The next line of standard output, without its end; throws at the end of output and after the deadline.
  std::string line() {
    while (true) {
      if (const auto end = output_.find('\n'); end != std::string::npos) {
        std::string text = output_.substr(0, end);
        output_.erase(0, end + 1);
        return text;
      }
      if (!read_some(out_, output_)) throw std::runtime_error("output ended; standard error: " + rest_of_errors());
    }
  }
  // All of standard output that has not been read as lines, to its end.
  std::string rest_of_output() {
    while (read_some(out_, output_)) {
    }
    return std::exchange(output_, {});
  }
  std::string rest_of_errors() {
    std::string errors;
    while (read_some(err_, errors)) {
    }
    return errors;
  }
  void send_signal(int number) const { kill(pid_, number); }
  // The exit status, or 128 + the signal that ended it.
  int wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  // False at the end of the stream; throws after the deadline.
  static bool read_some(int fd, std::string& into) {
    pollfd wanted{fd, POLLIN, 0};
    const int ready = poll(&wanted, 1, static_cast<int>(std::chrono::milliseconds(kDeadline).count()));
    if (ready <= 0) throw std::runtime_error("the child said nothing for 30 s");
    char piece[4096];
    const auto got = read(fd, piece, sizeof piece);
    if (got > 0) into.append(piece, static_cast<std::size_t>(got));
    return got > 0;
  }

  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
  int err_ = -1;
  std::string output_;
};

}  // namespace berth::tests
