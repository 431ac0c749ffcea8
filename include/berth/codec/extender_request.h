// Reads the body of kube-scheduler's Filter and Prioritize calls (k8s.io/kube-scheduler extender/v1 ExtenderArgs).
//
// Keys are matched without regard to case; null and absent are the same; unknown keys are ignored. In names-only form
// the names are read, in whole-node form the names and the bytes of each node. The whole body is validated, also what
// is not looked at. Refused as well: a key that we read given twice, an empty name, nesting beyond 1,024 levels.
//
// Not thread-safe: one reader per thread, reused so that its memory is.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/core/result.h"
#include "berth/model/node.h"
#include "berth/model/pod.h"

namespace berth::codec {

struct ExtenderRequest {
  model::Pod pod;
  bool whole_nodes = false;             // `Nodes` was given and `NodeNames` was not
  std::vector<std::string_view> names;  // in the order of the request, repeats kept
  std::vector<std::string_view>
      raw_nodes;  // with whole_nodes: the bytes of the Node object of the same place in `names`
};

class ExtenderReader {
 public:
  ExtenderReader();
  ~ExtenderReader();
  ExtenderReader(ExtenderReader&&) noexcept;
  ExtenderReader& operator=(ExtenderReader&&) noexcept;

  // `body` is given capacity for the parser's padding if it lacks it; its text stays as it is. The result's views point
  // into `body` and this reader, and hold until either changes. kInvalid for anything that is not an ExtenderArgs with
  // a pod, with the byte where that is known.
  core::Result<const ExtenderRequest*> read(std::string& body, const model::ResourceNames& resources);

  // Gives back memory that an unusually large body took (more than `keep_bytes`).
  void trim(std::size_t keep_bytes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace berth::codec
