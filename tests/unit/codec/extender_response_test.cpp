#include "berth/codec/extender_response.h"

#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <vector>

namespace berth::codec {
namespace {

using nlohmann::json;

std::string filter_answer(const FilterAnswer& answer) {
  std::string out;
  write_filter_answer(out, answer);
  return out;
}

TEST(FilterAnswer, Names) {
  const std::array<std::string_view, 2> nodes{"a", "b"};
  const std::array<FailedNode, 1> failed{{{"c", "INSUFFICIENT_GPU"}}};
  const std::array<FailedNode, 2> unresolvable{{{"d", "DATASET_NOT_CACHED"}, {"e", "OUTRANKED"}}};
  EXPECT_EQ(filter_answer({false, nodes, failed, unresolvable}),
            R"({"Nodes":null,"NodeNames":["a","b"],"FailedNodes":{"c":"INSUFFICIENT_GPU"},)"
            R"("FailedAndUnresolvableNodes":{"d":"DATASET_NOT_CACHED","e":"OUTRANKED"},"Error":""})");
}

// kube-scheduler takes null NodeNames for "no node fits" only by accident; an empty list says it.
TEST(FilterAnswer, NoNamesIsAnEmptyList) {
  const json answer = json::parse(filter_answer({}));
  EXPECT_EQ(answer["NodeNames"], json::array());
  EXPECT_EQ(answer["Nodes"], nullptr);
  EXPECT_EQ(answer["FailedNodes"], json::object());
  EXPECT_EQ(answer["FailedAndUnresolvableNodes"], json::object());
  EXPECT_EQ(answer["Error"], "");
}

// With nodeCacheCapable false, NodeNames alone would mean that no node is feasible.
TEST(FilterAnswer, WholeNodesAreEchoedByteForByte) {
  const std::array<std::string_view, 2> nodes{R"({"metadata": {"name":"a"}})", R"({"metadata":{"name":"b\u00fc"}})"};
  EXPECT_EQ(filter_answer({true, nodes, {}, {}}),
            R"({"Nodes":{"metadata":{},"items":[{"metadata": {"name":"a"}},{"metadata":{"name":"b\u00fc"}}]},)"
            R"("NodeNames":null,"FailedNodes":{},"FailedAndUnresolvableNodes":{},"Error":""})");
}

TEST(FilterAnswer, NoWholeNodesIsAnEmptyList) {
  const json answer = json::parse(filter_answer({true, {}, {}, {}}));
  EXPECT_EQ(answer["Nodes"]["items"], json::array());
  EXPECT_EQ(answer["NodeNames"], nullptr);
}

TEST(FilterAnswer, AppendsToWhatIsThere) {
  std::string out = "x";
  write_filter_answer(out, {});
  EXPECT_EQ(out.substr(0, 9), R"(x{"Nodes")");
  EXPECT_EQ(out.back(), '}');
}

TEST(FilterError, EveryListIsNull) {
  std::string out;
  write_filter_error(out, "not ready: no list of pods yet");
  EXPECT_EQ(out, R"({"Nodes":null,"NodeNames":null,"FailedNodes":null,"FailedAndUnresolvableNodes":null,)"
                 R"("Error":"not ready: no list of pods yet"})");
}

// An answer without nodes and without an error would say that no node fits.
TEST(FilterError, IsNeverEmpty) {
  std::string out;
  write_filter_error(out, "");
  EXPECT_NE(json::parse(out)["Error"], "");
}

// A bare list of whole numbers: a float, a string or an object around it makes kube-scheduler drop the whole list.
TEST(Priorities, BareListOfIntegers) {
  const std::array<HostScore, 3> scores{{{"a", 10}, {"b", 0}, {"c", -1}}};
  std::string out;
  write_priorities(out, scores);
  EXPECT_EQ(out, R"([{"Host":"a","Score":10},{"Host":"b","Score":0},{"Host":"c","Score":-1}])");
}

TEST(Priorities, EmptyIsAnEmptyList) {
  std::string out;
  write_priorities(out, {});
  EXPECT_EQ(out, "[]");
}

TEST(Error, OneField) {
  std::string out;
  write_error(out, "Pod: is missing or null");
  EXPECT_EQ(out, R"({"error":"Pod: is missing or null"})");
}

struct Escaped {
  std::string text;
  std::string json;
};
class Escape : public testing::TestWithParam<Escaped> {};

TEST_P(Escape, AsJsonAsks) {
  std::string out;
  write_error(out, GetParam().text);
  EXPECT_EQ(out, "{\"error\":\"" + GetParam().json + "\"}");
  EXPECT_TRUE(json::accept(out));
}

INSTANTIATE_TEST_SUITE_P(
    Text, Escape,
    testing::Values(Escaped{"", ""},
                    Escaped{"plain text of more than eight bytes", "plain text of more than eight bytes"},
                    Escaped{"a\"b\\c/d", R"(a\"b\\c/d)"}, Escaped{"1234567\"", R"(1234567\")"},
                    Escaped{"12345678\\", R"(12345678\\)"}, Escaped{"\n\r\t", R"(\n\r\t)"},
                    Escaped{std::string("\0\x01\x1f", 3), R"(\u0000\u0001\u001f)"}, Escaped{"\x7f ", "\x7f "},
                    Escaped{"dash - quote ' tilde ~ hash # !", "dash - quote ' tilde ~ hash # !"}));

INSTANTIATE_TEST_SUITE_P(
    Utf8, Escape,
    testing::Values(Escaped{"m\u00fcnchen-\u4e0a\u6d77-\U0001F600", "m\u00fcnchen-\u4e0a\u6d77-\U0001F600"},
                    Escaped{"\xff", "\uFFFD"}, Escaped{"a\x80z", "a\uFFFDz"}, Escaped{"\xc3", "\uFFFD"},  // cut short
                    Escaped{"\xe4\xb8", "\uFFFD\uFFFD"},                                                  // cut short
                    Escaped{"\xc0\xaf", "\uFFFD\uFFFD"},                                                  // overlong
                    Escaped{"\xe0\x80\x80", "\uFFFD\uFFFD\uFFFD"},                                        // overlong
                    Escaped{"\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD"},                                        // surrogate
                    Escaped{"\xf4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},  // beyond U+10FFFF
                    Escaped{"\xf0\x80\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},  // overlong
                    Escaped{"\xf0\x9f\x98\"", "\uFFFD\uFFFD\uFFFD\\\""}));    // cut by a quote

TEST(Writers, EveryByteAtEveryPlaceOfAWord) {
  for (int byte = 0; byte < 128; ++byte) {
    for (std::size_t at = 0; at < 17; ++at) {
      std::string text(17, 'a');
      text[at] = static_cast<char>(byte);
      std::string out;
      write_error(out, text);
      EXPECT_EQ(json::parse(out)["error"], text) << byte << " at " << at;
    }
  }
}

TEST(Writers, NamesAndReasonsAreEscaped) {
  const std::array<std::string_view, 1> nodes{"a\"b"};
  const std::array<FailedNode, 1> failed{{{"c\"d", "no \"room\""}}};
  const json answer = json::parse(filter_answer({false, nodes, failed, failed}));
  EXPECT_EQ(answer["NodeNames"][0], "a\"b");
  EXPECT_EQ(answer["FailedNodes"]["c\"d"], "no \"room\"");
  EXPECT_EQ(answer["FailedAndUnresolvableNodes"]["c\"d"], "no \"room\"");
  const std::array<HostScore, 1> scores{{{"a\"b", 3}}};
  std::string out;
  write_priorities(out, scores);
  EXPECT_EQ(json::parse(out)[0]["Host"], "a\"b");
}

TEST(Writers, FiveThousandNodes) {
  std::vector<std::string> names;
  for (int i = 0; i < 5'000; ++i) names.push_back("node-" + std::to_string(i));
  const std::vector<std::string_view> views(names.begin(), names.end());
  std::vector<FailedNode> failed;
  for (const std::string_view name : views) failed.push_back({name, "OUTRANKED"});
  const json answer = json::parse(filter_answer({false, views, failed, failed}));
  EXPECT_EQ(answer["NodeNames"].get<std::vector<std::string>>(), names);
  EXPECT_EQ(answer["FailedNodes"].size(), 5'000U);
}

}  // namespace
}  // namespace berth::codec
