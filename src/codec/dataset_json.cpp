#include "berth/codec/dataset_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <string_view>
#include <vector>

#include "coverage_fields.h"
#include "json_text.h"

namespace berth::codec {
namespace {

using model::DatasetPlacement;
using model::Slot;

// About what an object takes.
constexpr std::size_t kPerDataset = 320;
constexpr std::size_t kPerNode = 160;

void write_part(JsonText& json, double part) {
  std::array<char, 32> digits{};
  const auto [end, code] = std::to_chars(digits.data(), digits.data() + digits.size(), rounded(part));
  json.raw(code == std::errc() ? std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())) : "0");
}

void write_known(JsonText& json, std::optional<std::int64_t> number) {
  if (number) {
    json.number(*number);
  } else {
    json.raw("null");
  }
}

void write_coverage(JsonText& json, double coverage, model::CoverageSource source, core::WallTime observed,
                    core::WallTime now) {
  json.raw(R"("coverage":)");
  write_part(json, coverage);
  json.raw(R"(,"source":)");
  json.string(source_name(source, observed));
  json.raw(R"(,"ageSeconds":)");
  write_known(json, age_seconds(observed, now));
}

// What all holders that count have together, of caches that nobody shares the fullest; as certain as the least certain
// of them and as old as the oldest.
struct Whole {
  double coverage = 0;
  model::CoverageSource source = model::CoverageSource::kMeasured;
  core::WallTime observed{};
  std::size_t holding = 0;
};

Whole whole_of(const DatasetPlacement& placement) {
  Whole whole;
  for (const auto& holder : placement.holders) {
    if (!holder.holds) continue;
    const auto coverage = static_cast<double>(holder.coverage);
    whole.coverage = placement.own_caches ? std::max(whole.coverage, coverage) : whole.coverage + coverage;
    whole.source = std::max(whole.source, holder.source);
    whole.observed = whole.holding == 0 ? holder.observed : std::min(whole.observed, holder.observed);
    ++whole.holding;
  }
  whole.coverage = std::clamp(whole.coverage, 0.0, 1.0);
  return whole;
}

// Places in the list of holders, those that hold most first, the first `most` of them.
std::vector<std::uint32_t> best_holders(const DatasetPlacement& placement, const model::NodeIndex& index,
                                        std::size_t most) {
  std::vector<std::uint32_t> order(placement.holders.size());
  std::iota(order.begin(), order.end(), 0U);
  const std::size_t kept = std::min(most, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                    [&](std::uint32_t left, std::uint32_t right) {
                      const auto& a = placement.holders[left];
                      const auto& b = placement.holders[right];
                      if (a.coverage != b.coverage) return a.coverage > b.coverage;
                      if (a.holds != b.holds) return a.holds;
                      return index.rank(a.slot) < index.rank(b.slot);
                    });
  order.resize(kept);
  return order;
}

std::int64_t readers_at(const model::DatasetReaders* readers, Slot slot) {
  if (readers == nullptr) return 0;
  const auto found = std::lower_bound(readers->counts.begin(), readers->counts.end(), slot,
                                      [](const auto& count, Slot wanted) { return count.slot < wanted; });
  return found == readers->counts.end() || found->slot != slot ? 0 : found->pods;
}

std::int64_t all_readers(const model::DatasetReaders* readers) {
  if (readers == nullptr) return 0;
  return std::accumulate(readers->counts.begin(), readers->counts.end(), std::int64_t{0},
                         [](std::int64_t sum, const auto& count) { return sum + count.pods; });
}

const model::DatasetReaders* readers_of(const model::Snapshot& snapshot, model::DatasetId id) {
  return id < snapshot.readers.size() ? snapshot.readers[id].get() : nullptr;
}

// A dataset and what it is called.
struct Named {
  model::DatasetId id = model::kNoDataset;
  std::string_view name;                  // its own; of a label that no Dataset is known of, the label's key
  std::vector<std::string_view> aliases;  // of reference datasets, ascending
};

std::vector<Named> all_named(const model::Snapshot& snapshot) {
  std::vector<Named> by_id(snapshot.datasets.size());
  for (const auto& [name, id] : *snapshot.dataset_names) {
    const DatasetPlacement* placement = snapshot.datasets[id].get();
    if (placement == nullptr) continue;
    by_id[id].id = id;
    if (placement->ref.name.empty() || name == placement->ref.to_string()) {
      by_id[id].name = name;
    } else {
      by_id[id].aliases.push_back(name);
    }
  }
  std::erase_if(by_id, [](const Named& named) { return named.id == model::kNoDataset; });
  for (Named& named : by_id) {
    std::sort(named.aliases.begin(), named.aliases.end());
    // A reference dataset whose physical one is gone.
    if (named.name.empty()) named.name = named.aliases.front();
  }
  std::sort(by_id.begin(), by_id.end(), [](const Named& a, const Named& b) { return a.name < b.name; });
  return by_id;
}

void write_node(JsonText& json, const DatasetPlacement::Holder& holder, const model::Snapshot& snapshot,
                const model::DatasetReaders* readers, core::WallTime now) {
  json.raw(R"({"node":)");
  json.string(snapshot.index->name(holder.slot));
  json.raw(",");
  write_coverage(json, static_cast<double>(holder.coverage), holder.source, holder.observed, now);
  json.raw(R"(,"bytes":)");
  write_known(json, holder.bytes < 0 ? std::nullopt : std::optional(holder.bytes));
  json.raw(R"(,"holds":)");
  json.raw(holder.holds ? "true" : "false");
  json.raw(R"(,"readers":)");
  json.number(readers_at(readers, holder.slot));
  json.raw("}");
}

void write_one(JsonText& json, const Named& named, const model::Snapshot& snapshot, core::WallTime now,
               std::size_t most_nodes) {
  const DatasetPlacement& placement = *snapshot.datasets[named.id];
  const model::DatasetReaders* readers = readers_of(snapshot, named.id);
  const Whole whole = whole_of(placement);
  json.raw(R"({"name":)");
  json.string(named.name);
  json.raw(R"(,"aliases":[)");
  for (std::size_t i = 0; i < named.aliases.size(); ++i) {
    if (i > 0) json.raw(",");
    json.string(named.aliases[i]);
  }
  json.raw(R"(],"phase":)");
  json.string(placement.phase);
  json.raw(R"(,"runtime":)");
  json.string(placement.runtime);
  json.raw(R"(,"totalBytes":)");
  write_known(json, placement.total_bytes > 0 ? std::optional(placement.total_bytes) : std::nullopt);
  json.raw(R"(,"readyWorkers":)");
  json.number(placement.ready_workers);
  json.raw(R"(,"loading":)");
  json.raw(placement.loading ? "true" : "false");
  json.raw(R"(,"readers":)");
  json.number(all_readers(readers));
  json.raw(",");
  write_coverage(json, whole.coverage, whole.source, whole.observed, now);
  json.raw(R"(,"holdingNodes":)");
  json.number(static_cast<std::int64_t>(whole.holding));
  json.raw(R"(,"nodeCount":)");
  json.number(static_cast<std::int64_t>(placement.holders.size()));
  json.raw(R"(,"nodes":[)");
  bool first = true;
  for (const std::uint32_t place : best_holders(placement, *snapshot.index, most_nodes)) {
    if (!first) json.raw(",");
    first = false;
    write_node(json, placement.holders[place], snapshot, readers, now);
  }
  json.raw("]}");
}

}  // namespace

std::string write_datasets(const model::Snapshot& snapshot, core::WallTime now, const DatasetLimits& limits) {
  const auto named = all_named(snapshot);
  const std::size_t shown = std::min(limits.datasets, named.size());
  std::string out;
  {
    JsonText json(out, shown * (kPerDataset + std::min<std::size_t>(limits.nodes, 16) * kPerNode) + 64);
    json.raw(R"({"count":)");
    json.number(static_cast<std::int64_t>(named.size()));
    json.raw(R"(,"datasets":[)");
    for (std::size_t i = 0; i < shown; ++i) {
      if (i > 0) json.raw(",");
      write_one(json, named[i], snapshot, now, limits.nodes);
    }
    json.raw("]}\n");
  }
  return out;
}

std::optional<std::string> write_dataset(const model::Snapshot& snapshot, core::WallTime now,
                                         const model::DatasetRef& dataset) {
  const model::DatasetId id = snapshot.dataset_id(dataset);
  if (id == model::kNoDataset) return std::nullopt;
  for (const Named& named : all_named(snapshot)) {
    if (named.id != id) continue;
    const std::size_t nodes = snapshot.datasets[id]->holders.size();
    std::string out;
    {
      JsonText json(out, kPerDataset + nodes * kPerNode);
      write_one(json, named, snapshot, now, nodes);
      json.raw("\n");
    }
    return out;
  }
  return std::nullopt;
}

}  // namespace berth::codec
