// Reads the machine: runs nvidia-smi, looks into sysfs, and joins what they tell.
//
// Not thread-safe.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "berth/core/result.h"
#include "berth/net/cancellation.h"
#include "command.h"
#include "machine_reading.h"

namespace berth::agent {

struct ProbeResult {
  MachineReading reading;
  std::optional<core::Error> partial;  // why links, or starts of partitions, are missing; the rest is good
};

class MachineProbe {
 public:
  MachineProbe(std::string nvidia_smi, std::filesystem::path sysfs, CommandLimits limits)
      : name_(nvidia_smi), command_(std::move(nvidia_smi), limits), sysfs_(std::move(sysfs)) {}

  // kNotFound if the machine has no GPU, no driver or no nvidia-smi. When GPUs don't answer and the driver tells
  // nothing else for it, the result is the last reading with those GPUs as not healthy. Links are asked for only when
  // GPUs have changed, and are kept when that fails: they are wired.
  core::Result<ProbeResult> read(const net::Cancellation& cancellation);

 private:
  // Output, or why there is none; the message names the command.
  core::Result<CommandOutput> run(const std::vector<std::string>& arguments, const net::Cancellation& cancellation);
  template <class T>
  core::Result<T> ask(const std::vector<std::string>& arguments, core::Result<T> (*reader)(std::string_view),
                      const net::Cancellation& cancellation);
  void read_links(ProbeResult& result, const net::Cancellation& cancellation);

  const std::string name_;
  Command command_;
  const std::filesystem::path sysfs_;
  std::optional<MachineReading> last_;
};

}  // namespace berth::agent
