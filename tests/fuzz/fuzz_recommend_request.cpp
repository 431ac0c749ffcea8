// The body of POST /api/v1/recommend.
#include <string>

#include "berth/codec/recommend_request.h"
#include "object_properties.h"

namespace berth::fuzz {
namespace {

constexpr std::size_t kMostNodes = 64;

void check_ref(const model::DatasetRef& dataset) {
  const auto again = model::parse_dataset_ref(dataset.to_string(), {});
  require(again && *again == dataset, "a dataset that was read has a name and a namespace");
}

void run(std::string body) {
  const std::string before = body;
  const auto request = codec::read_recommend_request(body, {}, {}, kMostNodes);
  require(body == before, "the body stays as it is");
  if (!request) return check(request.error());
  require(request->nodes >= 1 && request->nodes <= kMostNodes, "a number of nodes is within its bounds");
  const model::PodRequest& pod = request->pod;
  require(pod.gpus >= 0 && pod.min_gpu_memory_mib >= 0, "amounts are not negative");
  require(!pod.invalid, "what is not allowed is refused");
  require(!pod.min_coverage || (*pod.min_coverage > 0 && *pod.min_coverage <= 1), "a coverage is within its bounds");
  require(!pod.ns.empty(), "a job has a namespace");
  if (request->warm) check_ref(*request->warm);
}

}  // namespace
}  // namespace berth::fuzz

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  berth::fuzz::run(std::string(data, data + size));
  return 0;
}
