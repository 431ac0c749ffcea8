#include "report.h"

#include <cstdio>
#include <string>

namespace berth::cli {

int report(int status, std::string_view message) {
  std::string line = "berth: " + std::string(message) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
  return status;
}

}  // namespace berth::cli
