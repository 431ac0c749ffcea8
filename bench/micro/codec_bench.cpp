// Reading ExtenderArgs and pages of lists, and writing the answers.
#include <utility>

#include "berth/codec/extender_request.h"
#include "berth/codec/extender_response.h"
#include "berth/codec/kubernetes_objects.h"
#include "extender_args.h"
#include "made_state.h"
#include "measured.h"

namespace berth::bench {
namespace {

void read_names(benchmark::State& state) {
  const MadeState& made = made_state(static_cast<std::size_t>(state.range(0)));
  std::string body;
  append_args_with_names(body, waiting_pod("train-8", "uid-8", 8, kDatasets), made.views);
  codec::ExtenderReader reader;
  const model::ResourceNames resources;
  measure(state, {}, [&] { return (*reader.read(body, resources))->names.size(); });
}

// As the server does it: the body is fresh memory each time, the parser keeps what it took.
void read_whole_nodes(benchmark::State& state) {
  const MadeState& made = made_state(5000);
  std::vector<std::string> nodes(static_cast<std::size_t>(state.range(0)));
  for (std::size_t node = 0; node < nodes.size(); ++node) append_node_json(nodes[node], made.cluster.node(node), "900");
  const std::string text = args_head_with_nodes(waiting_pod("train-8", "uid-8", 8, kDatasets)) +
                           args_tail_with_nodes(std::vector<std::string_view>(nodes.begin(), nodes.end()));
  codec::ExtenderReader reader;
  const model::ResourceNames resources;
  std::string body;
  measure(
      state, {},
      [&] {
        std::string().swap(body);
        body.reserve(text.size() + 64);
        body = text;
      },
      [&] {
        const std::size_t read = (*reader.read(body, resources))->names.size();
        reader.trim(32U << 20U);
        return read;
      });
}

// A page of a list, as the API server answers it.
void read_pods(benchmark::State& state) {
  const MadeState& made = made_state(5000);
  std::string page = R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[)";
  for (std::size_t pod = 0; pod < static_cast<std::size_t>(state.range(0)); ++pod) {
    if (pod > 0) page += ',';
    append_pod_json(page, made.cluster.pod(pod), "900");
  }
  page += "]}";
  codec::ObjectReader reader({});
  measure(state, {}, [&] { return reader.read_list<model::Pod>(page)->items.size(); });
}

void read_nodes(benchmark::State& state) {
  const MadeState& made = made_state(5000);
  std::string page = R"({"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[)";
  for (std::size_t node = 0; node < static_cast<std::size_t>(state.range(0)); ++node) {
    if (node > 0) page += ',';
    append_node_json(page, made.cluster.node(node), "900");
  }
  page += "]}";
  codec::ObjectReader reader({});
  measure(state, {}, [&] { return reader.read_list<model::Node>(page)->items.size(); });
}

void write_filter(benchmark::State& state) {
  const MadeState& made = made_state(5000);
  const std::span<const std::string_view> kept(made.views.data(), static_cast<std::size_t>(state.range(0)));
  std::string out;
  measure(
      state, {}, [&] { out = std::string(); },
      [&] {
        codec::write_filter_answer(out, {false, kept, {}, {}});
        return out.size();
      });
}

void write_all_failed(benchmark::State& state) {
  const MadeState& made = made_state(5000);
  std::vector<codec::FailedNode> failed;
  for (const std::string_view name : made.views) failed.push_back({name, "DATASET_NOT_CACHED"});
  std::string out;
  measure(
      state, {}, [&] { out = std::string(); },
      [&] {
        codec::write_filter_answer(out, {false, {}, {}, failed});
        return out.size();
      });
}

void write_priorities(benchmark::State& state) {
  const MadeState& made = made_state(5000);
  std::vector<codec::HostScore> scores;
  for (std::size_t i = 0; i < static_cast<std::size_t>(state.range(0)); ++i) {
    scores.push_back({made.views[i], static_cast<std::int32_t>(i % 10)});
  }
  std::string out;
  measure(
      state, {}, [&] { out = std::string(); },
      [&] {
        codec::write_priorities(out, scores);
        return out.size();
      });
}

BENCHMARK(read_names)->ArgName("names")->Arg(5000)->Iterations(1000)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(read_names)->ArgName("names")->Arg(50000)->Iterations(200)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(read_whole_nodes)
    ->ArgName("nodes")
    ->Arg(1000)
    ->Iterations(100)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(read_pods)->ArgName("pods")->Arg(2000)->Iterations(100)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(read_nodes)->ArgName("nodes")->Arg(500)->Iterations(100)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(write_filter)
    ->ArgName("names")
    ->Arg(32)
    ->Arg(5000)
    ->Iterations(1000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(write_all_failed)->Iterations(1000)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(write_priorities)
    ->ArgName("names")
    ->Arg(32)
    ->Arg(5000)
    ->Iterations(1000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace berth::bench
