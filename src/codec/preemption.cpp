#include "berth/codec/preemption.h"

#include <simdjson.h>

#include <limits>
#include <string_view>
#include <unordered_set>

#include "json_document.h"
#include "json_fields.h"
#include "json_text.h"
#include "pod_reader.h"

namespace berth::codec {
namespace {

using std::string_view;

constexpr string_view kWholeForm = "NodeNameToVictims";
constexpr string_view kMetaForm = "NodeNameToMetaVictims";

model::Victim read_whole_victim(simdjson::dom::object json, const model::ResourceNames& resources, Reading& reading) {
  model::Pod pod;
  read_into(pod, json, resources, reading);
  if (pod.uid.empty()) reading.fail("is missing", "metadata.uid");
  return {std::move(pod.uid), true, std::move(pod.node), pod.priority, pod.started};
}

model::Victim read_meta_victim(simdjson::dom::object json, Reading& reading) {
  const auto [uid] = pick<1>(json, {string_view("UID")}, reading, KeyCase::kAny);
  model::Victim victim;
  victim.uid = text(uid, reading);
  if (victim.uid.empty()) reading.fail("is missing", uid.name);
  return victim;
}

// One node's Victims or MetaVictims.
void read_candidate(model::PreemptionCandidate& candidate, simdjson::dom::element value, bool whole,
                    const model::ResourceNames& resources, Reading& reading) {
  if (value.is_null()) return;
  const auto fields = item_object(value, reading);
  if (!fields) return;
  const auto [pods, violations] = pick<2>(*fields, {string_view("Pods"), "NumPDBViolations"}, reading, KeyCase::kAny);
  candidate.budget_violations = number(violations, 0, std::numeric_limits<std::int64_t>::max(), reading);
  const auto items = array(pods, reading);
  if (!items) return;
  const Reading::Step in_pods(reading, "Pods");
  for (const simdjson::dom::element item : *items) {
    const Reading::Step in_item(reading, candidate.victims.size());
    const auto pod = item_object(item, reading);
    if (!pod || reading.failed()) return;
    candidate.victims.push_back(whole ? read_whole_victim(*pod, resources, reading) : read_meta_victim(*pod, reading));
  }
}

}  // namespace

core::Result<PreemptionRequest> read_preemption_request(std::string& body, const model::ResourceNames& resources) {
  JsonDocument document;
  const auto root = document.parse(body);
  if (!root) return tl::unexpected(root.error());
  simdjson::dom::object args;
  if (root->get(args) != simdjson::SUCCESS) {
    return core::fail(core::ErrorCode::kInvalid, "the body " + wrong_type("an object", *root));
  }
  Reading reading;
  const auto [pod, whole, meta] = pick<3>(args, {string_view("Pod"), kWholeForm, kMetaForm}, reading, KeyCase::kAny);
  if (!pod.given) return core::fail(core::ErrorCode::kInvalid, "is missing or null", "Pod");
  PreemptionRequest request;
  if (const auto fields = object(pod, reading)) {
    const Reading::Step step(reading, "Pod");
    read_into(request.pod, *fields, resources, reading);
  }
  const Field& form = meta.given ? meta : whole;
  if (const auto nodes = object(form, reading)) {
    const Reading::Step in_form(reading, form.name);
    std::unordered_set<string_view> seen;
    for (const auto& [name, value] : *nodes) {
      const Reading::Step in_node(reading, name);
      if (name.empty()) reading.fail("a node's name is empty");
      if (!seen.insert(name).second) reading.fail("is given twice");
      read_candidate(request.candidates.emplace_back(), value, !meta.given, resources, reading);
      request.candidates.back().node = name;
      if (reading.failed()) break;
    }
  }
  if (reading.failed()) return tl::unexpected(reading.error());
  return request;
}

void write_preemption_answer(std::string& out, std::span<const model::PreemptionCandidate> candidates) {
  constexpr std::size_t kPerNode = 80;
  constexpr std::size_t kPerPod = 16;
  std::size_t expected = kPerNode;
  for (const model::PreemptionCandidate& candidate : candidates) {
    expected += candidate.node.size() + kPerNode;
    for (const model::Victim& victim : candidate.victims) expected += victim.uid.size() + kPerPod;
  }
  JsonText json(out, expected);
  json.raw(R"({"NodeNameToMetaVictims":{)");
  bool first = true;
  for (const model::PreemptionCandidate& candidate : candidates) {
    if (!first) json.raw(",");
    first = false;
    json.string(candidate.node);
    json.raw(R"(:{"Pods":[)");
    for (std::size_t i = 0; i < candidate.victims.size(); ++i) {
      json.raw(i == 0 ? R"({"UID":)" : R"(,{"UID":)");
      json.string(candidate.victims[i].uid);
      json.raw("}");
    }
    json.raw(R"(],"NumPDBViolations":)");
    json.number(candidate.budget_violations);
    json.raw("}");
  }
  json.raw("}}");
}

}  // namespace berth::codec
