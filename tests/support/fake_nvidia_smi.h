// A program in the place of nvidia-smi: prints what the test has written down for each of its commands.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "support/temp_dir.h"

namespace berth::tests {

class FakeNvidiaSmi {
 public:
  FakeNvidiaSmi() {
    path_ = directory_.write("nvidia-smi",
                             "#!/bin/sh\n"
                             "cd \"${0%/*}\" || exit 99\n"
                             "echo \"$*\" >>calls\n"
                             "case \"$*\" in\n"
                             "  --query-gpu=*) answer=rows ;;\n"
                             "  -q) answer=details ;;\n"
                             "  -L) answer=mig-names ;;\n"
                             "  'mig -lgi') answer=gpu-instances ;;\n"
                             "  'topo -m') answer=topology ;;\n"
                             "  *) echo \"unknown command $*\"; exit 2 ;;\n"
                             "esac\n"
                             "if [ -e hangs ]; then tail -f /dev/null; fi\n"
                             "cat $answer\n"
                             "exit $(cat exit)\n");
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
    set("exit", "0");
    for (const char* name : {"rows", "details", "mig-names", "gpu-instances", "topology"}) set(name, "");
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  // `name`: rows, details, mig-names, gpu-instances, topology; exit: its exit status; hangs: it prints nothing.
  void set(const std::string& name, const std::string& text) { directory_.write(name, text); }
  void unset(const std::string& name) { std::filesystem::remove(directory_.path(name)); }
  [[nodiscard]] std::string calls() const {
    std::ifstream file(directory_.path("calls"));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] std::string sysfs() const { return directory_.path("sys"); }

  // A machine of so many A100 with UUIDs GPU-0, GPU-1, ... at 0000:10:00.0, 0000:11:00.0, ..., minor numbers likewise,
  // all linked by NV12 and on NUMA node 1, and a NIC beside the first.
  void set_a100(int gpus) {
    std::string rows;
    std::string details;
    for (int i = 0; i < gpus; ++i) {
      rows += row(i);
      details += head(i) + "    MIG Mode\n        Current                           : Disabled\n";
    }
    set("rows", rows);
    set("details", details);
    set("topology", topology(gpus));
  }
  static std::string topology(int gpus) {
    const auto name = [](int i) { return "GPU" + std::to_string(i); };
    std::string head;
    std::string body;
    std::string nic = "mlx5_0";
    for (int i = 0; i < gpus; ++i) {
      head += "\t" + name(i);
      body += name(i);
      for (int j = 0; j < gpus; ++j) body += i == j ? "\t X " : "\tNV12";
      body += i == 0 ? "\tPXB\t0-31\t1\n" : "\tSYS\t0-31\t1\n";
      nic += i == 0 ? "\tPXB" : "\tSYS";
    }
    return head + "\tmlx5_0\tCPU Affinity\tNUMA Affinity\n" + body + nic + "\t X \n\nLegend:\n\n  X    = Self\n";
  }
  static std::string row(int gpu) {
    const std::string number = std::to_string(gpu);
    return number + ", GPU-" + number + ", NVIDIA A100-SXM4-40GB, 40960, 00000000:1" + number + ":00.0\n";
  }
  static std::string head(int gpu) {
    const std::string number = std::to_string(gpu);
    return "GPU 00000000:1" + number + ":00.0\n    Minor Number                          : " + number + "\n";
  }

 private:
  TempDir directory_;
  std::string path_;
};

}  // namespace berth::tests
