// Reads Kubernetes API objects, their lists and watch events, into the model: core/v1 Node, Pod and
// PersistentVolumeClaim; Dataset, DataLoad and the runtimes of data.fluid.io; policy/v1 PodDisruptionBudget;
// SchedulingPolicy of berth.io; objects that tell of GPUs (gpu_objects.h).
//
// Only the fields that Berth uses are looked at; a field of the wrong type is an error of that object, which names it.
// Not thread-safe: one reader per thread, reused so that its memory is. Inputs are given capacity for the parser's
// padding if they lack it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/codec/cluster_dump.h"
#include "berth/core/result.h"
#include "berth/model/cluster_update.h"

namespace berth::codec {

enum class WatchEventType : std::uint8_t { kAdded, kModified, kDeleted, kBookmark, kError };

// One line of a watch stream. kError: `status_code` and `message` of the Status object (410: resourceVersion too old).
template <class T>
struct WatchEvent {
  WatchEventType type = WatchEventType::kBookmark;
  T object{};                    // with kAdded, kModified, kDeleted
  std::string resource_version;  // of the object; empty with kError
  int status_code = 0;
  std::string message;
  std::string broken_why;  // why a part of the object was passed over, the place first; empty if none was
};

// One page of a list. A broken item is left out and counted: one bad object must not blind us to the others. Counted is
// also an object of which a part is left out, such as a broken annotation that tells of GPUs.
template <class T>
struct ListPage {
  std::vector<T> items;
  std::string resource_version;
  std::string continue_token;  // empty on the last page
  std::size_t broken = 0;
  std::string first_broken_why;
};

// The runtimes that Fluid 0.9 to 1.0.8 has; each is read as a model::CacheRuntime of `type`.
struct RuntimeKind {
  std::string_view kind;      // "AlluxioRuntime"
  std::string_view resource;  // "alluxioruntimes", as in the API's paths
  std::string_view type;      // "alluxio"
};
std::span<const RuntimeKind> runtime_kinds();

// T is one of model::Node, Pod, Claim, Dataset, CacheRuntime, DataLoad, DisruptionBudget and SchedulingPolicy,
// KoordinatorDevice, NumaTopology and ResourceSlice.
class ObjectReader {
 public:
  explicit ObjectReader(model::ResourceNames resources);
  ~ObjectReader();
  ObjectReader(ObjectReader&&) noexcept;
  ObjectReader& operator=(ObjectReader&&) noexcept;

  template <class T>
  core::Result<T> read(std::string& json);
  template <class T>
  core::Result<ListPage<T>> read_list(std::string& json);
  template <class T>
  core::Result<WatchEvent<T>> read_event(std::string& line);
  // An item that can't be read is an error here, named by kind, name and field: the file is the user's own.
  core::Result<ClusterDump> read_cluster_dump(std::string& json);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace berth::codec
