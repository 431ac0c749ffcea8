// Pods to which Bind has given GPUs, as the holders of these that they will be once the watch shows them bound: between
// the two kube-scheduler may already offer them as victims.
//
// Thread-safe: a pure function.
#pragma once

#include <string_view>

#include "berth/model/snapshot.h"

namespace berth::policy {

// Firm ledger entries that say which GPUs become occupants, but for that of the pod with the UID `but`. Neither names,
// labels nor start are known of such an occupant.
model::Snapshot settled(const model::Snapshot& truth, std::string_view but);

}  // namespace berth::policy
