#include "../src/state/node_table.h"

#include <gtest/gtest.h>

#include "../src/state/ledger.h"
#include "unit/state/cluster.h"

namespace berth::state {
namespace {

// Anyone may nominate a pod to any name: such names must not stay for ever.
TEST(NodeTable, ForgetsANameThatNothingRefersTo) {
  NodeTable nodes;
  Ledger ledger(nodes);
  ledger.put_firm("p-uid", nodes.at("far"), {2, 0});
  EXPECT_NE(nodes.find("far"), nullptr);
  ledger.put_firm("p-uid", nodes.at("farther"), {2, 0});
  EXPECT_EQ(nodes.find("far"), nullptr);
  ledger.end("p-uid");
  EXPECT_EQ(nodes.find("farther"), nullptr);
}

TEST(NodeTable, KeepsANodeThatIsGoneWhilePodsAreBoundToIt) {
  NodeTable nodes;
  NodeRecord& record = nodes.at("a");
  nodes.set(record, std::make_shared<const model::Node>(node("a")));
  const std::string uid = "p-uid";
  record.account.put({.uid = &uid, .pod = {.gpus = 2}});
  nodes.remove(record);
  nodes.release(record);
  ASSERT_EQ(nodes.find("a"), &record);
  record.account.remove(&uid);
  nodes.release(record);
  EXPECT_EQ(nodes.find("a"), nullptr);
}

}  // namespace
}  // namespace berth::state
