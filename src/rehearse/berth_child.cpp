#include "berth_child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>

#include "berth/kube/kubeconfig.h"

namespace berth::rehearse {
namespace {

using core::ErrorCode;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{60};
constexpr std::chrono::seconds kEnd{15};
constexpr milliseconds kLook{1};
constexpr off_t kShownLogBytes = 4096;

// Readable by nobody else, and gone as soon as Berth has read what is in it.
class PrivateDirectory {
 public:
  PrivateDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "berth-simulate-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~PrivateDirectory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  PrivateDirectory(const PrivateDirectory&) = delete;
  PrivateDirectory& operator=(const PrivateDirectory&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

bool write_kubeconfig(const std::string& file, std::uint16_t port) {
  std::ofstream out(file);
  out << kube::kubeconfig_for("http://127.0.0.1:" + std::to_string(port));
  out.close();
  return out.good();
}

tl::unexpected<core::Error> failed(const char* call) {
  return core::fail(ErrorCode::kUnavailable, std::string(call) + ": " + std::strerror(errno));
}

}  // namespace

core::Result<std::unique_ptr<BerthChild>> BerthChild::start(const std::string& program, const std::string& config,
                                                            std::uint16_t api_port) {
  const PrivateDirectory directory;
  const std::string kubeconfig = (directory.path() / "kubeconfig").string();
  if (directory.path().empty() || !write_kubeconfig(kubeconfig, api_port)) return failed("writing a kubeconfig");
  std::vector<std::string> arguments = {program,         "serve",       "--kubeconfig",   kubeconfig,
                                        "--listen",      "127.0.0.1:0", "--admin-listen", "127.0.0.1:0",
                                        "--bind-listen", "127.0.0.1:0"};
  if (!config.empty()) arguments.insert(arguments.end(), {"--config", config});
  std::unique_ptr<BerthChild> child(new BerthChild);
  auto good = child->spawn(arguments);
  if (good) good = child->connect();
  if (good) good = child->wait_ready();
  if (good) return child;
  core::Error error = good.error();
  error.message = "berth serve: " + error.message + child->log();
  return tl::unexpected(std::move(error));
}

core::Result<void> BerthChild::spawn(const std::vector<std::string>& arguments) {
  // Before the fork: between it and exec nothing may be allocated.
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return failed("pipe");
  output_ = pipe[0];
  log_ = ::memfd_create("berth.log", MFD_CLOEXEC);
  if (log_ < 0) {
    ::close(pipe[1]);
    return failed("memfd_create");
  }
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(127);
    // Threads of this program may have signals blocked.
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::dup2(pipe[1], STDOUT_FILENO);
    ::dup2(log_, STDERR_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ::close(pipe[1]);
  if (pid_ < 0) return failed("fork");
  return {};
}

core::Result<void> BerthChild::connect() {
  for (auto& client : clients_) {
    const auto line = next_line();
    if (!line) return tl::unexpected(line.error());
    auto made = net::HttpClient::create({.url = "http://127.0.0.1" + line->substr(line->rfind(':'))});
    if (!made) return tl::unexpected(made.error());
    client = *std::move(made);
  }
  return {};
}

// "extender listening on 127.0.0.1:PORT", then admin and bind.
core::Result<std::string> BerthChild::next_line() {
  const auto until = steady_clock::now() + kPatience;
  while (true) {
    if (const std::size_t end = text_.find('\n'); end != std::string::npos) {
      std::string line = text_.substr(0, end);
      text_.erase(0, end + 1);
      if (line.find(" listening on 127.0.0.1:") != std::string::npos) return line;
      return core::fail(ErrorCode::kInvalid, "says \"" + line + "\" instead of where it listens");
    }
    pollfd wait{output_, POLLIN, 0};
    const int ready = ::poll(&wait, 1, 1000);
    if (steady_clock::now() > until) return core::fail(ErrorCode::kTimeout, "does not say where it listens");
    if (ready <= 0) continue;
    std::array<char, 512> piece{};
    const ssize_t got = ::read(output_, piece.data(), piece.size());
    if (got <= 0) return core::fail(ErrorCode::kUnavailable, "ended at once");
    text_.append(piece.data(), static_cast<std::size_t>(got));
  }
}

core::Result<void> BerthChild::wait_ready() {
  const auto until = steady_clock::now() + kPatience;
  core::Error last;
  while (steady_clock::now() < until) {
    const auto ready = get(Port::kAdmin, "/readyz");
    if (ready) return {};
    last = ready.error();
    if (::waitpid(pid_, nullptr, WNOHANG) == pid_) {
      pid_ = -1;
      return core::fail(ErrorCode::kUnavailable, "ended before it was ready");
    }
    std::this_thread::sleep_for(kLook);
  }
  return core::fail(ErrorCode::kTimeout, "is not ready after a minute: " + last.message);
}

core::Result<std::string> BerthChild::call(Port port, const net::HttpRequest& request) {
  auto answer = clients_[static_cast<std::size_t>(port)]->send(request);
  if (!answer) return tl::unexpected(answer.error());
  if (answer->status == 200) return std::move(answer->body);
  return core::fail(ErrorCode::kInvalid, "answered " + std::to_string(answer->status) + ": " + answer->body,
                    request.target);
}

core::Result<std::string> BerthChild::get(Port port, const std::string& path) { return call(port, {.target = path}); }

core::Result<std::string> BerthChild::post(Port port, const std::string& path, std::string body) {
  return call(
      port,
      {.method = net::HttpMethod::kPost, .target = path, .body = std::move(body), .content_type = "application/json"});
}

std::string BerthChild::log() const {
  struct stat about{};
  if (log_ < 0 || ::fstat(log_, &about) != 0 || about.st_size == 0) return {};
  const off_t shown = std::min(about.st_size, kShownLogBytes);
  std::string text(static_cast<std::size_t>(shown), '\0');
  const ssize_t got = ::pread(log_, text.data(), text.size(), about.st_size - shown);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  if (shown < about.st_size) text.erase(0, text.find('\n') + 1);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return "\nits log ends with:\n" + text;
}

BerthChild::~BerthChild() {
  // Its connections first: it waits for those in work.
  for (auto& client : clients_) client.reset();
  if (pid_ > 0) {
    ::kill(pid_, SIGTERM);
    const auto until = steady_clock::now() + kEnd;
    while (::waitpid(pid_, nullptr, WNOHANG) == 0) {
      if (steady_clock::now() > until) ::kill(pid_, SIGKILL);
      std::this_thread::sleep_for(kLook);
    }
  }
  if (output_ >= 0) ::close(output_);
  if (log_ >= 0) ::close(log_);
}

}  // namespace berth::rehearse
