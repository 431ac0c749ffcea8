#include "played_scheduler.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "berth/codec/scheduler_json.h"
#include "berth/model/usable_capacity.h"

namespace berth::rehearse {
namespace {

using core::ErrorCode;
using core::Result;
using simulate::Choice;
using simulate::Kind;
using simulate::NodeNumber;
using Port = BerthChild::Port;

// 101 of the extender times 100/10 for its scores of 0 to 10 beside the plugins' 0 to 100.
constexpr std::int64_t kBerthWeight = 1'010;
// How control::Binder begins when the node has no room any more; anything else is trouble.
constexpr std::string_view kRefused = "the node can't take the pod any more: ";

std::string names(const std::vector<NodeNumber>& nodes, const auto& quoted) {
  std::string text;
  text.reserve(nodes.size() * 24);
  for (const NodeNumber number : nodes) {
    if (!text.empty()) text += ',';
    text += quoted(number);
  }
  return text;
}

// "0,1,2" as a set; nullopt for any other text.
std::optional<model::GpuMask> parse_gpus(std::string_view text) {
  model::GpuMask mask = 0;
  while (true) {
    unsigned gpu = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), gpu);
    if (error != std::errc() || gpu >= model::kMaxGpus) return std::nullopt;
    mask |= model::GpuMask{1} << gpu;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) return mask;
    if (text.front() != ',') return std::nullopt;
    text.remove_prefix(1);
  }
}

}  // namespace

PlayedScheduler::PlayedScheduler(const simulate::Workload& workload, const simulate::Cluster& cluster,
                                 const std::vector<std::uint32_t>& order, const PlayedApi& api, BerthChild& berth,
                                 std::uint64_t seed)
    : workload_(workload), cluster_(cluster), api_(api), berth_(berth), random_(seed) {
  for (const std::uint32_t index : order) {
    const simulate::TraceNode& node = workload.nodes[index];
    numbers_.emplace(node.name, static_cast<NodeNumber>(nodes_.size()));
    nodes_.push_back({&node, codec::quoted(node.name)});
  }
}

// NodeResourcesFit. It does not know which GPU a share is on: shares and whole GPUs are two resources to it.
bool PlayedScheduler::in_tree_fits(NodeNumber number, const Kind& kind, std::int64_t memory_mib) const {
  const simulate::Cluster::Node& free = cluster_.node(number);
  const Node& node = nodes_[number];
  if (kind.request.cpu_milli > free.room.cpu_milli || memory_mib > free.memory_mib) return false;
  if (kind.request.whole()) return node.whole + kind.request.gpus <= node.trace->gpus;
  return node.shares_milli + kind.milli() <= std::int64_t{node.trace->gpus} * model::kWholeMilli;
}

// MostAllocated with weight 8 for nvidia.com/gpu, where the pod asks for it, and 1 for cpu and memory.
// (k8s.io/kubernetes pkg/scheduler/framework/plugins/noderesources/most_allocated.go)
std::int64_t PlayedScheduler::in_tree_score(NodeNumber number, const Kind& kind, std::int64_t memory_mib) const {
  const simulate::Cluster::Node& free = cluster_.node(number);
  const Node& node = nodes_[number];
  std::int64_t sum = 0;
  std::int64_t weights = 0;
  const auto add = [&](std::int64_t weight, std::int64_t used, std::int64_t capacity) {
    if (capacity == 0) return;
    sum += weight * (std::min(used, capacity) * 100 / capacity);
    weights += weight;
  };
  if (kind.request.whole()) add(8, node.whole + kind.request.gpus, node.trace->gpus);
  add(1, node.trace->cpu_milli - free.room.cpu_milli + kind.request.cpu_milli, node.trace->cpu_milli);
  add(1, node.trace->memory_mib - free.memory_mib + memory_mib, node.trace->memory_mib);
  return weights == 0 ? 0 : sum / weights;
}

Result<std::vector<NodeNumber>> PlayedScheduler::numbers_of(const std::vector<std::string>& names) const {
  std::vector<NodeNumber> numbers;
  for (const std::string& name : names) {
    const auto found = numbers_.find(name);
    if (found == numbers_.end()) {
      return core::fail(ErrorCode::kInvalid, "names node \"" + name + "\", which it was not asked about", "/filter");
    }
    numbers.push_back(found->second);
  }
  return numbers;
}

Result<PlayedScheduler::Outcome> PlayedScheduler::place(std::size_t arrival, const simulate::Task& task,
                                                        std::string_view pod) {
  const Kind& kind = workload_.kinds[task.kind];
  std::vector<NodeNumber> fitting;
  for (NodeNumber number = 0; number < nodes_.size(); ++number) {
    if (in_tree_fits(number, kind, task.memory_mib)) fitting.push_back(number);
  }
  if (fitting.empty()) return Outcome{};
  const auto quoted = [this](NodeNumber number) -> const std::string& { return nodes_[number].quoted; };
  const auto body = berth_.post(Port::kExtender, "/filter", codec::write_extender_args(pod, names(fitting, quoted)));
  if (!body) return tl::unexpected(body.error());
  const auto verdict = codec::read_filter_answer(*body);
  if (!verdict) return tl::unexpected(verdict.error());
  if (!verdict->error.empty()) return core::fail(ErrorCode::kUnavailable, verdict->error, "/filter");
  const auto kept = numbers_of(verdict->nodes);
  if (!kept) return tl::unexpected(kept.error());
  if (kept->empty()) return Outcome{};
  // With one node left kube-scheduler asks no further.
  const auto chosen = kept->size() == 1 ? Result<NodeNumber>(kept->front()) : prefer(*kept, task, pod);
  if (!chosen) return tl::unexpected(chosen.error());
  const auto bound = bind(arrival, *chosen, kind);
  if (!bound) return tl::unexpected(bound.error());
  // What is asked of one node leaves no trace.
  return Outcome{*bound, !*bound && fitting.size() > 1};
}

Result<NodeNumber> PlayedScheduler::prefer(const std::vector<NodeNumber>& nodes, const simulate::Task& task,
                                           std::string_view pod) {
  const auto quoted = [this](NodeNumber number) -> const std::string& { return nodes_[number].quoted; };
  const auto body = berth_.post(Port::kExtender, "/prioritize", codec::write_extender_args(pod, names(nodes, quoted)));
  if (!body) return tl::unexpected(body.error());
  const auto scores = codec::read_priorities(*body);
  if (!scores) return tl::unexpected(scores.error());
  std::unordered_map<std::string_view, std::int64_t> of_berth;
  for (const codec::NamedScore& score : *scores) of_berth[score.node] = score.score;
  const Kind& kind = workload_.kinds[task.kind];
  NodeNumber best = 0;
  std::int64_t best_score = -1;
  std::uint64_t equals = 0;
  for (const NodeNumber number : nodes) {
    const auto found = of_berth.find(nodes_[number].trace->name);
    const std::int64_t score =
        in_tree_score(number, kind, task.memory_mib) + (found == of_berth.end() ? 0 : found->second * kBerthWeight);
    if (score < best_score) continue;
    equals = score == best_score ? equals + 1 : 1;
    // selectHost() of pkg/scheduler/schedule_one.go: any of the best, all alike.
    if (equals > 1 && simulate::below(random_, equals) != 0) continue;
    best = number;
    best_score = score;
  }
  return best;
}

Result<std::optional<Choice>> PlayedScheduler::bind(std::size_t arrival, NodeNumber number, const Kind& kind) {
  Node& node = nodes_[number];
  const auto body = berth_.post(
      Port::kBind, "/bind",
      codec::write_bind_request({std::string(kNamespace), pod_name(arrival), pod_uid(arrival), node.trace->name}));
  if (!body) return tl::unexpected(body.error());
  const auto error = codec::read_bind_answer(*body);
  if (!error) return tl::unexpected(error.error());
  if (error->starts_with(kRefused)) return std::nullopt;
  if (!error->empty()) return core::fail(ErrorCode::kUnavailable, *error, "/bind");

  const auto wrong = [&](const std::string& what) {
    return core::fail(ErrorCode::kInternal, pod_name(arrival) + " is bound to " + node.trace->name + what, "/bind");
  };
  const auto pod = api_.pod(arrival);
  if (!pod || pod->node != node.trace->name) return wrong(" without a Binding");
  Choice choice{number, 0};
  if (kind.request.gpus > 0) {
    const auto written = std::ranges::find(pod->annotations, "berth.io/gpus", &model::Annotation::key);
    if (written == pod->annotations.end()) return wrong(" without its GPUs");
    const auto gpus = parse_gpus(written->value);
    if (!gpus || model::count(*gpus) != kind.request.gpus) return wrong(" with GPUs \"" + written->value + "\"");
    choice.gpus = *gpus;
    if ((*gpus & ~meeting(cluster_.node(number).room, kind.request)) != 0) {
      return wrong(", whose GPUs " + written->value + " have no room for it");
    }
  }
  (kind.request.whole() ? node.whole : node.shares_milli) += kind.request.whole() ? kind.request.gpus : kind.milli();
  return choice;
}

}  // namespace berth::rehearse
