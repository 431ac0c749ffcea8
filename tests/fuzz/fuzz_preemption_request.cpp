// The body of a Preempt call, and the answer that passes its victims on.
#include <nlohmann/json.hpp>

#include "berth/codec/preemption.h"
#include "object_properties.h"

namespace berth::fuzz {
namespace {

using nlohmann::json;

void run(std::string body) {
  const std::string before = body;
  const model::ResourceNames resources;
  const auto request = codec::read_preemption_request(body, resources);
  require(body == before, "the body stays as it is");
  if (!request) return check(request.error());
  require(json::accept(body), "what is read is JSON to the end");
  check(request->pod);
  std::string text;
  codec::write_preemption_answer(text, request->candidates);
  const json answer = json::parse(text, nullptr, false);
  require(!answer.is_discarded(), "an answer is JSON");
  const json& nodes = answer["NodeNameToMetaVictims"];
  require(nodes.size() == request->candidates.size(), "every node is in the answer, once");
  for (const model::PreemptionCandidate& candidate : request->candidates) {
    require(!candidate.node.empty() && candidate.budget_violations >= 0, "a node has a name and no negative count");
    const json& told = nodes[candidate.node];
    require(told["NumPDBViolations"] == candidate.budget_violations, "the count comes back as it was");
    require(told["Pods"].size() == candidate.victims.size(), "every victim is in the answer");
    for (std::size_t i = 0; i < candidate.victims.size(); ++i) {
      require(!candidate.victims[i].uid.empty(), "a victim has a UID");
      require(told["Pods"][i]["UID"] == candidate.victims[i].uid, "a victim comes back as it was");
    }
  }
  // What was written reads the same, but for what only whole pods tell.
  std::string again = R"({"Pod":{},"NodeNameToMetaVictims":)" + nodes.dump() + "}";
  const auto second = codec::read_preemption_request(again, resources);
  require(second.has_value() && second->candidates.size() == request->candidates.size(),
          "an answer reads as a request");
}

}  // namespace
}  // namespace berth::fuzz

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  berth::fuzz::run(std::string(data, data + size));
  return 0;
}
