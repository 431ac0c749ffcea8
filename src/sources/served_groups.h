// The API groups that are watched where they are served, and what is told of their kinds.
#pragma once

#include <vector>

#include "berth/model/cluster_update.h"
#include "berth/sources/api_source.h"
#include "first_lists.h"
#include "group_watches.h"

namespace berth::sources {

// A further kind is one row here, a struct in object_kinds.h and a reader in codec. `sink` and `first_lists` must
// outlive what it returns.
std::vector<ServedGroup> served_groups(const ApiSourceOptions& options, model::UpdateSink& sink,
                                       FirstLists& first_lists);

}  // namespace berth::sources
