#include "../src/control/bind_annotations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::control {
namespace {

using model::Annotation;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const core::WallTime kNow{std::chrono::seconds(1'713'437'016)};

model::NodeState two_gpus() {
  auto machine = std::make_shared<model::Machine>();
  for (const char* uuid : {"GPU-a", "GPU-b"}) {
    model::Gpu gpu;
    gpu.uuid = uuid;
    gpu.memory_mib = 40'960;
    machine->gpus.push_back(gpu);
  }
  model::NodeState node;
  node.machine = std::move(machine);
  return node;
}

TEST(BindAnnotations, NameGpusAndPartitions) {
  EXPECT_THAT(bind_annotations({}, {model::mask({0, 3}), {{1, 4, 2}}}, "a", nullptr, false, kNow),
              ElementsAre(Annotation{"berth.io/gpus", "0,3"}, Annotation{"berth.io/mig-slots", "1:4:2"}));
  EXPECT_THAT(bind_annotations({}, {}, "a", nullptr, true, kNow), IsEmpty());
}

// The form of a pod that HAMi placed: "GPU-29d5fa0d-...,NVIDIA,1024,20:;" (UUID, kind, MiB, per cent).
TEST(BindAnnotations, OfHamiNameEachGpuWithMemoryAndCores) {
  const model::NodeState node = two_gpus();
  model::PodRequest share;
  share.parts.gpus = 1;
  share.parts.mib = 1'024;
  share.parts.milli = 200;
  EXPECT_THAT(
      bind_annotations(share, {model::mask({1}), {}}, "a", &node, true, kNow),
      ElementsAre(Annotation{"berth.io/gpus", "1"}, Annotation{"hami.io/vgpu-node", "a"},
                  Annotation{"hami.io/vgpu-time", "1713437016"},
                  Annotation{"hami.io/vgpu-devices-to-allocate", "GPU-b,NVIDIA,1024,20:;"},
                  Annotation{"hami.io/vgpu-devices-allocated", "GPU-b,NVIDIA,1024,20:;"},
                  Annotation{"hami.io/bind-time", "1713437016"}, Annotation{"hami.io/bind-phase", "allocating"}));
  model::PodRequest whole;
  whole.gpus = 2;
  const auto written = bind_annotations(whole, {model::mask({0, 1}), {}}, "a", &node, true, kNow);
  EXPECT_EQ(written[3].value, "GPU-a,NVIDIA,40960,100:GPU-b,NVIDIA,40960,100:;");
}

TEST(BindAnnotations, OfHamiNeedEveryUuid) {
  model::NodeState node;
  EXPECT_THAT(bind_annotations({}, {model::mask({0}), {}}, "a", &node, true, kNow), SizeIs(1));
  auto machine = std::make_shared<model::Machine>();
  machine->gpus.resize(2);
  node.machine = machine;
  EXPECT_THAT(bind_annotations({}, {model::mask({0}), {}}, "a", &node, true, kNow), SizeIs(1));
}

}  // namespace
}  // namespace berth::control
