// The body of a Filter or Prioritize call, and the answers made of its names.
#include <nlohmann/json.hpp>

#include "berth/codec/extender_request.h"
#include "berth/codec/extender_response.h"
#include "object_properties.h"

namespace berth::fuzz {
namespace {

using nlohmann::json;

// Parses what a writer wrote; a name must come back as it was.
json parse_answer(const std::string& text) {
  json answer = json::parse(text, nullptr, false);
  require(!answer.is_discarded(), "an answer is JSON");
  return answer;
}

void check_names_answer(const codec::ExtenderRequest& request) {
  std::vector<codec::FailedNode> failed;
  std::vector<codec::HostScore> scores;
  for (const std::string_view name : request.names) {
    require(!name.empty(), "no name is empty");
    failed.push_back({name, request.pod.name});
    scores.push_back({name, 7});
  }
  std::string text;
  codec::write_filter_answer(text, {false, request.names, failed, failed});
  const json answer = parse_answer(text);
  require(answer["NodeNames"].size() == request.names.size(), "every name is in the answer");
  for (std::size_t i = 0; i < request.names.size(); ++i) {
    require(answer["NodeNames"][i] == request.names[i], "a name comes back as it was");
    require(answer["FailedNodes"].contains(std::string(request.names[i])), "a failed name comes back as it was");
  }
  text.clear();
  codec::write_priorities(text, scores);
  const json list = parse_answer(text);
  require(list.size() == scores.size(), "every score is in the answer");
  for (std::size_t i = 0; i < scores.size(); ++i) {
    require(list[i]["Host"] == scores[i].host && list[i]["Score"] == 7, "a host comes back as it was");
  }
}

void check_whole_answer(const codec::ExtenderRequest& request, const std::string& body,
                        const model::ResourceNames& resources) {
  require(request.raw_nodes.size() == request.names.size(), "every node has its text");
  for (const std::string_view raw : request.raw_nodes) {
    require(raw.data() >= body.data() && raw.data() + raw.size() <= body.data() + body.size(),
            "the text of a node lies in the body");
    require(raw.starts_with('{') && raw.ends_with('}'), "the text of a node is an object");
  }
  std::string text;
  codec::write_filter_answer(text, {true, request.raw_nodes, {}, {}});
  const json answer = parse_answer(text);
  require(answer["Nodes"]["items"].size() == request.names.size(), "every node is in the answer");
  // What was cut out is the node of that name, not a neighbour or a part of it.
  std::string again = R"({"Pod":{},"Nodes":{"items":[)";
  for (const std::string_view raw : request.raw_nodes) {
    if (!again.ends_with('[')) again += ',';
    again += raw;
  }
  again += "]}}";
  codec::ExtenderReader reader;
  const auto second = reader.read(again, resources);
  require(second.has_value() && (*second)->names == request.names, "the cut nodes have the names that were read");
}

void run(std::string body) {
  const std::string before = body;
  const model::ResourceNames resources;
  static codec::ExtenderReader reader;
  const auto request = reader.read(body, resources);
  require(body == before, "the body stays as it is");
  if (!request) {
    check(request.error());
    std::string text;
    codec::write_error(text, request.error().to_string());
    parse_answer(text);
    reader.trim(4096);
    return;
  }
  require(json::accept(body), "what is read is JSON to the end");
  check((*request)->pod);
  check_names_answer(**request);
  if ((*request)->whole_nodes) {
    check_whole_answer(**request, body, resources);
  } else {
    require((*request)->raw_nodes.empty(), "with names there are no texts of nodes");
  }
}

}  // namespace
}  // namespace berth::fuzz

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  berth::fuzz::run(std::string(data, data + size));
  // Text that is not JSON, as a reason or a name might be.
  std::string text;
  berth::codec::write_error(text, std::string_view(reinterpret_cast<const char*>(data), size));
  berth::fuzz::require(nlohmann::json::accept(text), "any text is escaped to JSON");
  return 0;
}
