// Reads what an Alluxio master says of its workers: the answer to GET /api/v1/master/info (2.9).
//
// Fields: AlluxioMasterRestServiceHandler.java and wire/WorkerInfo.java of Alluxio/alluxio. Of a worker only
// address.host and usedBytes are looked at; its capacity may be anything.
//
// Thread-safe: a pure function.
#pragma once

#include <string>
#include <vector>

#include "berth/core/result.h"
#include "berth/model/cluster_update.h"

namespace berth::codec {

// The cached bytes by host, in the order of the answer; several workers of one host add up. The list `workers` may also
// stand in an object within the answer. An entry without a host, or without usedBytes, is left out. kInvalid for what
// is no such answer or has a negative amount: a master that has lost count tells nothing of its workers. kTooLarge for
// more than 10,000 workers. `json` is given capacity for the parser's padding if it lacks it.
core::Result<std::vector<model::WorkerBytes>> read_master_info(std::string& json);

}  // namespace berth::codec
