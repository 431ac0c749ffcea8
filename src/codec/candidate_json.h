// A candidate as the admin port shows it, in explanations and recommendations alike.
//
// Thread-safe: pure functions. candidate_from throws what nlohmann/json throws.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "berth/core/clock.h"
#include "berth/model/decision.h"

namespace berth::codec {

// `datasets`: their names, in the order of the candidate's shares; `at`: the time of the decision, to which ages count.
nlohmann::ordered_json candidate_json(const model::Candidate& candidate, std::span<const std::string> datasets,
                                      core::WallTime at);
model::Candidate candidate_from(const nlohmann::ordered_json& json, core::WallTime at);

// The text of an answer; what is not UTF-8 in it becomes U+FFFD.
std::string dump(const nlohmann::ordered_json& json);

}  // namespace berth::codec
