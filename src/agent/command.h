// Runs a program and takes what it prints, whatever the program does.
//
// The child gets no shell, an empty standard input, a process group of its own, no signals blocked, and none of our
// file descriptors. At the deadline, at a cancel, or when it prints too much, the group is killed. One that can't even
// be killed, as those who wait for a broken driver, is left behind, and no other is started while it is there.
//
// Not thread-safe.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "berth/core/result.h"
#include "berth/net/cancellation.h"

namespace berth::agent {

struct CommandLimits {
  std::chrono::milliseconds deadline{30'000};
  std::size_t output_bytes = 4U << 20U;
};

struct CommandOutput {
  int exit_status = 0;  // 128 + signal for one that was killed
  std::string out;
  std::string errors;  // the beginning of what it wrote to standard error

  // For a message: "exit status 9: FIRST LINE".
  [[nodiscard]] std::string summary() const;
};

class Command {
 public:
  // `program` is looked up in PATH unless it has a slash.
  Command(std::string program, CommandLimits limits) : program_(std::move(program)), limits_(limits) {}

  // kNotFound if there is no such program; kTimeout, kTooLarge, kCancelled; kUnavailable if it can't be started.
  core::Result<CommandOutput> run(const std::vector<std::string>& arguments, const net::Cancellation& cancellation);

 private:
  const std::string program_;
  const CommandLimits limits_;
  pid_t left_behind_ = 0;  // 0: none
};

}  // namespace berth::agent
