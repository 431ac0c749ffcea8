// Bodies of the few requests by which Berth changes the cluster.
//
// Thread-safe: pure functions. Formats: core/v1 Event of k8s.io/api, JSON merge patch (RFC 7386).
#pragma once

#include <string>
#include <string_view>

#include "berth/core/clock.h"

namespace berth::codec {

// Something told about a pod.
struct PodEvent {
  std::string ns;
  std::string pod;
  std::string uid;       // of the pod
  std::string name;      // of the event, unique in its namespace
  bool warning = false;  // type Warning; else Normal
  std::string reason;    // "DatasetLocality"
  std::string message;   // cut to the 1,024 bytes that the API server takes
  core::WallTime at;
};
std::string write_event(const PodEvent& event);

// Sets one annotation of the object that has this UID; the API server answers 409 or 422 if another has taken its
// place.
std::string write_annotation_patch(std::string_view uid, std::string_view key, std::string_view value);

}  // namespace berth::codec
