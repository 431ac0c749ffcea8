// Reads Kubernetes API objects (core/v1 Node and Pod, their lists and watch events) into the model.
//
// Only the fields that Berth uses are looked at; a field of the wrong type is an error of that object, which names it.
// Not thread-safe: one reader per thread, reused so that its memory is. Inputs are given capacity for the parser's
// padding if they lack it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

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
};

// One page of a list. A broken item is left out and counted: one bad object must not blind us to the others.
template <class T>
struct ListPage {
  std::vector<T> items;
  std::string resource_version;
  std::string continue_token;  // empty on the last page
  std::size_t broken = 0;
  std::string first_broken_why;
};

// What `kubectl get nodes,pods,... -A -o json` prints: a v1 List of mixed kinds (kinds other than Node and Pod are
// skipped), or a NodeList, PodList, Node or Pod.
struct ClusterDump {
  std::vector<model::Node> nodes;
  std::vector<model::Pod> pods;
  std::size_t skipped = 0;
};

class ObjectReader {
 public:
  explicit ObjectReader(model::ResourceNames resources);
  ~ObjectReader();
  ObjectReader(ObjectReader&&) noexcept;
  ObjectReader& operator=(ObjectReader&&) noexcept;

  core::Result<model::Node> read_node(std::string& json);
  core::Result<model::Pod> read_pod(std::string& json);
  core::Result<ListPage<model::Node>> read_node_list(std::string& json);
  core::Result<ListPage<model::Pod>> read_pod_list(std::string& json);
  core::Result<WatchEvent<model::Node>> read_node_event(std::string& line);
  core::Result<WatchEvent<model::Pod>> read_pod_event(std::string& line);
  // An item that can't be read is an error here, named by kind, name and field: the file is the user's own.
  core::Result<ClusterDump> read_cluster_dump(std::string& json);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace berth::codec
