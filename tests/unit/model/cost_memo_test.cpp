#include "berth/model/cost_memo.h"

#include <gtest/gtest.h>

#include <string>

namespace berth::model {
namespace {

CostKind of_gpus(int gpus) { return {{.gpus = gpus, .milli = 1'000}}; }

TEST(CostMemo, KnowsACostAsLongAsTheNodeIsTheSame) {
  CostMemo memo(2);
  CostMemo::Row* row = memo.row(of_gpus(1));
  ASSERT_NE(row, nullptr);
  EXPECT_FALSE(row->get(1, 7));
  row->put(1, 7, 0.25F);
  EXPECT_EQ(row->get(1, 7), 0.25F);
  EXPECT_FALSE(row->get(1, 8)) << "another state";
  EXPECT_FALSE(row->get(0, 7)) << "another node";
  row->put(1, 8, 0.0F);
  EXPECT_EQ(row->get(1, 8), 0.0F);
}

TEST(CostMemo, KeepsNothingOfSupposedStatesAndUnknownNodes) {
  CostMemo memo(1);
  CostMemo::Row* row = memo.row(of_gpus(1));
  row->put(0, 0, 1.0F);
  row->put(1, 7, 1.0F);
  EXPECT_FALSE(row->get(0, 0));
  EXPECT_FALSE(row->get(1, 7));
}

TEST(CostMemo, KeepsWhatNodesAreWorthApart) {
  CostMemo memo(1);
  memo.worths().put(0, 7, 1.0F);
  EXPECT_FALSE(memo.row({})->get(0, 7));
  EXPECT_EQ(memo.worths().get(0, 7), 1.0F);
}

TEST(CostMemo, HasARowForEachKind) {
  CostMemo memo(1);
  EXPECT_EQ(memo.row(of_gpus(1)), memo.row(of_gpus(1)));
  EXPECT_NE(memo.row(of_gpus(1)), memo.row(of_gpus(2)));
  CostKind connected = of_gpus(1);
  connected.connected = true;
  EXPECT_NE(memo.row(of_gpus(1)), memo.row(connected));
}

TEST(CostMemo, KeepsABoundedNumberOfKinds) {
  CostMemo memo(1);
  int rows = 0;
  for (int cpu = 0; cpu < 1'000; ++cpu) rows += memo.row({{.cpu_milli = cpu, .gpus = 1}}) != nullptr ? 1 : 0;
  EXPECT_GT(rows, 10);
  EXPECT_LT(rows, 100);
  EXPECT_NE(memo.row({{.cpu_milli = 0, .gpus = 1}}), nullptr) << "those that are there stay";
}

}  // namespace
}  // namespace berth::model
