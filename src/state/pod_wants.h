// The data that a pod wants, kept of pods that may want any, and which pods a name concerns.
//
// A claim or a dataset may become known long after the pod that names it: whoever learns of one asks concerned() and
// resolves those pods anew.
//
// Not thread-safe: owned by the builder.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "berth/model/pod.h"
#include "berth/model/snapshot.h"

namespace berth::state {

struct NodeRecord;
struct PodRecord;

struct PodWants {
  std::vector<std::string> claims;       // "NAMESPACE/CLAIM"
  std::vector<model::DatasetRef> named;  // by annotations and labels
  NodeRecord* node = nullptr;            // that it is bound to
  std::string nominated;                 // otherwise, the node it is nominated for
  std::int32_t gpus = 0;
  std::int32_t priority = 0;
  model::GpuParts parts;
  bool any = false;                     // it wants a dataset, known or not
  std::vector<model::DatasetId> known;  // of those it wants, each once
  std::vector<std::string> names;       // that concern it
  NodeRecord* counted_on = nullptr;     // where it counts as a reader, and of what
  std::vector<model::DatasetId> counted;
};

// Null if it names neither a claim nor a dataset.
std::unique_ptr<PodWants> wants_of(const model::PodRequest& request);

class WantedNames {
 public:
  // Works out `any`, `known` and `names` of the pod's wants, which must be set.
  void resolve(PodRecord& pod, const model::ClaimMap& claims, const model::DatasetNames& datasets);
  void forget(PodRecord& pod);
  // The pods for which a claim ("NAMESPACE/CLAIM") or a dataset (its worker label without UID) makes a difference.
  [[nodiscard]] std::vector<PodRecord*> concerned(const std::string& name) const;

 private:
  model::StringMap<std::unordered_set<PodRecord*>> pods_;  // by name, none empty
};

}  // namespace berth::state
