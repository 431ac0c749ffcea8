// A line of a watch stream.
#include "berth/codec/kubernetes_objects.h"
#include "object_properties.h"

namespace berth::fuzz {
namespace {

template <class T>
void check_event(const core::Result<codec::WatchEvent<T>>& event) {
  using codec::WatchEventType;
  if (!event) return check(event.error());
  switch (event->type) {
    case WatchEventType::kError:
      require(event->resource_version.empty() && event->object == T{}, "an error carries a status only");
      require(event->status_code >= 0 && event->status_code <= 999, "a status code has three digits");
      break;
    case WatchEventType::kBookmark:
      require(event->object == T{}, "a bookmark carries a version only");
      break;
    default:
      check(event->object);
  }
}

}  // namespace
}  // namespace berth::fuzz

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static berth::codec::ObjectReader reader({});
  using namespace berth;
  std::string line(data, data + size);
  fuzz::check_event(reader.read_event<model::Node>(line));
  fuzz::check_event(reader.read_event<model::Pod>(line));
  fuzz::check_event(reader.read_event<model::Claim>(line));
  fuzz::check_event(reader.read_event<model::Dataset>(line));
  fuzz::check_event(reader.read_event<model::CacheRuntime>(line));
  fuzz::check_event(reader.read_event<model::DataLoad>(line));
  fuzz::check_event(reader.read_event<model::DisruptionBudget>(line));
  fuzz::check_event(reader.read_event<model::SchedulingPolicy>(line));
  return 0;
}
