// How the command line fails: one line on standard error. Thread-safe.
#pragma once

#include <string_view>

#include "berth/core/result.h"

namespace berth::cli {

inline constexpr int kOk = 0;
inline constexpr int kFailure = 1;
inline constexpr int kUsage = 2;

// "berth: MESSAGE"; returns `status`.
int report(int status, std::string_view message);
inline int report(const core::Error& error) { return report(kFailure, error.to_string()); }

}  // namespace berth::cli
