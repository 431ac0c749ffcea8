// Guesses what a misspelt name was meant to be.
//
// Thread-safe: a pure function.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth::core {

// The known name nearest to `text`: the same but for case, "-" and "_", or at most two letters away; empty if there is
// none.
std::string nearest(std::string_view text, const std::vector<std::string>& known);

}  // namespace berth::core
