// bench_server as a child: started on free ports, asked for its memory, and stopped.
//
// Not thread-safe. The child dies with us.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "berth/core/result.h"

namespace berth::bench {

// A directory that is removed with all that is in it.
class ScratchDirectory {
 public:
  ScratchDirectory();
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Writes a kubeconfig for an API server on loopback into `directory`, and returns its path.
std::string write_kubeconfig(const std::filesystem::path& directory, std::uint16_t port);

class ServerProcess {
 public:
  // The bench_server that lies beside the running program, with `berth serve --kubeconfig FILE`; its log goes to
  // `directory`. Returns when /readyz says so, or fails after two minutes. `binds`: with Bind on.
  static core::Result<ServerProcess> start(const std::string& kubeconfig, const std::filesystem::path& directory,
                                           bool binds = false);
  ~ServerProcess();
  ServerProcess(ServerProcess&& other) noexcept;
  ServerProcess& operator=(ServerProcess&&) = delete;

  [[nodiscard]] std::uint16_t extender_port() const { return extender_port_; }
  [[nodiscard]] std::uint16_t admin_port() const { return admin_port_; }
  [[nodiscard]] std::uint16_t bind_port() const { return bind_port_; }  // 0 without Bind
  [[nodiscard]] double seconds_to_ready() const { return seconds_to_ready_; }
  // Resident memory now, in MiB; 0 if it can't be read.
  [[nodiscard]] double resident_mib() const;
  // Processor time that the child has used so far, all its threads together.
  [[nodiscard]] std::chrono::nanoseconds cpu_time() const;

 private:
  ServerProcess() = default;
  core::Result<void> read_ports(bool binds);
  core::Result<void> wait_ready();

  pid_t pid_ = -1;
  int output_ = -1;
  std::uint16_t extender_port_ = 0;
  std::uint16_t admin_port_ = 0;
  std::uint16_t bind_port_ = 0;
  double seconds_to_ready_ = 0;
};

}  // namespace berth::bench
