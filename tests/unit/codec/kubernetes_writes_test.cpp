#include "berth/codec/kubernetes_writes.h"

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

namespace berth::codec {
namespace {

using nlohmann::json;

PodEvent event() {
  return {"vision",
          "train-0",
          "uid-1",
          "train-0.0f",
          true,
          "DatasetUnknown",
          "no dataset vision/\"x\" exists",
          core::WallTime(std::chrono::milliseconds(1'500))};
}

TEST(WriteEvent, NamesThePodByUidAndWhoReports) {
  const json written = json::parse(write_event(event()));
  EXPECT_EQ(written["kind"], "Event");
  EXPECT_EQ(written["metadata"], json({{"namespace", "vision"}, {"name", "train-0.0f"}}));
  EXPECT_EQ(
      written["involvedObject"],
      json({{"apiVersion", "v1"}, {"kind", "Pod"}, {"namespace", "vision"}, {"name", "train-0"}, {"uid", "uid-1"}}));
  EXPECT_EQ(written["type"], "Warning");
  EXPECT_EQ(written["reason"], "DatasetUnknown");
  EXPECT_EQ(written["message"], "no dataset vision/\"x\" exists");
  EXPECT_EQ(written["firstTimestamp"], "1970-01-01T00:00:01.500Z");
  EXPECT_EQ(written["lastTimestamp"], "1970-01-01T00:00:01.500Z");
  EXPECT_EQ(written["source"]["component"], "berth");
  EXPECT_EQ(written["reportingComponent"], "berth");
  EXPECT_EQ(written["count"], 1);
}

TEST(WriteEvent, LongMessageIsCutBetweenCharacters) {
  PodEvent longer = event();
  longer.message = "x";
  for (int i = 0; i < 600; ++i) longer.message += "é";
  const std::string message = json::parse(write_event(longer))["message"];
  EXPECT_EQ(message, longer.message.substr(0, 999));
}

TEST(WriteAnnotationPatch, HoldsForTheObjectOfThisUidOnly) {
  EXPECT_EQ(json::parse(write_annotation_patch("uid-1", "berth.io/wake", "now")),
            json({{"metadata", {{"uid", "uid-1"}, {"annotations", {{"berth.io/wake", "now"}}}}}}));
}

}  // namespace
}  // namespace berth::codec
