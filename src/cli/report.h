// How the command line fails: one line on standard error. Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "berth/core/result.h"

namespace berth::cli {

inline constexpr int kOk = 0;
inline constexpr int kFailure = 1;
inline constexpr int kUsage = 2;

// Foreign text (annotations, answers of peers) must not steer the terminal: control characters become "?".
std::string printable(std::string_view text);

// "berth: MESSAGE" on one line, printable; returns `status`.
int report(int status, std::string_view message);
inline int report(const core::Error& error) { return report(kFailure, error.to_string()); }

}  // namespace berth::cli
