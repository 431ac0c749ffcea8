// What an API server writes and reads: objects, lists and watch events as far as Berth looks at them, and the Bindings
// that it is sent. For a program that plays an API server (`berth simulate --through-http`).
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/core/clock.h"
#include "berth/core/result.h"
#include "berth/model/pod.h"

namespace berth::codec {

// A core/v1 Node. Amounts are its allocatable.
struct NodeObject {
  std::string name;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  std::int64_t gpus = 0;
  std::int64_t gpu_milli = 0;  // of berth.io/gpu-milli
  std::string gpu_product;     // label nvidia.com/gpu.product
  std::string topology;        // annotation berth.io/topology (machine_json.h)
};

// A core/v1 Pod of one container: Pending while it has no node, then Running. Amounts are its requests.
struct PodObject {
  std::string ns;
  std::string name;
  std::string uid;
  std::string scheduler;
  std::vector<model::Annotation> annotations;
  core::WallTime created;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  std::int64_t gpus = 0;
  std::int64_t gpu_milli = 0;
  std::string node;
};

std::string write_node(const NodeObject& node, std::uint64_t version);
std::string write_pod(const PodObject& pod, std::uint64_t version);
// A SchedulingPolicy that says which products its pods run on.
std::string write_product_policy(std::string_view ns, std::string_view name, std::span<const std::string> products,
                                 std::uint64_t version);

struct ListHeader {
  std::string_view kind;         // "Pod"
  std::string_view api_version;  // "v1"
  std::uint64_t version = 0;
  std::string continue_token = {};  // empty on the last page
};
// `items` is the JSON of the items with commas between them.
std::string write_list(const ListHeader& header, std::string_view items);
// With a line end. `type` is ADDED, MODIFIED or DELETED.
std::string write_watch_event(std::string_view type, std::string_view object);
// A meta/v1 Status with an HTTP status code; of 400 and above it is a failure.
std::string write_status(int code, std::string_view message);
// A meta/v1 APIResourceList with one resource.
std::string write_resource_list(std::string_view group_version, std::string_view resource, std::string_view kind);

struct BindingObject {
  std::string uid;  // empty if the Binding names none
  std::string node;
  std::vector<model::Annotation> annotations;
};
// kInvalid for what is no Binding with a target.
core::Result<BindingObject> read_binding(std::string_view json);

}  // namespace berth::codec
