#include "berth/codec/extender_response.h"

#include "json_text.h"

namespace berth::codec {
namespace {

// Quotes, comma and colon around a name and a reason, "Host" and "Score" around a score: at most this much each.
constexpr std::size_t kPerEntry = 32;
constexpr std::size_t kFrame = 160;

void write_failed(JsonText& json, std::string_view field, std::span<const FailedNode> nodes) {
  json.raw(field);
  char before = '{';
  for (const FailedNode& node : nodes) {
    json.raw({&before, 1});
    json.string(node.name);
    json.raw(":");
    json.string(node.reason);
    before = ',';
  }
  json.raw(nodes.empty() ? "{}" : "}");
}

std::size_t expected_size(const FilterAnswer& answer) {
  std::size_t bytes = kFrame;
  for (const std::string_view node : answer.nodes) bytes += node.size() + 3;
  for (const auto failed : {answer.failed, answer.failed_and_unresolvable}) {
    for (const FailedNode& node : failed) bytes += node.name.size() + node.reason.size() + kPerEntry;
  }
  return bytes;
}

}  // namespace

void write_filter_answer(std::string& out, const FilterAnswer& answer) {
  JsonText json(out, expected_size(answer));
  json.raw(answer.whole_nodes ? R"({"Nodes":{"metadata":{},"items":[)" : R"({"Nodes":null,"NodeNames":[)");
  bool first = true;
  for (const std::string_view node : answer.nodes) {
    if (!first) json.raw(",");
    first = false;
    if (answer.whole_nodes) {
      json.raw(node);
    } else {
      json.string(node);
    }
  }
  json.raw(answer.whole_nodes ? R"(]},"NodeNames":null)" : "]");
  write_failed(json, R"(,"FailedNodes":)", answer.failed);
  write_failed(json, R"(,"FailedAndUnresolvableNodes":)", answer.failed_and_unresolvable);
  json.raw(R"(,"Error":""})");
}

void write_filter_error(std::string& out, std::string_view error) {
  JsonText json(out, kFrame + error.size());
  json.raw(R"({"Nodes":null,"NodeNames":null,"FailedNodes":null,"FailedAndUnresolvableNodes":null,"Error":)");
  // Without a text kube-scheduler would take this for "no node fits".
  json.string(error.empty() ? "unknown error" : error);
  json.raw("}");
}

void write_priorities(std::string& out, std::span<const HostScore> scores) {
  std::size_t expected = 2;
  for (const HostScore& score : scores) expected += score.host.size() + kPerEntry;
  JsonText json(out, expected);
  json.raw("[");
  bool first = true;
  for (const HostScore& score : scores) {
    json.raw(first ? R"({"Host":)" : R"(,{"Host":)");
    first = false;
    json.string(score.host);
    json.raw(R"(,"Score":)");
    json.number(score.score);
    json.raw("}");
  }
  json.raw("]");
}

void write_error(std::string& out, std::string_view message) {
  JsonText json(out, kFrame + message.size());
  json.raw(R"({"error":)");
  json.string(message);
  json.raw("}");
}

}  // namespace berth::codec
