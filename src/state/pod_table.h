// The pods that exist, with what the snapshot needs of each: little, because most of a cluster's pods are bound and
// hold no GPU.
//
// Not thread-safe: owned by the builder. References to a PodRecord stay valid until it is removed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "berth/model/snapshot.h"
#include "cache_member.h"
#include "pod_wants.h"

namespace berth::state {

struct PodRecord {
  std::string uid;
  NodeRecord* holds_on = nullptr;   // the node on which its GPUs count
  NodeRecord* counts_on = nullptr;  // the node on which its requests count
  std::shared_ptr<const model::Resources> requests;
  std::unique_ptr<PodWants> wants;     // null for most
  std::unique_ptr<CacheMember> cache;  // null but for Fluid's own
  std::uint32_t listed = 0;            // number of the last complete list that it was in
  bool bound = false;                  // to a node, and not ended
  bool refused = false;                // kubelet refused it, and that has been counted
  bool closed = false;                 // bound, ended or being deleted: the scheduler won't place it any more
};

class PodTable {
 public:
  [[nodiscard]] PodRecord* find(std::string_view ns, std::string_view name);
  [[nodiscard]] PodRecord* find_uid(std::string_view uid);
  // There must be none of that name.
  PodRecord& add(std::string_view ns, std::string_view name, std::string_view uid);
  void remove(std::string_view ns, std::string_view name);
  void set_bound(PodRecord& record, bool bound);

  // Removes every pod that was not in list `list`, after telling `before`.
  template <class Before>
  void remove_unlisted(std::uint32_t list, Before before) {
    for (auto each = pods_.begin(); each != pods_.end();) {
      if (each->second.listed == list) {
        ++each;
        continue;
      }
      before(each->second);
      unlink(each->second);
      each = pods_.erase(each);
    }
  }

  [[nodiscard]] std::size_t size() const { return pods_.size(); }
  [[nodiscard]] std::size_t bound() const { return bound_; }

 private:
  void unlink(const PodRecord& record);

  model::StringMap<PodRecord> pods_;                         // by "namespace/name"
  std::unordered_map<std::string_view, PodRecord*> by_uid_;  // keys live in the records
  std::size_t bound_ = 0;
};

}  // namespace berth::state
