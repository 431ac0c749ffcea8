#include "berth/codec/alluxio.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace berth::codec {
namespace {

using model::WorkerBytes;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

core::Result<std::vector<WorkerBytes>> read_workers(std::string json) { return read_master_info(json); }

std::vector<WorkerBytes> workers(const std::string& list) {
  const auto answer = read_workers(R"({"workers":[)" + list + "]}");
  EXPECT_TRUE(answer) << answer.error().to_string();
  return answer.value_or(std::vector<WorkerBytes>{});
}

// Written from the field names of Alluxio's sources; it was not recorded from a master.
TEST(MasterInfo, BytesOfEveryWorker) {
  const auto answer = read_workers(R"({"configuration":{"alluxio.master.hostname":"10.0.0.9"},"lostWorkers":[{"address":
    {"host":"10.0.0.7"},"usedBytes":9}],"metrics":{"Cluster.BytesReadLocal":1},"rpcAddress":"10.0.0.9:20000",
    "startTimeMs":1795968000000,"tierCapacity":{"MEM":{"total":2147483648,"used":1288490188}},"version":"2.9.0",
    "workers":[
      {"id":4711,"address":{"host":"10.0.0.1","containerHost":"","rpcPort":20001,"dataPort":20002,"webPort":20003,
       "domainSocketPath":"","tieredIdentity":{"tiers":[{"tierName":"node","value":"10.0.0.1"}]}},"lastContactSec":0,
       "state":"In Service","capacityBytes":1073741824,"usedBytes":1073741824,"startTimeMs":1795968001000,
       "capacityBytesOnTiers":{"MEM":1073741824},"usedBytesOnTiers":{"MEM":1073741824}},
      {"address":{"host":"10.0.0.2"},"usedBytes":214748364}]})");
  ASSERT_TRUE(answer) << answer.error().to_string();
  EXPECT_THAT(*answer, ElementsAre(WorkerBytes{"10.0.0.1", 1073741824}, WorkerBytes{"10.0.0.2", 214748364}));
}

TEST(MasterInfo, MayBeWrapped) {
  const auto answer = read_workers(R"({"code":0,"masterInfo":{"workers":[{"address":{"host":"a"},"usedBytes":1}]}})");
  ASSERT_TRUE(answer) << answer.error().to_string();
  EXPECT_THAT(*answer, ElementsAre(WorkerBytes{"a", 1}));
}

TEST(MasterInfo, NoWorkersYet) { EXPECT_THAT(workers(""), IsEmpty()); }

// With container networking several workers may share a node; their host is the node's.
TEST(MasterInfo, WorkersOfOneHostAddUp) {
  EXPECT_THAT(workers(R"({"address":{"host":"a"},"usedBytes":1},{"address":{"host":"b"},"usedBytes":2},
                         {"address":{"host":"a"},"usedBytes":3})"),
              ElementsAre(WorkerBytes{"a", 4}, WorkerBytes{"b", 2}));
}

TEST(MasterInfo, AmountsBeyondAllBytesAreClamped) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(workers(R"({"address":{"host":"b"},"usedBytes":1.5e9},{"address":{"host":"c"},"usedBytes":1e30},
                         {"address":{"host":"d"},"usedBytes":18446744073709551615},
                         {"address":{"host":"d"},"usedBytes":7})"),
              ElementsAre(WorkerBytes{"b", 1'500'000'000}, WorkerBytes{"c", kMost}, WorkerBytes{"d", kMost}));
}

// Otherwise its workers would seem to have lost everything.
TEST(MasterInfo, NegativeAmountMakesTheAnswerInvalid) {
  for (const std::string amount : {"-5", "-1e300"}) {
    const auto answer = read_workers(
        R"({"workers":[{"address":{"host":"a"},"usedBytes":1},{"address":{"host":"b"},"usedBytes":)" + amount + "}]}");
    ASSERT_FALSE(answer) << amount;
    EXPECT_EQ(answer.error().to_string(), "workers[1].usedBytes: must not be negative");
  }
}

// A worker of which the amount is not told has not been measured; it does not hold nothing.
TEST(MasterInfo, WorkersWithoutHostOrAmountAreLeftOut) {
  EXPECT_THAT(workers(R"({"usedBytes":1},{"address":{},"usedBytes":1},{"address":null,"usedBytes":1},
                         {"address":{"host":""},"usedBytes":1},{"address":{"host":"a"}},
                         {"address":{"host":"b"},"usedBytes":null},{},{"address":{"host":"c"},"usedBytes":1})"),
              ElementsAre(WorkerBytes{"c", 1}));
}

TEST(MasterInfo, TooManyWorkers) {
  std::string list = R"({"address":{"host":"a"},"usedBytes":1})";
  for (int i = 1; i < 10'000; ++i) list += R"(,{"address":{"host":"a"},"usedBytes":1})";
  EXPECT_THAT(workers(list), ElementsAre(WorkerBytes{"a", 10'000}));
  const auto answer = read_workers(R"({"workers":[)" + list + ",{}]}");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, core::ErrorCode::kTooLarge);
}

TEST(MasterInfo, GarbageIsAnError) {
  struct Case {
    const char* json;
    const char* says;
  };
  for (const Case& c :
       {Case{"", "empty"}, Case{"<html>404 Not Found</html>", "malformed"}, Case{"[]", "must be an object, not a list"},
        Case{"{}", "workers: is missing"}, Case{R"({"workers":null})", "workers: is missing"},
        Case{R"({"workers":{}})", "workers: must be a list"},
        Case{R"({"workers":[7]})", "workers[0]: must be an object"},
        Case{R"({"a":{"workers":5}})", "workers: is missing"},
        Case{R"({"workers":[{"address":"10.0.0.1","usedBytes":1}]})", "workers[0].address: must be an object"},
        Case{R"({"workers":[{"address":{"host":7},"usedBytes":1}]})", "workers[0].address.host: must be a string"},
        Case{R"({"workers":[{"address":{"host":"a"},"usedBytes":"1GB"}]})", "workers[0].usedBytes: must be a number"},
        Case{R"({"workers":[{"address":{"host":"a"},"usedBytes":1)", "malformed"}}) {
    const auto answer = read_workers(c.json);
    ASSERT_FALSE(answer) << c.json;
    EXPECT_EQ(answer.error().code, core::ErrorCode::kInvalid);
    EXPECT_THAT(answer.error().to_string(), HasSubstr(c.says)) << c.json;
  }
}

}  // namespace
}  // namespace berth::codec
