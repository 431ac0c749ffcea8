#include "berth/model/node.h"

#include <tuple>

namespace berth::model {
namespace {

template <class T>
bool same(const std::shared_ptr<const T>& a, const std::shared_ptr<const T>& b) {
  return a == b || (a != nullptr && b != nullptr && *a == *b);
}

auto plain_fields(const Node& node) {
  return std::tie(node.name, node.uid, node.allocatable, node.gpus, node.gpu_product, node.gpu_memory_mib, node.rack,
                  node.zone, node.slurm_name, node.gpu_count, node.mig, node.levels, node.fluid_labels, node.images);
}

}  // namespace

bool operator==(const Node& a, const Node& b) {
  return plain_fields(a) == plain_fields(b) && same(a.agent, b.agent) && same(a.hami, b.hami) &&
         same(a.holders, b.holders);
}

std::vector<ShareResource> default_shares() {
  return {{"nvidia.com/gpu-mem", ShareUnit::kMib, false},
          {"aliyun.com/gpu-mem", ShareUnit::kGib, false},
          {"berth.io/gpu-milli", ShareUnit::kMilli, false},
          {"nvidia.com/gpumem", ShareUnit::kMib, true},
          {"nvidia.com/gpumem-percentage", ShareUnit::kMemoryPercent, true},
          {"nvidia.com/gpucores", ShareUnit::kPercent, true}};
}

}  // namespace berth::model
