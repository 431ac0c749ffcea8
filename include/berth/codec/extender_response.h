// Writes the answers to kube-scheduler (k8s.io/kube-scheduler extender/v1 ExtenderFilterResult, HostPriorityList).
//
// Thread-safe: pure functions that append to `out`. All text is escaped as JSON asks; invalid UTF-8 becomes U+FFFD.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace berth::codec {

struct FailedNode {
  std::string_view name;
  std::string_view reason;
};

struct FilterAnswer {
  bool whole_nodes = false;
  std::span<const std::string_view>
      nodes;                           // names, or with whole_nodes the bytes of the Node objects, echoed as they are
  std::span<const FailedNode> failed;  // preemption may help
  std::span<const FailedNode> failed_and_unresolvable;  // it can't
};

struct HostScore {
  std::string_view host;
  std::int32_t score;  // 0..10
};

void write_filter_answer(std::string& out, const FilterAnswer& answer);
// A call that could not be answered: every list null, `Error` set. kube-scheduler retries it with back-off.
void write_filter_error(std::string& out, std::string_view error);
void write_priorities(std::string& out, std::span<const HostScore> scores);
// {"error": "..."}, the body of every answer that is not 200.
void write_error(std::string& out, std::string_view message);

}  // namespace berth::codec
