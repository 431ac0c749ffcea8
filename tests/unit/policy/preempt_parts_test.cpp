// Shares and partitions: the scheduler counts a node's sum of them, a pod needs them on one GPU.
#include "preempt_fixture.h"

namespace berth::policy {
namespace {

model::GpuParts share(std::int64_t mib) {
  model::GpuParts parts;
  parts.gpus = 1;
  parts.mib = mib;
  return parts;
}
model::Occupant sharing(std::string name, int gpu, std::int64_t mib, int minutes, int priority = 0) {
  model::Occupant pod = holder(std::move(name), {gpu}, priority, minutes);
  pod.gpus = 0;
  pod.parts = share(mib);
  return pod;
}
model::PodRequest wants_parts(model::GpuParts parts) {
  model::PodRequest pod = preemptor(0);
  pod.parts = std::move(parts);
  return pod;
}

// Two GPUs of 80,000 MiB. On GPU 0 two pods with half each, on GPU 1 one with three quarters.
SnapshotBuilder shared_cluster(int priority_on_1 = 0, int minutes_of_b = 10) {
  return SnapshotBuilder()
      .node("n", 2, 0, "NVIDIA-L40S")
      .occupant(sharing("a", 0, 40'000, 600))
      .occupant(sharing("b", 0, 40'000, minutes_of_b))
      .occupant(sharing("c", 1, 60'000, 300, priority_on_1))
      .uses({{80'000, 80'000}, {80'000, 60'000}});
}

// With a gone 60,000 MiB are free, but only 40,000 on one GPU.
TEST(PreemptParts, OneGpuIsClearedAsFarAsTheShareNeeds) {
  EXPECT_THAT(preempt(shared_cluster(), wants_parts(share(40'000)), {offer("n", {"a"})}).victims,
              ElementsAre(Pair("n", ElementsAre("a"))));
  EXPECT_THAT(preempt(shared_cluster(), wants_parts(share(50'000)), {offer("n", {"a"})}).victims,
              ElementsAre(Pair("n", ElementsAre("a", "b"))));
  // b has run for ten days; c on the other GPU loses less.
  EXPECT_THAT(preempt(shared_cluster(0, 14'400), wants_parts(share(50'000)), {offer("n", {"a"})}).victims,
              ElementsAre(Pair("n", ElementsAre("a", "c"))));
}

TEST(PreemptParts, WhereNoGpuCanBeClearedIsDropped) {
  EXPECT_THAT(preempt(shared_cluster(), wants_parts(share(90'000)), {offer("n", {"a"})}).rejected,
              ElementsAre(Pair("n", "GPU_SHARE_EXHAUSTED")));
  EXPECT_THAT(preempt(shared_cluster(1000), wants_parts(share(70'000)), {offer("n", {"a"})}).victims,
              ElementsAre(Pair("n", ElementsAre("a", "b"))));
}

TEST(PreemptParts, AWholeGpuTakesAllWhoShareIt) {
  EXPECT_THAT(preempt(shared_cluster(), preemptor(1, {{"topology-policy", "restricted"}}), {offer("n", {"a"})}).victims,
              ElementsAre(Pair("n", ElementsAre("a", "b"))));
}

// Bind has promised 20,000 MiB of GPU 0 beside b to a pod that is on its way: no eviction makes that GPU a whole one.
TEST(PreemptParts, AGpuOfWhichAShareIsPromisedIsNobodysWhole) {
  const auto cluster = SnapshotBuilder()
                           .node("n", 2, 0, "NVIDIA-L40S")
                           .occupant(sharing("b", 0, 40'000, 10))
                           .occupant(sharing("c", 1, 60'000, 300))
                           .promised("arriving", 0, model::EntryKind::kFirm, 100, {model::mask({0}), {}}, share(20'000))
                           .uses({{80'000, 60'000}, {80'000, 60'000}});
  EXPECT_THAT(preempt(cluster, preemptor(1, {{"topology-policy", "restricted"}}), {offer("n", {"b"})}).victims,
              ElementsAre(Pair("n", ElementsAre("b", "c"))));
}

// An A100 of 40 GB in MIG mode: 3g.20gb begins at slice 0 or 4 and takes four of the eight slices.
TEST(PreemptParts, APartitionNeedsSlicesThatLieTogether) {
  const auto slice = [](std::string name, std::int8_t start, int minutes) {
    model::Occupant pod = holder(std::move(name), {}, 0, minutes);
    pod.parts.mig = {{"1g.5gb", 1}};
    pod.placement.slots = {{0, start, 1}};
    return pod;
  };
  model::Machine machine;
  machine.gpus.resize(1);
  machine.gpus[0].product = "NVIDIA-A100-SXM4-40GB";
  machine.gpus[0].memory_mib = 40'960;
  machine.gpus[0].mig = true;
  model::GpuUse use;
  use.memory_mib = 40'960;
  use.used_slices = 0b0100'0011;
  use.mig = true;
  const auto cluster = SnapshotBuilder()
                           .node("n", 0, 0, "NVIDIA-A100-SXM4-40GB", 40'960)
                           .partitions({{"1g.5gb", 7}, {"3g.20gb", 2}})
                           .machine(machine)
                           .uses({use})
                           .occupant(slice("at0", 0, 60))
                           .occupant(slice("at1", 1, 600))
                           .occupant(slice("at6", 6, 300));
  model::GpuParts half;
  half.mig = {{"3g.20gb", 1}};
  EXPECT_THAT(preempt(cluster, wants_parts(half), {offer("n", {"at0"})}).victims,
              ElementsAre(Pair("n", ElementsAre("at0", "at6"))));
}

}  // namespace
}  // namespace berth::policy
