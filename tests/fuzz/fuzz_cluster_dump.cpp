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
  using namespace berth;
  static codec::ObjectReader reader({});
  std::string json(data, data + size);
  const auto dump = reader.read_cluster_dump(json);
  if (dump) {
    const auto check_all = [](const auto& objects) {
      for (const auto& object : objects) fuzz::check(object);
    };
    check_all(dump->nodes);
    check_all(dump->pods);
    check_all(dump->claims);
    check_all(dump->datasets);
    check_all(dump->runtimes);
    check_all(dump->data_loads);
    fuzz::require(dump->fluid_served || dump->datasets.empty(), "datasets are seen where Fluid is served");
  } else {
    fuzz::check(dump.error());
  }
  fuzz::check_page(reader.read_list<model::Node>(json));
  fuzz::check_page(reader.read_list<model::Pod>(json));
  fuzz::check_page(reader.read_list<model::Claim>(json));
  fuzz::check_page(reader.read_list<model::Dataset>(json));
  fuzz::check_page(reader.read_list<model::CacheRuntime>(json));
  fuzz::check_page(reader.read_list<model::DataLoad>(json));
  fuzz::check_page(reader.read_list<model::DisruptionBudget>(json));
  fuzz::check_page(reader.read_list<model::SchedulingPolicy>(json));
  return 0;
}
