// What kube-scheduler writes to an extender and reads from it (k8s.io/kube-scheduler extender/v1), and the counts of
// Berth's summary. For a program that plays kube-scheduler (`berth simulate --through-http`).
//
// Thread-safe: pure functions. Readers give kInvalid for what is not as the protocol has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/codec/bind.h"
#include "berth/core/result.h"

namespace berth::codec {

// In quotes and escaped, as names stand in ExtenderArgs.
std::string quoted(std::string_view text);
// ExtenderArgs with names (nodeCacheCapable: true). `pod` is the Pod's JSON, `names` quoted ones with commas between
// them.
std::string write_extender_args(std::string_view pod, std::string_view names);
std::string write_bind_request(const BindRequest& request);

struct FilterVerdict {
  std::vector<std::string> nodes;
  std::string error;  // empty if Filter has been answered
};
core::Result<FilterVerdict> read_filter_answer(std::string_view json);

struct NamedScore {
  std::string node;
  std::int64_t score = 0;  // 0..10
};
core::Result<std::vector<NamedScore>> read_priorities(std::string_view json);

// The text of Error; empty for a pod that is bound.
core::Result<std::string> read_bind_answer(std::string_view json);

// Of what write_summary() writes.
struct SummaryCounts {
  std::uint64_t snapshot = 0;  // its version
  std::size_t pods = 0;
  std::size_t bound_pods = 0;
  std::size_t ledger_entries = 0;
};
core::Result<SummaryCounts> read_summary(std::string_view json);

}  // namespace berth::codec
