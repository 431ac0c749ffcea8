// What Berth would answer for a pod, without telling anyone: explain and recommendations.
#pragma once

#include "berth/policy/decide.h"

namespace berth::policy {

// Filter over the query's names, then Prioritize over what is left, as kube-scheduler would ask. Thread-safe, pure.
model::PodDecisions what_if(const Query& query, const Settings& settings);

// The names of all nodes of a snapshot, ascending; views into it.
std::vector<std::string_view> all_names(const model::Snapshot& snapshot);

}  // namespace berth::policy
