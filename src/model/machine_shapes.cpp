// The table of machine shapes by GPU product and count: what is known of a machine whose topology nobody reported.
// Sources: docs/gpu-topology.md, "Machine shapes".
#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "berth/model/gpu_topology.h"
#include "product_text.h"

namespace berth::model {
namespace {

enum class Family : std::uint8_t { kNone, kNv18, kNv12, kNv8, kGrace, kDgx2, kDgx1V, kDgx1P, kPcie };

// GPU-feature-discovery's products: NVIDIA-H100-80GB-HBM3, NVIDIA-A100-SXM4-80GB, NVIDIA-A800-SXM4-80GB, NVIDIA-H800,
// NVIDIA-H100-PCIe, NVIDIA-A100-80GB-PCIe, Tesla-V100-SXM2-32GB, Tesla-T4, ...
Family family_of(std::string_view product, int gpus) {
  const bool pcie = has(product, "PCIe") || has(product, "PCIE");
  const bool sxm_size = gpus == 4 || gpus == 8;
  // Partitioned and time-sliced GPUs are counted by slices; NVL and Active cards and Grace Hopper boards are no HGX
  // machines.
  for (const std::string_view other : {"MIG", "-SHARED", "NVL", "Active", "GH200"}) {
    if (has(product, other)) return Family::kNone;
  }
  if (has(product, "GB200") || has(product, "GB300")) return gpus == 4 ? Family::kGrace : Family::kNone;
  const bool h20 = has(product, "H20") && !has(product, "H200");
  if (!pcie && gpus == 8 && (has(product, "B200") || has(product, "B300") || h20)) return Family::kNv18;
  if (!pcie && sxm_size && (has(product, "H100") || has(product, "H200"))) return Family::kNv18;
  if (!pcie && sxm_size && has(product, "H800")) return Family::kNv8;
  if (!pcie && sxm_size && has(product, "A100")) return Family::kNv12;
  if (!pcie && sxm_size && has(product, "A800")) return Family::kNv8;
  if (gpus == 16 && has(product, "V100-SXM3")) return Family::kDgx2;
  if (gpus == 8 && has(product, "V100-SXM2")) return Family::kDgx1V;
  if (gpus == 8 && has(product, "P100-SXM2")) return Family::kDgx1P;
  // Cards that exist only for PCIe, or say so.
  for (const std::string_view card :
       {"-T4", "-A10", "-A30", "-A40", "-L4", "-L20", "-L40", "RTX", "GeForce", "-P100-PCIE"}) {
    if (has(product, card) && !has(product, "A100") && !has(product, "SXM")) return Family::kPcie;
  }
  return pcie ? Family::kPcie : Family::kNone;
}

LinkMatrix dgx1v() {
  LinkMatrix links = LinkMatrix::uniform(8, Link::kSys);
  constexpr std::pair<int, int> kDouble[] = {{0, 3}, {0, 4}, {1, 2}, {1, 5}, {2, 3}, {4, 7}, {5, 6}, {6, 7}};
  constexpr std::pair<int, int> kSingle[] = {{0, 1}, {0, 2}, {1, 3}, {2, 6}, {3, 7}, {4, 5}, {4, 6}, {5, 7}};
  for (const auto& [a, b] : kDouble) links.set(a, b, nvlink(2));
  for (const auto& [a, b] : kSingle) links.set(a, b, nvlink(1));
  return links;
}

// Two meshed quads, each GPU linked to its counterpart.
LinkMatrix dgx1p() {
  LinkMatrix links = LinkMatrix::uniform(8, Link::kSys);
  for (int a = 0; a < 8; ++a) {
    for (int b = a + 1; b < 8; ++b) {
      if (a / 4 == b / 4 || b == a + 4) links.set(a, b, nvlink(1));
    }
  }
  return links;
}

// Two sockets, half of the GPUs on each: one PCIe switch a socket with eight GPUs, root ports with fewer.
LinkMatrix pcie(int gpus) {
  LinkMatrix links = LinkMatrix::uniform(gpus, Link::kSys);
  const int half = std::max(1, gpus / 2);
  for (int a = 0; a < gpus; ++a) {
    for (int b = a + 1; b < gpus; ++b) {
      if (a / half == b / half) links.set(a, b, gpus >= 8 ? Link::kPix : Link::kNode);
    }
  }
  return links;
}

std::shared_ptr<const GpuShape> build_shape(Family family, int gpus, const LinkBandwidths& widths) {
  GpuShape shape;
  switch (family) {
    case Family::kNv18:
      shape.name = "HGX H100 or B200, NVLink over NVSwitch";
      shape.links = LinkMatrix::uniform(gpus, nvlink(gpus == 8 ? 18 : 6));
      break;
    case Family::kNv12:
      shape.name = "HGX A100, NVLink over NVSwitch";
      shape.links = LinkMatrix::uniform(gpus, nvlink(gpus == 8 ? 12 : 4));
      break;
    case Family::kNv8:
      shape.name = "HGX H800 or A800, NVLink over NVSwitch";
      shape.links = LinkMatrix::uniform(gpus, nvlink(gpus == 8 ? 8 : 2));
      break;
    case Family::kGrace:
      shape.name = "Grace Blackwell, NVLink over NVSwitch";
      shape.links = LinkMatrix::uniform(gpus, nvlink(18));
      break;
    case Family::kDgx2:
      shape.name = "DGX-2, NVLink over NVSwitch";
      shape.links = LinkMatrix::uniform(gpus, nvlink(6));
      break;
    case Family::kDgx1P:
      shape.name = "DGX-1 with P100, hybrid cube mesh";
      shape.links = dgx1p();
      break;
    case Family::kDgx1V:
      shape.name = "DGX-1V, hybrid cube mesh";
      shape.links = dgx1v();
      break;
    case Family::kPcie:
      if (gpus % 2 != 0 && gpus != 1) return nullptr;
      shape.name = "PCIe, two sockets";
      shape.links = pcie(gpus);
      break;
    case Family::kNone:
      return nullptr;
  }
  shape.numa.fill(-1);
  const int half = std::max(1, gpus / 2);
  for (int gpu = 0; gpu < gpus; ++gpu) shape.numa[static_cast<std::size_t>(gpu)] = static_cast<std::int8_t>(gpu / half);
  auto table = BestSetTable::build(shape.links, shape.numa, widths);
  if (!table) return nullptr;
  shape.table = *std::move(table);
  shape.name = std::to_string(gpus) + " GPUs, " + shape.name;
  return std::make_shared<const GpuShape>(std::move(shape));
}

}  // namespace

std::shared_ptr<const GpuShape> find_shape(std::string_view product, int gpus, const LinkBandwidths& widths) {
  if (gpus < 1 || gpus > kMaxGpus) return nullptr;
  const Family family = family_of(product, gpus);
  if (family == Family::kNone) return nullptr;
  static std::mutex mutex;
  static std::map<std::tuple<Family, int, LinkBandwidths>, std::shared_ptr<const GpuShape>> built;
  const std::lock_guard lock(mutex);
  const auto [at, fresh] = built.try_emplace({family, gpus, widths});
  if (fresh) at->second = build_shape(family, gpus, widths);
  return at->second;
}

}  // namespace berth::model
