// The kinds of object that tests show Berth, by the names of their collections.
//
// Thread-safe: pure functions.
#pragma once

#include <set>
#include <string>

namespace berth::testing {

// "Dataset" of ".../datasets" and so on; throws std::out_of_range for a collection that no test uses.
std::string kind_of(const std::string& path);
// What an API server lists of Fluid's group when it serves these collections: subresources too.
std::string fluid_resources(const std::set<std::string>& collections);

}  // namespace berth::testing
