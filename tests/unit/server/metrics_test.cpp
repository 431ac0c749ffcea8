#include "berth/server/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "source_dir.h"
#include "support/snapshot_builder.h"
#include "unit/server/markdown_table.h"

namespace berth::server {
namespace {

using model::Reason;
using model::Verb;
using std::chrono::microseconds;
using testing::HasSubstr;
using testing::Not;

// Something of everything that comes from elsewhere.
MetricSample sample() {
  MetricSample sample;
  auto snapshot = std::make_shared<model::Snapshot>();
  snapshot->version = 7;
  snapshot->ready = true;
  snapshot->index = std::make_shared<const model::NodeIndex>(std::vector<std::string>{"a", "b", ""});
  snapshot->blocks = tests::SnapshotBuilder().node("a").node("b").build()->blocks;
  snapshot->pods = 5;
  snapshot->bound_pods = 3;
  snapshot->gpus = 16;
  snapshot->gpus_used = 9;
  model::LedgerMap ledger;
  ledger["one"].kind = model::EntryKind::kFirm;
  ledger["two"].kind = model::EntryKind::kSoft;
  ledger["three"].kind = model::EntryKind::kSoft;
  snapshot->ledger = std::make_shared<const model::LedgerMap>(ledger);
  auto placement = std::make_shared<model::DatasetPlacement>();
  placement->holders = {{0, 0.5F, model::CoverageSource::kMeasured, true, core::WallTime(std::chrono::seconds(940)), 5},
                        {1, 0.5F, model::CoverageSource::kMeasured, true, core::WallTime(std::chrono::seconds(990)), 5},
                        {2, 0.5F, model::CoverageSource::kLabel, false, core::WallTime(std::chrono::seconds(10)), -1}};
  snapshot->datasets = {placement, nullptr};
  sample.wall = core::WallTime(std::chrono::seconds(1000));
  sample.snapshot = snapshot;
  sample.snapshot_age = std::chrono::milliseconds(1'500);
  sample.state.updates = 11;
  sample.state.publications = 4;
  sample.state.last_build = microseconds(250);
  sample.decision_pods = 6;
  HttpCounters counters;
  counters.open_connections = 2;
  counters.failures[static_cast<std::size_t>(HttpFailure::kTooLarge)] = 3;
  sample.servers.push_back({"extender", counters});
  SourceSample source;
  source.resource = "nodes";
  source.lists = 2;
  source.broken_objects = 1;
  sample.sources.push_back(source);
  sample.control.node_wakes = 2;
  sample.control.locality.remote_bytes = 5'000'000'000;
  sample.probes = {.masters = 3, .requests = 20, .failures = 2, .age = std::chrono::seconds(41)};
  return sample;
}

TEST(Metrics, CountsRequestsByVerbAndCode) {
  Metrics metrics("1.2.3");
  metrics.count_request(Verb::kFilter, 200);
  metrics.count_request(Verb::kFilter, 200);
  metrics.count_request(Verb::kPrioritize, 400);
  metrics.count_request(Verb::kPrioritize, 418);
  const std::string text = metrics.render();
  EXPECT_THAT(text, HasSubstr("berth_requests_total{code=\"200\",verb=\"filter\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("berth_requests_total{code=\"400\",verb=\"prioritize\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("berth_requests_total{code=\"418\",verb=\"prioritize\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("berth_build_info{version=\"1.2.3\"} 1\n"));
}

TEST(Metrics, DurationsFallIntoBucketsAroundTheBounds) {
  Metrics metrics("1");
  metrics.observe_duration(Verb::kFilter, false, microseconds(4'900));
  metrics.observe_duration(Verb::kFilter, true, microseconds(14'900));
  metrics.observe_policy(Verb::kFilter, microseconds(990));
  const std::string text = metrics.render();
  const std::string names = "berth_request_duration_seconds_bucket{form=\"names\",verb=\"filter\",le=";
  EXPECT_THAT(text, HasSubstr(names + "\"0.004\"} 0\n"));
  EXPECT_THAT(text, HasSubstr(names + "\"0.005\"} 1\n"));
  const std::string nodes = "berth_request_duration_seconds_bucket{form=\"nodes\",verb=\"filter\",le=";
  EXPECT_THAT(text, HasSubstr(nodes + "\"0.0125\"} 0\n"));
  EXPECT_THAT(text, HasSubstr(nodes + "\"0.015\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("berth_policy_duration_seconds_bucket{verb=\"filter\",le=\"0.001\"} 1\n"));
}

TEST(Metrics, CountsNodesByWhatBecameOfThem) {
  Metrics metrics("1");
  model::Decision decision;
  decision.asked = 10;
  decision.candidate_count = 7;
  decision.rejected = {{0, Reason::kOutranked}, {1, Reason::kOutranked}, {2, Reason::kDatasetNotCached}};
  metrics.observe_filter(decision);
  const std::string text = metrics.render();
  EXPECT_THAT(text, HasSubstr("berth_asked_nodes_total 10\n"));
  EXPECT_THAT(text, HasSubstr("berth_answered_nodes_total 7\n"));
  EXPECT_THAT(text, HasSubstr("berth_rejected_nodes_total{reason=\"OUTRANKED\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("berth_rejected_nodes_total{reason=\"DATASET_NOT_CACHED\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("berth_rejected_nodes_total{reason=\"RESERVED\"} 0\n"));
}

TEST(Metrics, SamplesWhatLivesElsewhereAtEachRendering) {
  Metrics metrics("1");
  MetricSample now = sample();
  metrics.set_sampler([&now] { return now; });
  std::string text = metrics.render();
  EXPECT_THAT(text, HasSubstr("berth_snapshot_age_seconds 1.5\n"));
  EXPECT_THAT(text, HasSubstr("berth_snapshot_build_seconds 0.00025\n"));
  EXPECT_THAT(text, HasSubstr("berth_known_nodes 2\n"));
  EXPECT_THAT(text, HasSubstr("berth_used_gpus 9\n"));
  EXPECT_THAT(text, HasSubstr("berth_ledger_entries{kind=\"soft\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("berth_ledger_entries{kind=\"firm\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("berth_known_datasets 1\n"));
  EXPECT_THAT(text, HasSubstr("berth_dataset_holders{source=\"measured\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("berth_dataset_holders{source=\"label\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("berth_dataset_holders{source=\"fuse\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("berth_oldest_measured_coverage_seconds 60\n"));
  EXPECT_THAT(text, HasSubstr("berth_http_failures_total{kind=\"too_large\",server=\"extender\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("berth_source_broken_objects_total{resource=\"nodes\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("berth_wakeups_total{kind=\"node\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("berth_events_total{result=\"dropped\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("berth_locality_bytes_total{where=\"remote\"} 5000000000\n"));
  EXPECT_THAT(text, HasSubstr("berth_probe_masters 3\n"));
  EXPECT_THAT(text, HasSubstr("berth_probe_requests_total 20\n"));
  EXPECT_THAT(text, HasSubstr("berth_probe_failures_total 2\n"));
  EXPECT_THAT(text, HasSubstr("berth_probe_age_seconds 41\n"));
  now.state.updates = 12;
  now.sources[0].connected = false;
  text = metrics.render();
  EXPECT_THAT(text, HasSubstr("berth_updates_total 12\n"));
  EXPECT_THAT(text, HasSubstr("berth_source_connected_state{resource=\"nodes\"} 0\n"));
}

// A quarter of the requests wants one GPU, the others eight: of the four that a has free 3,000 thousandths are no use
// to the mix, of the eight of b nothing.
std::shared_ptr<model::Snapshot> half_free() {
  const auto whole = [](std::int32_t gpus) { return model::RequestClass{.gpus = gpus, .milli = model::kWholeMilli}; };
  const auto snapshot = tests::SnapshotBuilder()
                            .node("a", 8, 4)
                            .node("b")
                            .node("cpu", 0, 0, "")
                            .mix({1, {{whole(1), 0.25}, {whole(8), 0.75}}})
                            .build();
  return std::make_shared<model::Snapshot>(*snapshot);
}

TEST(Metrics, TellWhatIsFreeInTheClusterAndOnItsNodes) {
  Metrics metrics("1");
  MetricSample now = sample();
  now.snapshot = half_free();
  metrics.set_sampler([&now] { return now; });
  const std::string text = metrics.render();
  EXPECT_THAT(text, HasSubstr("berth_free_gpus{island=\"4\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("berth_free_gpus{island=\"8\"} 8\n"));
  EXPECT_THAT(text, HasSubstr("berth_free_gpus{island=\"1\"} 0\n")) << "so that an alarm can be set on it";
  EXPECT_THAT(text, Not(HasSubstr("island=\"9\""))) << "no node has so many";
  EXPECT_THAT(text, HasSubstr("berth_largest_request_gpus 8\n"));
  EXPECT_THAT(text, HasSubstr("berth_fragmentation_ratio 0.25\n"));
  EXPECT_THAT(text, HasSubstr("berth_node_free_gpus{node=\"a\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("berth_node_fragmentation_ratio{node=\"a\"} 0.75\n"));
  EXPECT_THAT(text, HasSubstr("berth_node_fragmentation_ratio{node=\"b\"} 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("node=\"cpu\"")));
}

TEST(Metrics, NodesThatAreGoneAreNotTold) {
  Metrics metrics("1");
  MetricSample now = sample();
  now.snapshot = half_free();
  metrics.set_sampler([&now] { return now; });
  EXPECT_THAT(metrics.render(), HasSubstr("node=\"b\""));
  const auto next = std::make_shared<model::Snapshot>(*tests::SnapshotBuilder().node("a", 8, 4).build());
  next->version = now.snapshot->version + 1;
  now.snapshot = next;
  const std::string text = metrics.render();
  EXPECT_THAT(text, Not(HasSubstr("node=\"b\"")));
  EXPECT_THAT(text, HasSubstr("berth_largest_request_gpus 4\n"));
}

TEST(Metrics, WhatIsFreeIsWorkedOutOnceASnapshot) {
  Metrics metrics("1");
  const auto snapshot = half_free();
  const auto free = metrics.free_gpus(*snapshot);
  EXPECT_EQ(free->cluster.whole, 12);
  EXPECT_EQ(metrics.free_gpus(*snapshot), free);
  ++snapshot->version;
  EXPECT_NE(metrics.free_gpus(*snapshot), free);
}

TEST(MetricDocs, TableHoldsExactlyWhatIsRendered) {
  Metrics metrics("1");
  metrics.set_sampler(sample);
  std::set<std::string> rendered;
  std::istringstream text(metrics.render());
  for (std::string line; std::getline(text, line);) {
    // "# TYPE name type"
    if (line.starts_with("# TYPE ")) rendered.insert(line.substr(7));
  }
  std::set<std::string> documented;
  for (const MetricDoc& doc : metric_docs()) documented.insert(std::string(doc.name) + " " + std::string(doc.type));
  EXPECT_EQ(rendered, documented);
}

TEST(MetricDocs, ConfigurationPageListsExactlyTheTable) {
  std::vector<MarkdownRow> table;
  for (const MetricDoc& doc : metric_docs()) {
    table.push_back({std::string(doc.name), std::string(doc.type), std::string(doc.labels), std::string(doc.meaning)});
  }
  EXPECT_EQ(markdown_table(BERTH_SOURCE_DIR "/docs/configuration.md", "## Metrics"), table);
}

TEST(MetricDocs, LabelsAreThoseRendered) {
  Metrics metrics("1");
  metrics.set_sampler(sample);
  const std::string text = "\n" + metrics.render();
  for (const MetricDoc& doc : metric_docs()) {
    std::istringstream labels{std::string(doc.labels)};
    const std::string series = doc.type == "histogram" ? std::string(doc.name) + "_count" : std::string(doc.name);
    const std::size_t at = text.find("\n" + series);
    ASSERT_NE(at, std::string::npos) << series;
    const std::string line = text.substr(at + 1, text.find('\n', at + 1) - at - 1);
    std::size_t count = 0;
    for (std::string label; std::getline(labels, label, ',');) {
      label.erase(0, label.find_first_not_of(' '));
      EXPECT_THAT(line, HasSubstr(label + "=\""));
      ++count;
    }
    EXPECT_EQ(std::count(line.begin(), line.end(), '='), static_cast<std::ptrdiff_t>(count)) << line;
  }
}

}  // namespace
}  // namespace berth::server
