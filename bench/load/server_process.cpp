#include "server_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>

#include "berth/kube/kubeconfig.h"
#include "sockets.h"

namespace berth::bench {
namespace {

using core::ErrorCode;
using std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{120};

std::uint16_t port_in(std::string_view output, std::string_view line) {
  const std::size_t at = output.find(line);
  if (at == std::string_view::npos) return 0;
  const std::size_t end = output.find('\n', at);
  if (end == std::string_view::npos) return 0;
  const std::size_t colon = output.rfind(':', end);
  std::uint16_t port = 0;
  std::from_chars(output.data() + colon + 1, output.data() + end, port);
  return port;
}

}  // namespace

ScratchDirectory::ScratchDirectory() {
  std::string name = (std::filesystem::temp_directory_path() / "berth-bench-XXXXXX").string();
  if (::mkdtemp(name.data()) != nullptr) path_ = name;
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

std::string write_kubeconfig(const std::filesystem::path& directory, std::uint16_t port) {
  const std::filesystem::path path = directory / ("kubeconfig-" + std::to_string(port));
  std::ofstream(path) << kube::kubeconfig_for("http://127.0.0.1:" + std::to_string(port));
  return path.string();
}

core::Result<ServerProcess> ServerProcess::start(const std::string& kubeconfig, const std::filesystem::path& directory,
                                                 bool binds) {
  std::error_code no_path;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", no_path).parent_path() / "bench_server";
  if (no_path || !std::filesystem::exists(program)) {
    return core::fail(ErrorCode::kNotFound, "is missing; build the target bench_server", program.string());
  }
  const std::string name = program.string();
  const std::string log = (directory / "server.log").string();
  std::vector<const char*> arguments = {name.c_str(), "serve",       "--kubeconfig",   kubeconfig.c_str(),
                                        "--listen",   "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"};
  if (binds) arguments.insert(arguments.end(), {"--bind-listen", "127.0.0.1:0"});
  arguments.push_back(nullptr);
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return core::fail(ErrorCode::kUnavailable, std::strerror(errno), "pipe");
  ServerProcess server;
  const pid_t parent = ::getpid();
  const auto began = steady_clock::now();
  server.pid_ = ::fork();
  if (server.pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    ::dup2(pipe[1], STDOUT_FILENO);
    const int errors = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (errors >= 0) ::dup2(errors, STDERR_FILENO);
    // execv() takes pointers to non-const, but only reads.
    ::execv(name.c_str(), const_cast<char* const*>(arguments.data()));
    ::_exit(127);
  }
  ::close(pipe[1]);
  server.output_ = pipe[0];
  if (server.pid_ < 0) return core::fail(ErrorCode::kUnavailable, std::strerror(errno), "fork");
  auto ready = server.read_ports(binds);
  if (ready) ready = server.wait_ready();
  if (!ready) {
    std::stringstream text;
    text << std::ifstream(log).rdbuf();
    return core::fail(ready.error().code, ready.error().to_string() + "\n" + text.str(), "bench_server");
  }
  server.seconds_to_ready_ = std::chrono::duration<double>(steady_clock::now() - began).count();
  return server;
}

core::Result<void> ServerProcess::read_ports(bool binds) {
  std::string output;
  const auto until = steady_clock::now() + kPatience;
  while (extender_port_ == 0 || admin_port_ == 0 || (binds && bind_port_ == 0)) {
    pollfd wait{output_, POLLIN, 0};
    if (steady_clock::now() > until || ::poll(&wait, 1, 1000) < 0) {
      return core::fail(ErrorCode::kTimeout, "does not say where it listens");
    }
    if (wait.revents == 0) continue;
    std::array<char, 512> piece{};
    const ssize_t got = ::read(output_, piece.data(), piece.size());
    if (got <= 0) return core::fail(ErrorCode::kUnavailable, "ended at once");
    output.append(piece.data(), static_cast<std::size_t>(got));
    extender_port_ = port_in(output, "extender listening on ");
    admin_port_ = port_in(output, "admin listening on ");
    bind_port_ = port_in(output, "bind listening on ");
  }
  return {};
}

core::Result<void> ServerProcess::wait_ready() {
  const auto until = steady_clock::now() + kPatience;
  auto client = HttpClient::connect(admin_port_);
  if (!client) return tl::unexpected(client.error());
  while (steady_clock::now() < until) {
    const auto answer = client->get("/readyz");
    if (!answer) return tl::unexpected(answer.error());
    if (answer->status == 200) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return core::fail(ErrorCode::kTimeout, "is not ready after two minutes");
}

ServerProcess::ServerProcess(ServerProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      output_(std::exchange(other.output_, -1)),
      extender_port_(other.extender_port_),
      admin_port_(other.admin_port_),
      bind_port_(other.bind_port_),
      seconds_to_ready_(other.seconds_to_ready_) {}

ServerProcess::~ServerProcess() {
  if (output_ >= 0) ::close(output_);
  if (pid_ <= 0) return;
  ::kill(pid_, SIGTERM);
  const auto until = steady_clock::now() + std::chrono::seconds(10);
  while (::waitpid(pid_, nullptr, WNOHANG) == 0) {
    if (steady_clock::now() > until) ::kill(pid_, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

double ServerProcess::resident_mib() const {
  std::ifstream file("/proc/" + std::to_string(pid_) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmRSS:")) return std::strtod(line.c_str() + 6, nullptr) / 1024;
  }
  return 0;
}

std::chrono::nanoseconds ServerProcess::cpu_time() const {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(pid_, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return {};
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace berth::bench
