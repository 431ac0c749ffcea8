// Reads the body of POST /api/v1/recommend, strictly: docs/api.md has the fields.
//
// Thread-safe: pure functions. An unknown or repeated field, a wrong type or a value that is not allowed is kInvalid
// and names the field; nothing of the body is used then.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "berth/core/result.h"
#include "berth/model/node.h"
#include "berth/model/pod.h"

namespace berth::codec {

struct RecommendRequest {
  model::PodRequest pod;  // the job's pod; its claims are not resolved
  std::size_t nodes = 10;
  std::optional<model::DatasetRef> warm;
};

// `body` is given capacity for the parser's padding if it lacks it. What the body leaves open, `defaults` say.
core::Result<RecommendRequest> read_recommend_request(std::string& body, const model::ResourceNames& resources,
                                                      const model::PodDefaults& defaults, std::size_t most_nodes);

}  // namespace berth::codec
