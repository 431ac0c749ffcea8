// The flags of every subcommand as text, for the test that compares them with docs/configuration.md.
#pragma once

#include <string>
#include <vector>

namespace berth::cli {

struct FlagName {
  std::string command;  // "serve"
  std::string flag;     // "--listen"
};
std::vector<FlagName> flag_names();

}  // namespace berth::cli
