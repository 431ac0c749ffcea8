// What a bound pod holds of its node's GPUs, as its object tells.
//
// Thread-safe: pure functions.
#pragma once

#include <string>

#include "berth/model/pod.h"
#include "gpu_account.h"

namespace berth::state {

// `uid` is that of the pod, where it stays; `request` what its annotations say.
GpuAccount::Holder holder_of(const model::Pod& pod, const std::string& uid, const model::PodRequest& request);

}  // namespace berth::state
