// The rules that merge pods, labels and figures of one dataset; and what users of Fluid report, with the right value.
#include "../src/state/coverage.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace berth::state {
namespace {

using model::CoverageSource;
using Pod = CoverageInputs::Pod;
using Holder = model::DatasetPlacement::Holder;

constexpr std::int64_t kGib = std::int64_t{1} << 30;

core::WallTime told_at(int second) { return core::WallTime(std::chrono::seconds(second)); }

// A ready worker that came at second 10.
Pod ready_worker(model::Slot slot) {
  Pod pod;
  pod.slot = slot;
  pod.ready = true;
  pod.changed = told_at(10);
  return pod;
}
Pod measured(Pod pod, std::int64_t bytes) {
  pod.bytes = bytes;
  return pod;
}
Pod late(Pod pod) {
  pod.late = true;
  return pod;
}
Pod not_ready(Pod pod) {
  pod.ready = false;
  return pod;
}
Pod own_cache(Pod pod) {
  pod.own_cache = true;
  return pod;
}

// A bound dataset of 100 GiB of which nothing is known; the prior is 0.5.
struct Given {
  CoverageInputs in;
  Given() {
    in.bound = true;
    in.total_bytes = 100 * kGib;
    in.cached_at = told_at(20);
    in.assumed = 0.5;
  }
  Given& workers(std::vector<Pod> pods) {
    in.workers = std::move(pods);
    return *this;
  }
  Given& fuses(std::vector<Pod> pods) {
    in.fuses = std::move(pods);
    return *this;
  }
  Given& labels(std::vector<model::Slot> slots) {
    for (const model::Slot slot : slots) in.worker_labels.push_back({slot, told_at(5)});
    return *this;
  }
  Given& fuse_labels(std::vector<model::Slot> slots) {
    for (const model::Slot slot : slots) in.fuse_labels.push_back({slot, told_at(6)});
    return *this;
  }
  Given& cached(double fraction) {
    in.cached = fraction;
    return *this;
  }
  Given& measured_at(int second) {
    in.measured_at = told_at(second);
    return *this;
  }
  Given& total(std::int64_t bytes) {
    in.total_bytes = bytes;
    return *this;
  }
  Given& quota(std::int64_t bytes) {
    in.worker_bytes = bytes;
    return *this;
  }
  Given& not_bound() {
    in.bound = false;
    return *this;
  }
};

struct Case {
  std::string name;
  Given given;
  std::vector<Holder> want;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

class Coverage : public testing::TestWithParam<Case> {};

TEST_P(Coverage, Is) {
  const auto got = merge_coverage(GetParam().given.in);
  const auto& want = GetParam().want;
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].slot, want[i].slot);
    EXPECT_FLOAT_EQ(got[i].coverage, want[i].coverage) << "slot " << got[i].slot;
    EXPECT_EQ(to_string(got[i].source), to_string(want[i].source)) << "slot " << got[i].slot;
    EXPECT_EQ(got[i].holds, want[i].holds) << "slot " << got[i].slot;
    EXPECT_EQ(got[i].observed, want[i].observed) << "slot " << got[i].slot;
    EXPECT_EQ(got[i].bytes, want[i].bytes) << "slot " << got[i].slot;
  }
}

Holder is_measured(model::Slot slot, float coverage, std::int64_t bytes) {
  return {slot, coverage, CoverageSource::kMeasured, bytes > 0, told_at(30), bytes};
}
Holder is_new(model::Slot slot, int second) { return {slot, 0, CoverageSource::kNewWorker, true, told_at(second), -1}; }
Holder is_uniform(model::Slot slot, float coverage) {
  return {slot, coverage, CoverageSource::kUniform, true, told_at(20), -1};
}
Holder is_assumed(model::Slot slot, float coverage) {
  return {slot, coverage, CoverageSource::kAssumed, true, told_at(10), -1};
}
Holder is_label(model::Slot slot, float coverage) {
  return {slot, coverage, CoverageSource::kLabel, false, told_at(5), -1};
}
Holder is_fuse(model::Slot slot, int second) {
  return {slot, 0.025F, CoverageSource::kFuse, false, told_at(second), -1};
}
Holder unsure(Holder holder) {
  holder.holds = false;
  return holder;
}

INSTANTIATE_TEST_SUITE_P(
    Measured, Coverage,
    testing::Values(
        Case{"bytes over the dataset's bytes",
             Given().workers({measured(ready_worker(3), 25 * kGib)}).measured_at(30).cached(0.9),
             {is_measured(3, 0.25F, 25 * kGib)}},
        Case{"a worker with nothing holds nothing",
             Given().workers({measured(ready_worker(3), 0)}).measured_at(30).cached(0.9),
             {is_measured(3, 0, 0)}},
        Case{"two workers of one node add up, and no further than everything",
             Given()
                 .workers({measured(ready_worker(3), 25 * kGib), measured(ready_worker(3), 10 * kGib),
                           measured(ready_worker(5), 70 * kGib), measured(ready_worker(5), 60 * kGib)})
                 .measured_at(30),
             {is_measured(3, 0.35F, 35 * kGib), is_measured(5, 1, 130 * kGib)}},
        Case{"a worker that was not measured with the others holds nothing yet",
             Given().workers({measured(ready_worker(3), 25 * kGib), ready_worker(4)}).measured_at(30).cached(0.9),
             {is_measured(3, 0.25F, 25 * kGib), is_new(4, 30)}},
        Case{"a worker that came after the measurement",
             Given().workers({ready_worker(4)}).measured_at(7),
             {is_new(4, 10)}},
        Case{"one measured and one new on a node: the node may be relied upon",
             Given().workers({measured(ready_worker(3), 0), ready_worker(3)}).measured_at(30),
             {{3, 0, CoverageSource::kMeasured, true, told_at(30), 0}}},
        Case{"without the dataset's size as if nobody had measured",
             Given()
                 .workers({measured(ready_worker(3), 25 * kGib), ready_worker(4)})
                 .measured_at(30)
                 .total(0)
                 .cached(0.6),
             {is_uniform(3, 0.3F), is_uniform(4, 0.3F)}},
        Case{"half while the worker is not ready",
             Given().workers({not_ready(measured(ready_worker(3), 80 * kGib))}).measured_at(30),
             {unsure(is_measured(3, 0.4F, 80 * kGib))}}));

INSTANTIATE_TEST_SUITE_P(
    Uniform, Coverage,
    testing::Values(Case{"spread over the ready workers",
                         Given().workers({ready_worker(1), ready_worker(2), ready_worker(9)}).cached(0.9),
                         {is_uniform(1, 0.3F), is_uniform(2, 0.3F), is_uniform(9, 0.3F)}},
                    Case{"a worker on an unknown node has its part",
                         Given().workers({ready_worker(1), ready_worker(model::kNoSlot)}).cached(0.9),
                         {is_uniform(1, 0.45F)}},
                    Case{"a worker that came after the figure holds nothing and takes no part",
                         Given().workers({ready_worker(1), ready_worker(2), late(ready_worker(3))}).cached(0.9),
                         {is_uniform(1, 0.45F), is_uniform(2, 0.45F), is_new(3, 10)}},
                    Case{"when all came after it, none holds anything",
                         Given().workers({late(ready_worker(3))}).cached(0.9),
                         {is_new(3, 10)}},
                    Case{"half of what would be its part while it is not ready",
                         Given().workers({ready_worker(1), ready_worker(2), not_ready(ready_worker(3))}).cached(0.9),
                         {is_uniform(1, 0.45F), is_uniform(2, 0.45F), unsure(is_uniform(3, 0.15F))}},
                    Case{"a starting worker that came after the figure: nothing",
                         Given().workers({ready_worker(1), not_ready(late(ready_worker(3)))}).cached(0.9),
                         {is_uniform(1, 0.9F), unsure(is_new(3, 10))}},
                    Case{"two workers of one node have two parts",
                         Given().workers({ready_worker(1), ready_worker(1), ready_worker(2)}).cached(0.9),
                         {is_uniform(1, 0.6F), is_uniform(2, 0.3F)}},
                    Case{"no more than a worker may cache",
                         Given().workers({ready_worker(1), ready_worker(2)}).cached(0.9).quota(20 * kGib),
                         {is_uniform(1, 0.2F), is_uniform(2, 0.2F)}},
                    Case{"which says nothing without the dataset's size",
                         Given().workers({ready_worker(1)}).cached(0.9).quota(20 * kGib).total(0),
                         {is_uniform(1, 0.9F)}}));

INSTANTIATE_TEST_SUITE_P(Assumed, Coverage,
                         testing::Values(Case{"the prior over the ready workers",
                                              Given().workers({ready_worker(1), ready_worker(2)}),
                                              {is_assumed(1, 0.25F), is_assumed(2, 0.25F)}},
                                         Case{"late or not: there is no figure to come after",
                                              Given().workers({ready_worker(1), late(ready_worker(2))}),
                                              {is_assumed(1, 0.25F), is_assumed(2, 0.25F)}},
                                         Case{"half while the only worker is not ready",
                                              Given().workers({not_ready(ready_worker(1))}),
                                              {unsure(is_assumed(1, 0.25F))}},
                                         Case{"no more than a worker may cache",
                                              Given().workers({ready_worker(1)}).quota(10 * kGib),
                                              {is_assumed(1, 0.1F)}}));

INSTANTIATE_TEST_SUITE_P(
    LabelsAndClients, Coverage,
    testing::Values(
        Case{"a label without a worker: the prior over all that seem to hold",
             Given().workers({ready_worker(1)}).labels({2, 3, 4}),
             {is_assumed(1, 0.5F), is_label(2, 0.125F), is_label(3, 0.125F), is_label(4, 0.125F)}},
        Case{"a client is a hint",
             Given().fuses({ready_worker(2)}).fuse_labels({2, 4}),
             {is_fuse(2, 10), is_fuse(4, 6)}},
        Case{"the best of a node wins: worker, label, client",
             Given()
                 .workers({ready_worker(1)})
                 .cached(0.9)
                 .labels({2})
                 .fuses({ready_worker(1), ready_worker(2)})
                 .fuse_labels({1, 2, 3}),
             {is_uniform(1, 0.9F), is_label(2, 0.25F), is_fuse(3, 6)}},
        Case{"a worker known to hold nothing still wins over a hint",
             Given().workers({measured(ready_worker(1), 0)}).measured_at(30).fuse_labels({1}),
             {is_measured(1, 0, 0)}},
        Case{
            "nothing counts of a dataset that is not bound",
            Given().workers({measured(ready_worker(1), kGib)}).measured_at(30).labels({2}).fuse_labels({3}).not_bound(),
            {}}));

// JuiceFS community edition: every client and every worker caches for itself.
INSTANTIATE_TEST_SUITE_P(OwnCache, Coverage,
                         testing::Values(Case{"the average counts for each, undivided",
                                              Given()
                                                  .fuses({own_cache(ready_worker(1)), own_cache(ready_worker(2)),
                                                          own_cache(not_ready(ready_worker(3)))})
                                                  .cached(0.6),
                                              {is_uniform(1, 0.6F), is_uniform(2, 0.6F), unsure(is_uniform(3, 0.3F))}},
                                         Case{"nothing known: the prior, undivided",
                                              Given().fuses({own_cache(ready_worker(1)), own_cache(ready_worker(2))}),
                                              {is_assumed(1, 0.5F), is_assumed(2, 0.5F)}},
                                         Case{"a worker shares the directory with the client of its node",
                                              Given()
                                                  .workers({own_cache(ready_worker(1)), own_cache(ready_worker(2))})
                                                  .fuses({own_cache(ready_worker(1))})
                                                  .cached(0.6),
                                              {is_uniform(1, 0.6F), is_uniform(2, 0.6F)}},
                                         Case{"no more than the directory may hold",
                                              Given().fuses({own_cache(ready_worker(1))}).quota(10 * kGib),
                                              {is_assumed(1, 0.1F)}}));

TEST(Coverage, AReadyWorkerIsWhereALoadLands) {
  auto in = Given()
                .workers({measured(ready_worker(1), 0), ready_worker(2), not_ready(ready_worker(3)),
                          own_cache(ready_worker(4))})
                .fuses({own_cache(ready_worker(4)), own_cache(ready_worker(5)), ready_worker(6)})
                .labels({7})
                .measured_at(30)
                .in;
  std::vector<model::Slot> workers;
  for (const Holder& holder : merge_coverage(in)) {
    if (holder.worker) workers.push_back(holder.slot);
  }
  EXPECT_EQ(workers, (std::vector<model::Slot>{1, 2, 4}));
}

// Reports of users. Numbers are issues of fluid-cloudnative/fluid, Alluxio/alluxio and juicedata/juicefs.
INSTANTIATE_TEST_SUITE_P(
    Reports, Coverage,
    testing::Values(
        Case{"fluid#1329, #1367, #1371, #1381, #1057: client labels left after the runtime is gone",
             Given().not_bound().fuse_labels({1, 2}),
             {}},
        Case{"fluid#1314: workers run, labels never appear",
             Given().workers({ready_worker(1), ready_worker(2)}).cached(1.0),
             {is_uniform(1, 0.5F), is_uniform(2, 0.5F)}},
        Case{"fluid#5224: the client's label is missing, its pod is there",
             Given().fuses({ready_worker(1)}),
             {is_fuse(1, 10)}},
        Case{"fluid#2389: all workers deleted, the Dataset stays Bound and full", Given().cached(1.0), {}},
        Case{"juicefs#4201, fluid#1827: 0 cached is as good as unknown",
             Given().workers({ready_worker(1)}),
             {is_assumed(1, 0.5F)}},
        Case{"fluid#1460: a load is complete and no bytes are there",
             Given().workers({measured(ready_worker(1), 0), measured(ready_worker(2), 0)}).measured_at(30).cached(1.0),
             {is_measured(1, 0, 0), is_measured(2, 0, 0)}},
        Case{"alluxio#13410: 143 GB over six equal workers, 24 GB on most and 298 MB on one",
             Given()
                 .workers({measured(ready_worker(1), 24'000'000'000), measured(ready_worker(2), 24'000'000'000),
                           measured(ready_worker(3), 24'000'000'000), measured(ready_worker(4), 24'000'000'000),
                           measured(ready_worker(5), 24'000'000'000), measured(ready_worker(6), 298'000'000)})
                 .measured_at(30)
                 .total(143'000'000'000)
                 .cached(0.84),
             {is_measured(1, 0.16783217F, 24'000'000'000), is_measured(2, 0.16783217F, 24'000'000'000),
              is_measured(3, 0.16783217F, 24'000'000'000), is_measured(4, 0.16783217F, 24'000'000'000),
              is_measured(5, 0.16783217F, 24'000'000'000), is_measured(6, 0.00208391608F, 298'000'000)}},
        Case{"alluxio#9425, #11487, #13773: a worker added later stays empty",
             Given().workers({ready_worker(1), late(ready_worker(2))}).cached(1.0),
             {is_uniform(1, 1.0F), is_new(2, 10)}},
        Case{"alluxio#13784: the worker was replaced and its cache is lost",
             Given().workers({ready_worker(1)}).measured_at(30).cached(1.0),
             {is_new(1, 30)}},
        Case{"alluxio#11540, #18577: three times the dataset's bytes",
             Given().workers({measured(ready_worker(1), 300 * kGib)}).measured_at(30).cached(1.0),
             {is_measured(1, 1, 300 * kGib)}},
        Case{"alluxio community#637: workers of unequal size count by their bytes",
             Given()
                 .workers({measured(ready_worker(1), 90 * kGib), measured(ready_worker(2), 10 * kGib)})
                 .measured_at(30),
             {is_measured(1, 0.9F, 90 * kGib), is_measured(2, 0.1F, 10 * kGib)}}));

}  // namespace
}  // namespace berth::state
