// A Kubernetes object of any kind: alone, as an item of a list and in a watch event, which must all read the same.
#include <algorithm>
#include <string>

#include "berth/codec/kubernetes_objects.h"
#include "object_properties.h"

namespace berth::fuzz {
namespace {

template <class T>
void check_kind(const std::string& text, const std::string& kind) {
  static codec::ObjectReader reader({});
  std::string alone = text;
  const auto object = reader.read<T>(alone);
  if (!object) return check(object.error());
  check(*object);
  // Around it, the text must not reach the limit on depth.
  if (std::count(text.begin(), text.end(), '[') + std::count(text.begin(), text.end(), '{') > 1000) return;
  std::string list = R"({"kind":")" + kind + R"(List","items":[)" + text + "]}";
  const auto page = reader.read_list<T>(list);
  require(page && page->items.size() == 1, "reads in a list");
  require(page->items[0] == *object, "reads the same in a list");
  std::string line = R"({"type":"MODIFIED","object":)" + text + "}";
  const auto event = reader.read_event<T>(line);
  if (event) {
    require(event->object == *object, "reads the same in a watch event");
  } else {
    require(event.error().where.find("resourceVersion") != std::string::npos, "only the version can be wrong there");
  }
}

}  // namespace
}  // namespace berth::fuzz

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace berth;
  const std::string text(data, data + size);
  fuzz::check_kind<model::Node>(text, "Node");
  fuzz::check_kind<model::Pod>(text, "Pod");
  fuzz::check_kind<model::Claim>(text, "PersistentVolumeClaim");
  fuzz::check_kind<model::Dataset>(text, "Dataset");
  fuzz::check_kind<model::CacheRuntime>(text, "ThinRuntime");
  fuzz::check_kind<model::DataLoad>(text, "DataLoad");
  fuzz::check_kind<model::DisruptionBudget>(text, "PodDisruptionBudget");
  fuzz::check_kind<codec::KoordinatorDevice>(text, "Device");
  fuzz::check_kind<codec::NumaTopology>(text, "NodeResourceTopology");
  fuzz::check_kind<codec::ResourceSlice>(text, "ResourceSlice");
  fuzz::check_kind<model::SchedulingPolicy>(text, "SchedulingPolicy");
  return 0;
}
