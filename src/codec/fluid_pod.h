// The part that a pod plays in the cache of a dataset, and the datasets that Fluid's keys say it wants.
//
// Labels, roles and names: charts/*/templates of fluid-cloudnative/fluid, 0.9 to 1.0.8.
//
// Thread-safe: pure functions. Errors go to `reading`.
#pragma once

#include <simdjson.h>

#include <string_view>

#include "berth/model/pod.h"
#include "json_fields.h"
#include "pod_containers.h"

namespace berth::codec {

inline constexpr std::string_view kDatasetsInUse = "fluid.io/datasets-in-use";

// A pod of Fluid's own, being read. Views of the document.
struct FluidPod {
  std::string_view engine;  // "alluxio", "jindofs" and so on; empty where the label `role` says none
};

// Sets pod.cache, as far as labels tell, and pod.required_claims. The pod's name must be known.
FluidPod read_labels(model::Pod& pod, simdjson::dom::object labels, Reading& reading);

// The value of the annotation kDatasetsInUse.
void read_datasets_in_use(model::Pod& pod, std::string_view names);

// A container of a pod that has pod.cache.
void look_at(model::CachePod& cache, const FluidPod& fluid, const Container& container, Reading& reading);

}  // namespace berth::codec
