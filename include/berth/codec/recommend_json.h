// JSON of a recommendation, for POST /api/v1/recommend. Shape: docs/api.md. Thread-safe: pure functions.
#pragma once

#include <string>

#include "berth/model/advice.h"

namespace berth::codec {

// Node affinities name nodes by the field metadata.name, one node a term: the label kubernetes.io/hostname need not be
// the node's name, and kube-apiserver allows one value only for a field (ValidateNodeFieldSelectorRequirement).
std::string write_recommendation(const model::Recommendation& advice);

}  // namespace berth::codec
