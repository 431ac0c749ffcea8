// The kinds of object that tests show Berth, by the names of their collections.
//
// Thread-safe: pure functions.
#pragma once

#include <set>
#include <string>

namespace berth::testing {

// "Dataset" of ".../datasets" and so on; throws std::out_of_range for a collection that no test uses.
std::string kind_of(const std::string& path);
// What an API server lists of a group ("data.fluid.io/v1alpha1") when it serves these collections: subresources too.
std::string resource_list(const std::string& group_version, const std::set<std::string>& collections);

}  // namespace berth::testing
