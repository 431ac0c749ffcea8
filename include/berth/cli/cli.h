// The command line: `berth serve`, `berth explain`, `berth version`.
#pragma once

namespace berth::cli {

// Returns the exit status: 0, 1 for a failure, 2 for wrong usage.
int run(int argc, char** argv);

}  // namespace berth::cli
