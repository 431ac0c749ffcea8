#include "config_classes.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include "berth/core/quantity.h"
#include "berth/model/gpu_set.h"
#include "berth/model/part_placement.h"
#include "config_values.h"

namespace berth::server {
namespace {

using core::ErrorCode;
using core::fail;
using core::Result;
using model::RequestShare;

constexpr std::size_t kMostClasses = 64;
constexpr double kRounding = 1e-9;
constexpr std::int64_t kMostCpuMilli = 1'000'000;
constexpr std::size_t kMostBytes = std::size_t{1} << 50U;

tl::unexpected<core::Error> must_be(const char* what) {
  return fail(ErrorCode::kInvalid, std::string("must be a list of maps such as {gpus: 8, cpu: 96, share: 5}: ") + what);
}

Result<void> read_field(const std::string& key, const YAML::Node& value, RequestShare& into) {
  model::RequestClass& request = into.request;
  if (key == "gpus") {
    const auto gpus = read_count(value, 1, model::kMaxSlots);
    if (!gpus) return must_be("gpus is a whole number from 1 on");
    request.gpus = static_cast<std::int32_t>(*gpus);
  } else if (key == "milli") {
    const auto milli = read_count(value, 1, model::kWholeMilli);
    if (!milli) return must_be("milli is 1 to 1000");
    request.milli = static_cast<std::int32_t>(*milli);
  } else if (key == "memory") {
    const auto bytes = read_size(value, std::size_t{1} << 20U, kMostBytes);
    if (!bytes) return must_be("memory is a size such as 16Gi");
    request.mib = static_cast<std::int64_t>(*bytes >> 20U);
  } else if (key == "mig") {
    const auto profile = read_text(value);
    if (!profile || model::mig_size({}, *profile) == 0) return must_be("mig is a profile such as 3g.40gb");
    request.mig = *profile;
  } else if (key == "cpu") {
    const auto milli = value.IsScalar() ? core::parse_milli_quantity(value.Scalar()) : Result<std::int64_t>(0);
    if (!milli || *milli < 1 || *milli > kMostCpuMilli) return must_be("cpu is a quantity such as 96 or 500m");
    request.cpu_milli = *milli;
  } else if (key == "products") {
    const auto products = read_texts(value);
    if (!products) return must_be("products is a list of values of the label nvidia.com/gpu.product");
    request.products = *products;
    std::ranges::sort(request.products);
  } else if (key == "share") {
    const auto percent = read_weight(value);
    if (!percent || *percent <= 0 || *percent > 100) return must_be("share is above 0 and at most 100, in per cent");
    into.share = *percent / 100;
  } else {
    return must_be("its keys are gpus, milli, memory, mig, cpu, products and share");
  }
  return {};
}

Result<RequestShare> read_class(const YAML::Node& map) {
  if (!map.IsMap()) return must_be("each is a map");
  RequestShare read;
  std::set<std::string> seen;
  for (const auto& entry : map) {
    if (!entry.first.IsScalar() || !seen.insert(entry.first.Scalar()).second) return must_be("each key is given once");
    if (auto good = read_field(entry.first.Scalar(), entry.second, read); !good) return tl::unexpected(good.error());
  }
  model::RequestClass& request = read.request;
  if (read.share <= 0) return must_be("each has a share");
  const bool part = request.milli > 0 || request.mib > 0;
  if (!request.mig.empty() && part) return must_be("mig goes without milli and memory");
  const bool gpu = part || !request.mig.empty() || request.gpus > 0;
  if (!gpu && (request.cpu_milli == 0 || !request.products.empty())) return must_be("one without GPUs has cpu alone");
  if (gpu && request.gpus == 0) request.gpus = 1;
  if (request.mig.empty() && request.gpus > model::kMaxGpus) return must_be("gpus is at most 16");
  if (request.gpus > 0 && !part && request.mig.empty()) request.milli = model::kWholeMilli;
  return read;
}

}  // namespace

Result<std::vector<RequestShare>> read_classes(const YAML::Node& node) {
  if (!node.IsSequence() || node.size() > kMostClasses) return must_be("64 at most");
  std::vector<RequestShare> classes;
  double sum = 0;
  for (const auto& item : node) {
    auto read = read_class(item);
    if (!read) return tl::unexpected(read.error());
    sum += read->share;
    const auto same = std::ranges::find(classes, read->request, &RequestShare::request);
    if (same != classes.end()) return must_be("each class once");
    classes.push_back(*std::move(read));
  }
  if (sum > 1 + kRounding) return must_be("the shares add up to 100 at most");
  return classes;
}

}  // namespace berth::server
