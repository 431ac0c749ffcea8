#include "berth/codec/scheduler_json.h"

#include <nlohmann/json.hpp>

#include "json_text.h"

namespace berth::codec {
namespace {

using nlohmann::json;

// What `read` makes of the parsed text.
template <class T, class Read>
core::Result<T> parsed(std::string_view text, std::string_view what, const Read& read) {
  try {
    return read(json::parse(text));
  } catch (const json::exception& error) {
    return core::fail(core::ErrorCode::kInvalid, "not " + std::string(what) + ": " + error.what());
  }
}

// Null and absent are the same to Go.
std::string text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? std::string() : found->get<std::string>();
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string out;
  {
    JsonText json(out, text.size() + 2);
    json.string(text);
  }
  return out;
}

std::string write_extender_args(std::string_view pod, std::string_view names) {
  std::string out;
  {
    JsonText json(out, 64 + pod.size() + names.size());
    json.raw(R"({"Pod":)");
    json.raw(pod);
    json.raw(R"(,"Nodes":null,"NodeNames":[)");
    json.raw(names);
    json.raw("]}");
  }
  return out;
}

std::string write_bind_request(const BindRequest& request) {
  std::string out;
  {
    JsonText json(out, 256);
    json.raw(R"({"PodName":)");
    json.string(request.pod);
    json.raw(R"(,"PodNamespace":)");
    json.string(request.ns);
    json.raw(R"(,"PodUID":)");
    json.string(request.uid);
    json.raw(R"(,"Node":)");
    json.string(request.node);
    json.raw("}");
  }
  return out;
}

core::Result<FilterVerdict> read_filter_answer(std::string_view text) {
  return parsed<FilterVerdict>(text, "an answer to Filter", [](const json& root) {
    FilterVerdict verdict;
    verdict.error = text_of(root, "Error");
    const auto names = root.find("NodeNames");
    if (names != root.end() && !names->is_null()) verdict.nodes = names->get<std::vector<std::string>>();
    return verdict;
  });
}

core::Result<std::vector<NamedScore>> read_priorities(std::string_view text) {
  return parsed<std::vector<NamedScore>>(text, "an answer to Prioritize", [](const json& root) {
    std::vector<NamedScore> scores;
    if (root.is_null()) return scores;
    for (const json& entry : root) {
      scores.push_back({entry.at("Host").get<std::string>(), entry.at("Score").get<std::int64_t>()});
    }
    return scores;
  });
}

core::Result<std::string> read_bind_answer(std::string_view text) {
  return parsed<std::string>(text, "an answer to Bind", [](const json& root) { return text_of(root, "Error"); });
}

core::Result<SummaryCounts> read_summary(std::string_view text) {
  return parsed<SummaryCounts>(text, "Berth's summary", [](const json& root) {
    return SummaryCounts{root.at("snapshot").at("version").get<std::uint64_t>(), root.at("pods").get<std::size_t>(),
                         root.at("boundPods").get<std::size_t>(), root.at("ledgerEntries").get<std::size_t>()};
  });
}

}  // namespace berth::codec
