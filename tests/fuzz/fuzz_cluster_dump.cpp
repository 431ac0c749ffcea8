// What kubectl get -o json prints, and the pages of lists.
#include "berth/codec/kubernetes_objects.h"
#include "object_properties.h"

namespace berth::fuzz {
namespace {

template <class T>
void check_page(const core::Result<codec::ListPage<T>>& page) {
  if (!page) return check(page.error());
  for (const T& item : page->items) check(item);
  require((page->broken == 0) == page->first_broken_why.empty(), "the first broken item has a reason");
}

}  // namespace
}  // namespace berth::fuzz

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static berth::codec::ObjectReader reader({});
  std::string json(data, data + size);
  const auto dump = reader.read_cluster_dump(json);
  if (dump) {
    for (const auto& node : dump->nodes) berth::fuzz::check(node);
    for (const auto& pod : dump->pods) berth::fuzz::check(pod);
  } else {
    berth::fuzz::check(dump.error());
  }
  berth::fuzz::check_page(reader.read_list<model::Node>(json));
  berth::fuzz::check_page(reader.read_list<model::Pod>(json));
  return 0;
}
