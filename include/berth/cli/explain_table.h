// An explanation as a table that a person reads at a glance. Thread-safe: a pure function.
#pragma once

#include <string>

#include "berth/model/decision.h"

namespace berth::cli {

// At most `most` candidates are printed, then how many more there are.
std::string explain_table(const model::Explanation& explanation, std::size_t most);

}  // namespace berth::cli
