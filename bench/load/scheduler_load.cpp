#include "scheduler_load.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "extender_args.h"
#include "pacer.h"

namespace berth::bench {

using core::ErrorCode;

// One request, kept so that echo gets the same bytes.
struct SchedulerLoad::Call {
  bool prioritize = false;
  std::string head;
  std::string own_tail;
  const std::string* shared_tail = nullptr;  // counts before own_tail
  std::size_t names = 0;
  std::size_t answer_bytes = 0;
  [[nodiscard]] std::string_view tail() const { return shared_tail != nullptr ? *shared_tail : own_tail; }
};

namespace {

constexpr std::size_t kWarmUp = 10;  // calls

void record(CallFigures::Side& side, const Answer& answer, core::SteadyTime due) {
  side.total.add(answer.done - answer.sent);
  side.scheduled.add(answer.done - due);
  side.after_body.add(answer.done - answer.body_sent);
}

}  // namespace

// Calls made one after the other on one connection.
class SchedulerLoad::Block {
 public:
  Block(SchedulerLoad& load, const LoadPlan& plan, HttpClient& client)
      : load_(load), plan_(plan), client_(client), pacer_(plan.per_second) {}

  core::Result<void> ask_berth(std::size_t calls, LoadFigures* figures) {
    calls_.clear();
    pacer_.restart();
    while (calls_.size() < calls) {
      auto asked = ask(filter_call(), figures);
      if (asked && calls_.size() < calls) asked = ask(prioritize_call(), figures);
      if (!asked) return asked;
    }
    return {};
  }

  core::Result<void> ask_echo(LoadFigures* figures) {
    pacer_.restart();
    for (const Call& call : calls_) {
      const core::SteadyTime due = pacer_.wait();
      const auto answer = client_.post("/echo?bytes=" + std::to_string(call.answer_bytes), call.head, call.tail());
      if (!answer) return tl::unexpected(answer.error());
      if (answer->status != 200 || answer->body.size() != call.answer_bytes) {
        return core::fail(ErrorCode::kInvalid, "status " + std::to_string(answer->status), "/echo");
      }
      if (figures == nullptr) continue;
      figures->lateness.add(answer->sent - due);
      record(figures_of(*figures, call).echo, *answer, due);
    }
    return {};
  }

 private:
  static CallFigures& figures_of(LoadFigures& figures, const Call& call) {
    return call.prioritize ? figures.prioritize : figures.filter;
  }

  [[nodiscard]] std::string head_of(const model::Pod& pod) const {
    return plan_.form == Form::kNames ? args_head_with_names(pod) : args_head_with_nodes(pod);
  }

  Call all_nodes_call(bool prioritize) {
    Call call;
    call.prioritize = prioritize;
    call.head = head_of(pod_);
    call.shared_tail = plan_.form == Form::kNames ? &load_.all_names_ : &load_.all_nodes_;
    call.names = load_.node_names_.size();
    return call;
  }

  // Of the next pod: eight GPUs and two datasets, or one GPU.
  Call filter_call() {
    const std::uint64_t number = load_.pods_++;
    const bool large = plan_.all_large || number % 2 == 0;
    const std::string text = std::to_string(number);
    pod_ =
        waiting_pod("train-" + text,
                    "7ea15000-0000-4000-8000-" + std::string(12 - std::min<std::size_t>(12, text.size()), '0') + text,
                    large ? 8 : 1, large && plan_.datasets ? kDatasets : "");
    if (plan_.flow == Flow::kWide) pod_.nominated_node = load_.node_names_.front();
    return all_nodes_call(false);
  }

  Call prioritize_call() {
    if (plan_.flow == Flow::kWide) return all_nodes_call(true);
    Call call;
    call.prioritize = true;
    call.head = head_of(pod_);
    const std::vector<std::string_view> kept(kept_.begin(), kept_.end());
    call.own_tail = plan_.form == Form::kNames ? args_tail_with_names(kept) : args_tail_with_nodes(kept);
    call.names = kept.size();
    return call;
  }

  core::Result<void> ask(Call call, LoadFigures* figures) {
    const char* const path = call.prioritize ? "/prioritize" : "/filter";
    const core::SteadyTime due = pacer_.wait();
    const auto answer = client_.post(path, call.head, call.tail());
    if (!answer) return tl::unexpected(answer.error());
    if (answer->status != 200) {
      return core::fail(ErrorCode::kInvalid,
                        "status " + std::to_string(answer->status) + ": " + std::string(answer->body.substr(0, 300)),
                        path);
    }
    call.answer_bytes = answer->body.size();
    if (auto read = check(call, answer->body); !read) return read;
    if (figures != nullptr) {
      figures->lateness.add(answer->sent - due);
      CallFigures& of_verb = figures_of(*figures, call);
      record(of_verb.berth, *answer, due);
      of_verb.names = call.names;
      of_verb.request_bytes = call.head.size() + call.tail().size();
      of_verb.answer_bytes = call.answer_bytes;
    }
    calls_.push_back(std::move(call));
    return {};
  }

  // Reads what Filter kept, and makes sure that the answer is one that the scheduler could use.
  core::Result<void> check(const Call& call, std::string_view body) {
    if (plan_.flow == Flow::kWide) return {};
    const auto answer = nlohmann::json::parse(body, nullptr, false);
    const auto unusable = [&] {
      return core::fail(ErrorCode::kInvalid, "an unusable answer: " + std::string(body.substr(0, 300)));
    };
    if (call.prioritize) {
      if (!answer.is_array() || answer.size() != call.names) return unusable();
      return {};
    }
    if (!answer.is_object()) return unusable();
    kept_.clear();
    if (plan_.form == Form::kNames) {
      if (!answer["NodeNames"].is_array()) return unusable();
      for (const auto& name : answer["NodeNames"]) kept_.push_back(name.get<std::string>());
    } else {
      if (!answer["Nodes"].is_object() || !answer["Nodes"]["items"].is_array()) return unusable();
      for (const auto& node : answer["Nodes"]["items"]) kept_.push_back(node.dump());
    }
    if (kept_.empty()) return unusable();
    return {};
  }

  SchedulerLoad& load_;
  const LoadPlan& plan_;
  HttpClient& client_;
  Pacer pacer_;
  model::Pod pod_;
  std::vector<std::string> kept_;  // names, or whole nodes
  std::vector<Call> calls_;
};

SchedulerLoad::SchedulerLoad(const GeneratedCluster& cluster, std::uint16_t extender_port, std::uint64_t first_pod)
    : cluster_(cluster), port_(extender_port), pods_(first_pod) {
  const std::size_t nodes = cluster_.nodes();
  // The scheduler begins its list where it stopped for the pod before.
  for (std::size_t i = 0; i < nodes; ++i) node_names_.push_back(GeneratedCluster::node_name((i + nodes / 3) % nodes));
  all_names_ = args_tail_with_names(std::vector<std::string_view>(node_names_.begin(), node_names_.end()));
}

core::Result<LoadFigures> SchedulerLoad::run(const LoadPlan& plan,
                                             const std::function<std::chrono::nanoseconds()>& cpu_time) {
  if (plan.form == Form::kWholeNodes && all_nodes_.empty()) {
    std::vector<std::string> nodes(cluster_.nodes());
    for (std::size_t node = 0; node < nodes.size(); ++node) {
      append_node_json(nodes[node], cluster_.node(node), std::to_string(184'467'000 + node));
    }
    all_nodes_ = args_tail_with_nodes(std::vector<std::string_view>(nodes.begin(), nodes.end()));
  }
  auto client = HttpClient::connect(port_);
  if (!client) return tl::unexpected(client.error());
  LoadFigures figures;
  figures.filter.verb = "filter";
  figures.prioritize.verb = "prioritize";
  Block block(*this, plan, *client);
  if (auto warm = block.ask_berth(kWarmUp, nullptr); !warm) return tl::unexpected(warm.error());
  if (auto warm = block.ask_echo(nullptr); !warm) return tl::unexpected(warm.error());
  std::chrono::nanoseconds berth_cpu{0};
  std::chrono::nanoseconds echo_cpu{0};
  std::size_t done = 0;
  for (; done < plan.calls; done += plan.block) {
    const auto at_start = cpu_time();
    if (auto asked = block.ask_berth(plan.block, &figures); !asked) return tl::unexpected(asked.error());
    const auto at_turn = cpu_time();
    if (auto asked = block.ask_echo(&figures); !asked) return tl::unexpected(asked.error());
    berth_cpu += at_turn - at_start;
    echo_cpu += cpu_time() - at_turn;
  }
  const auto each = [done](std::chrono::nanoseconds all) {
    return std::chrono::duration<double, std::milli>(all).count() / static_cast<double>(std::max<std::size_t>(done, 1));
  };
  figures.berth_cpu_ms = each(berth_cpu);
  figures.echo_cpu_ms = each(echo_cpu);
  return figures;
}

}  // namespace berth::bench
