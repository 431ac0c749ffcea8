// What an Alluxio master says of its workers, told apart by pod.
//
// A worker registers under the IP of its node (Fluid sets ALLUXIO_WORKER_HOSTNAME to status.hostIP), without that under
// the pod's own, or under a name. Two workers of one node share a host: each gets one of its figures, and what is left
// over goes to the first, so that the sum of the node is right.
//
// Thread-safe: a pure function.
#pragma once

#include <span>

#include "berth/model/cluster_update.h"
#include "cache_member.h"

namespace berth::state {

// Sets the bytes of each of a dataset's `workers`, nothing for one that the master left out or that was not there yet.
void match(const model::Measured& measured, std::span<CacheMember* const> workers);

}  // namespace berth::state
