// Shares, partitions, GPUs that differ, and who is believed about which GPUs a pod has.
#include <gtest/gtest.h>

#include <deque>

#include "../src/state/gpu_account.h"
#include "unit/state/cluster.h"

namespace berth::state {
namespace {

using model::FreeSource;
using model::GpuMask;
using model::GpuParts;
using model::mask;
using model::mask_all;

constexpr const char* kA100 = "NVIDIA-A100-SXM4-40GB";

// One node's account, driven by hand.
class Account {
 public:
  explicit Account(model::Node of, std::shared_ptr<const model::Machine> machine = nullptr)
      : node_(std::move(of)), machine_(std::move(machine)) {
    tell();
  }

  Account& agent_says(std::vector<model::GpuHolder> pods, core::WallTime at = {}) {
    auto holders = std::make_shared<model::GpuHolders>();
    holders->at = at;
    holders->pods = std::move(pods);
    node_.holders = std::move(holders);
    tell();
    return *this;
  }
  Account& machine(std::shared_ptr<const model::Machine> machine, int allocatable) {
    machine_ = std::move(machine);
    node_.gpus = allocatable;
    tell();
    return *this;
  }
  Account& whole(const std::string& name, int gpus, model::GpuPlacement claim = {}) {
    return put(name, gpus, {}, std::move(claim), {});
  }
  Account& part(const std::string& name, GpuParts parts, model::GpuPlacement claim = {}) {
    return put(name, 0, std::move(parts), std::move(claim), {});
  }
  Account& devices(const std::string& name, int gpus, GpuParts parts, std::vector<model::DeviceClaim> devices) {
    return put(name, gpus, std::move(parts), {}, std::move(devices));
  }
  Account& gone(const std::string& name) {
    account_.remove(&uid(name));
    return *this;
  }
  Account& promised(const std::string& name, int gpus, GpuParts parts, model::GpuPlacement placement) {
    account_.promise({name, gpus, std::move(parts), std::move(placement)});
    return *this;
  }
  Account& withdrawn(const std::string& name) {
    account_.withdraw(name);
    return *this;
  }

  model::NodeState state() {
    account_.settle();
    model::NodeState state;
    account_.write(state);
    return state;
  }
  // The GPUs, or the one partition, of a pod.
  model::GpuPlacement of(const std::string& name) {
    const auto now = state();
    for (const auto& one : *now.occupants) {
      if (one.name == name) return one.placement;
    }
    return {};
  }

 private:
  void tell() {
    const auto gpus = static_cast<int>(machine_ ? machine_->gpus.size() : static_cast<std::size_t>(node_.gpus));
    account_.set_capacity(std::make_shared<const model::Node>(node_),
                          gpus > 0 ? model::find_shape(node_.gpu_product, gpus) : nullptr, machine_);
  }
  const std::string& uid(const std::string& name) {
    for (const std::string& one : uids_) {
      if (one == name) return one;
    }
    return uids_.emplace_back(name);
  }
  Account& put(const std::string& name, int gpus, GpuParts parts, model::GpuPlacement claim,
               std::vector<model::DeviceClaim> devices) {
    GpuAccount::Holder holder{.uid = &uid(name), .claim = std::move(claim), .devices = std::move(devices)};
    holder.created = second(static_cast<int>(uids_.size()));
    holder.pod.uid = name;
    holder.pod.ns = "ns";
    holder.pod.name = name;
    holder.pod.gpus = gpus;
    holder.pod.parts = std::move(parts);
    account_.put(holder);
    return *this;
  }

  model::Node node_;
  std::shared_ptr<const model::Machine> machine_;
  std::deque<std::string> uids_;
  GpuAccount account_;
};

model::Node of_memory(int gpus, std::int64_t mib, const char* product = kA100) {
  model::Node made = node("n", gpus, product);
  made.gpu_memory_mib = mib;
  return made;
}
model::Gpu gpu(std::int64_t mib, int number = 0) {
  model::Gpu made;
  made.product = kA100;
  made.memory_mib = mib;
  made.uuid = "GPU-" + std::to_string(number);
  return made;
}
std::shared_ptr<const model::Machine> machine_of(std::vector<model::Gpu> gpus) {
  model::Machine machine;
  machine.gpus = std::move(gpus);
  return std::make_shared<const model::Machine>(std::move(machine));
}
std::shared_ptr<const model::Machine> partitioned(int gpus) {
  std::vector<model::Gpu> all;
  for (int i = 0; i < gpus; ++i) all.push_back(gpu(40'960, i));
  for (model::Gpu& one : all) one.mig = true;
  return machine_of(std::move(all));
}

// gpushare#188: "the fifth pod is pending though memory is free". Cards of 23 GiB hold two pods of 10 GiB each.
TEST(GpuShares, EightPodsOfTenGibFitOnFourCardsOfTwentyThree) {
  Account account(of_memory(4, 23 * 1024, "Tesla-T4"));
  for (int i = 0; i < 8; ++i) account.part("p" + std::to_string(i), {.gpus = 1, .mib = 10 * 1024});
  const auto state = account.state();
  ASSERT_NE(state.uses, nullptr);
  for (const model::GpuUse& use : *state.uses) EXPECT_EQ(use.used_mib, 20 * 1024);
  EXPECT_EQ(state.used, 4);
  EXPECT_TRUE(state.free_known);
  EXPECT_EQ(state.free, 0U);
}

// gpushare#219: "different cards on one node are counted wrong".
TEST(GpuShares, EachGpuHasTheMemoryThatItHas) {
  Account account(of_memory(2, 16'000), machine_of({gpu(16'000), gpu(24'000)}));
  EXPECT_EQ((*account.state().uses)[1].memory_mib, 24'000) << "what differs shows before anything is used";
  account.part("large", {.gpus = 1, .mib = 20'000}).part("both", {.gpus = 2, .mib = 4'000});
  EXPECT_EQ(account.of("large").gpus, mask({1}));
  EXPECT_EQ(account.of("both").gpus, mask({0, 1}));
  EXPECT_EQ((*account.state().uses)[1].used_mib, 24'000);
}

TEST(GpuShares, AUsedGpuIsFilledBeforeAFreshOneAndWholeOnesStayApart) {
  Account account(of_memory(8, 80'000, kH100));
  account.part("a", {.gpus = 1, .mib = 10'000}).part("b", {.gpus = 1, .mib = 10'000});
  EXPECT_EQ(account.of("b").gpus, account.of("a").gpus);
  account.whole("w", 4);
  EXPECT_EQ(account.of("w").gpus & account.of("a").gpus, 0U);
  EXPECT_EQ(account.state().used, 5);
  account.part("half", {.gpus = 1, .memory_percent = 75});
  EXPECT_EQ(account.of("half").gpus, account.of("a").gpus) << "60,000 beside 20,000 of 80,000";
  account.part("time", {.gpus = 1, .milli = 1});
  EXPECT_EQ(account.of("time").gpus, account.of("a").gpus) << "no memory, of which none is left, but time";
}

TEST(GpuShares, KeepTheirGpuWhileTheyRun) {
  Account account(of_memory(4, 16'000, "Tesla-T4"));
  account.part("a", {.gpus = 1, .mib = 10'000}).part("b", {.gpus = 1, .mib = 10'000});
  const GpuMask before = account.of("b").gpus;
  account.gone("a");
  EXPECT_EQ(account.of("b").gpus, before);
}

TEST(GpuShares, WhatIsOverfullShowsWhere) {
  Account account(of_memory(1, 16'000, "Tesla-T4"));
  account.part("a", {.gpus = 1, .mib = 10'000}).part("b", {.gpus = 1, .mib = 10'000});
  EXPECT_EQ((*account.state().uses)[0].used_mib, 20'000);
}

// k8s-device-plugin#2038: "one dead GPU blocks the node".
TEST(GpuAccount, AnUnhealthyGpuIsLeftOutAndTheRestIsUsable) {
  auto gpus = std::vector<model::Gpu>{gpu(40'960, 0), gpu(40'960, 1), gpu(40'960, 2), gpu(40'960, 3)};
  Account account(of_memory(4, 40'960), machine_of(gpus));
  account.whole("p", 1, {mask({2}), {}});
  gpus[0].healthy = gpus[2].healthy = false;
  account.machine(machine_of(gpus), 2);
  const auto state = account.state();
  EXPECT_EQ(state.gpus, 2);
  EXPECT_TRUE(state.free_known);
  EXPECT_EQ(state.free, mask({1, 3}));
  EXPECT_EQ(account.of("p").gpus, mask({2})) << "which has failed under it";
}

TEST(GpuAccount, FewerGpusThanAreToldAreNotToldApart) {
  Account account(of_memory(3, 40'960), machine_of({gpu(40'960), gpu(40'960), gpu(40'960), gpu(40'960)}));
  EXPECT_EQ(account.state().gpus, 3);
  EXPECT_FALSE(account.state().free_known) << "no one says which of the four is not handed out";
  EXPECT_EQ(account.state().free_source, FreeSource::kUnknown);
}

TEST(GpuAccount, APluginThatSplitsGpusHandsOutNoMoreThanThereAre) {
  Account account(of_memory(40, 40'960), machine_of({gpu(40'960), gpu(40'960), gpu(40'960), gpu(40'960)}));
  EXPECT_EQ(account.state().gpus, 4);
  EXPECT_TRUE(account.state().free_known);
}

TEST(GpuAccount, GpusThatNobodyHandsOutWholeHoldShares) {
  auto of = of_memory(0, 16'000, "Tesla-T4");
  of.gpu_count = 2;
  Account account(of);
  account.part("p", {.gpus = 1, .mib = 16'000});
  EXPECT_EQ(account.state().gpus, 0);
  EXPECT_EQ((*account.state().uses)[0].used_mib, 16'000);
  EXPECT_EQ((*account.state().uses)[1].used_mib, 0);
}

// HAMi#2831, HAMi#2750: small partitions where large ones could have been.
TEST(GpuPartitions, SmallOnesGoToTheEndOfOneGpu) {
  Account account(of_memory(0, 40'960), partitioned(2));
  account.part("a", {.mig = {{"1g.5gb", 1}}}).part("b", {.mig = {{"1g.5gb", 1}}}).part("c", {.mig = {{"3g.20gb", 1}}});
  EXPECT_EQ(account.of("a").slots, (std::vector<model::MigSlot>{{0, 6, 1}}));
  EXPECT_EQ(account.of("b").slots, (std::vector<model::MigSlot>{{0, 5, 1}}));
  EXPECT_EQ(account.of("c").slots, (std::vector<model::MigSlot>{{0, 0, 4}}));
  account.part("d", {.mig = {{"4g.20gb", 1}}});
  EXPECT_EQ(account.of("d").slots, (std::vector<model::MigSlot>{{1, 0, 4}}));
  EXPECT_EQ((*account.state().uses)[0].used_slices, 0b01101111);
  account.gone("a");
  EXPECT_EQ(account.of("b").slots, (std::vector<model::MigSlot>{{0, 5, 1}})) << "a partition stays where it is";
}

TEST(GpuPartitions, GpusInMigModeAreNeverWhole) {
  auto gpus = std::vector<model::Gpu>{gpu(40'960, 0), gpu(40'960, 1)};
  gpus[1].mig = true;
  Account account(of_memory(1, 40'960), machine_of(gpus));
  EXPECT_EQ(account.state().gpus, 1);
  EXPECT_EQ(account.state().free, mask({0}));
  account.part("m", {.mig = {{"7g.40gb", 1}}});
  EXPECT_EQ(account.state().used, 0);
  EXPECT_EQ(account.of("m").slots, (std::vector<model::MigSlot>{{1, 0, 8}}));
}

TEST(GpuPartitions, AClaimThatIsNoSuchPartitionIsPassedOver) {
  for (const model::MigSlot wrong : {model::MigSlot{0, 0, 4}, model::MigSlot{5, 0, 1}, model::MigSlot{0, 7, 2}}) {
    Account account(of_memory(0, 40'960), partitioned(1));
    account.part("p", {.mig = {{"1g.5gb", 1}}}, {0, {wrong}});
    EXPECT_EQ(account.of("p").slots, (std::vector<model::MigSlot>{{0, 6, 1}}));
  }
}

TEST(FreeSources, TheAgentIsBelievedBeforeAnnotations) {
  Account account(of_memory(8, 80'000, kH100));
  account.whole("p", 2, {mask({0, 1}), {}});
  EXPECT_EQ(account.state().free_source, FreeSource::kAnnotations);
  account.agent_says({{"ns", "p", {mask({5, 6}), {}}}});
  EXPECT_EQ(account.of("p").gpus, mask({5, 6}));
  EXPECT_EQ(account.state().free_source, FreeSource::kAgent);
  account.whole("q", 2, {mask({6, 7}), {}});
  EXPECT_EQ(account.of("q").gpus & account.of("p").gpus, 0U) << "its claim is another's by the agent";
  EXPECT_EQ(account.state().free_source, FreeSource::kModelled);
}

// Pods of a StatefulSet have the names of those that are gone; p is made at second 2.
TEST(FreeSources, WhatTheAgentSaidOfAnEarlierPodOfTheNameComesAfterOurs) {
  Account account(of_memory(8, 80'000, kH100));
  account.whole("o", 1, {mask({7}), {}}).whole("p", 2, {mask({5, 6}), {}}).whole("q", 2);
  account.agent_says({{"ns", "p", {mask({0, 1}), {}}}}, second(1));
  EXPECT_EQ(account.of("p").gpus, mask({5, 6}));
  account.agent_says({{"ns", "p", {mask({2, 3}), {}}}}, second(2));
  EXPECT_EQ(account.of("p").gpus, mask({2, 3}));
  // Where nobody else says which, it may well have got the same.
  account.agent_says({{"ns", "q", {mask({1, 4}), {}}}}, second(1));
  EXPECT_EQ(account.of("q").gpus, mask({1, 4}));
}

// HAMi#812, HAMi#1557: devices of pods that are long gone.
TEST(FreeSources, WhatTheAgentSaysOfPodsThatAreGoneHoldsNothing) {
  Account account(of_memory(8, 80'000, kH100));
  account.agent_says({{"ns", "gone", {mask({0, 1, 2, 3}), {}}}});
  EXPECT_EQ(account.state().free, mask_all(8));
  EXPECT_EQ(account.state().free_source, FreeSource::kAgent);
}

TEST(FreeSources, OtherSchedulersAnnotationsComeBeforeOurs) {
  Account account(of_memory(4, 16'000), machine_of({gpu(16'000, 0), gpu(16'000, 1), gpu(16'000, 2), gpu(16'000, 3)}));
  account.devices("p", 0, {.gpus = 1, .mib = 4'000}, {{.uuid = "GPU-1", .mib = 6'000, .milli = 300}});
  EXPECT_EQ(account.of("p").gpus, mask({1}));
  EXPECT_EQ((*account.state().uses)[1].used_mib, 6'000) << "as written, not as asked for";
  EXPECT_EQ((*account.state().uses)[1].used_milli, 300);
  account.devices("q", 1, {}, {{.uuid = "GPU-7"}});
  EXPECT_EQ(account.state().free_source, FreeSource::kModelled) << "a GPU that isn't there";
  EXPECT_EQ(model::count(account.of("q").gpus & ~mask({1})), 1);
}

TEST(FreeSources, UnknownWhereTheMachineIs) {
  Account account(of_memory(8, 80'000, "ACME-9000"));
  account.whole("p", 2);
  EXPECT_FALSE(account.state().free_known);
  EXPECT_EQ(account.state().free_source, FreeSource::kUnknown);
  EXPECT_EQ(account.of("p").gpus, 0U) << "no indices where nobody knows them";
}

TEST(Promises, SayWhichGpusAreLeft) {
  Account account(of_memory(8, 80'000, kH100));
  account.promised("p", 2, {}, {mask({0, 1}), {}});
  EXPECT_EQ(account.state().free, mask_all(8));
  EXPECT_EQ(account.state().firm_gpus, mask({0, 1}));
  EXPECT_EQ(account.state().uses, nullptr);
  account.promised("s", 0, {.gpus = 1, .mib = 1'000}, {mask({2}), {}});
  EXPECT_EQ(account.state().firm_gpus, mask({0, 1, 2}));
  EXPECT_EQ(account.state().firm, 1) << "whole ones are counted by the ledger, the one that a share opens here";
  EXPECT_EQ((*account.state().uses)[2].used_mib, 1'000);
  EXPECT_EQ((*account.state().uses)[0].used_mib, 80'000);
  account.withdrawn("p").withdrawn("s");
  EXPECT_EQ(account.state().firm_gpus, 0U);
}

TEST(Occupants, AreThePodsAsTheyAre) {
  StateOptions options;
  options.preemption = true;
  Cluster cluster(options);
  cluster.set_nodes(node("a"));
  auto p = with_gpu_list(born(bound(pod("p", 2), "a"), 10), "2,3");
  p.priority = 7;
  p.started = second(20);
  p.labels = {{"app", "train"}};
  p.owner = "uid-of-a-job";
  p.annotations.push_back({"berth.io/checkpointed-at", "1970-01-01T00:00:30Z"});
  cluster.set_pods(p);
  const auto state = cluster.at("a");
  ASSERT_EQ(state.occupants->size(), 1U);
  const model::Occupant& one = state.occupants->front();
  EXPECT_EQ(one.uid, "p-uid");
  EXPECT_EQ(one.ns, "ns");
  EXPECT_EQ(one.name, "p");
  EXPECT_EQ(one.gpus, 2);
  EXPECT_EQ(one.placement.gpus, mask({2, 3}));
  EXPECT_EQ(one.priority, 7);
  EXPECT_EQ(one.started, second(20));
  EXPECT_EQ(one.saved, second(30));
  EXPECT_EQ(one.owner, p.owner);
  EXPECT_EQ(one.labels, p.labels);
  EXPECT_EQ(state.busy, mask({2, 3}));
}

}  // namespace
}  // namespace berth::state
