#include "berth/cli/explain_table.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "berth/model/placement_text.h"
#include "report.h"

namespace berth::cli {
namespace {

// "0,1", of partitions "0:4:4", or both.
std::string held_text(const model::Candidate& node) {
  std::string text = model::write_gpu_list(node.gpu_set);
  if (!node.mig_slots.empty()) text += (text.empty() ? "" : " ") + model::write_mig_slots(node.mig_slots);
  return text.empty() ? "-" : text;
}

std::string joined(const std::vector<std::string>& items, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(most, items.size()); ++i) text += (i == 0 ? "" : ", ") + items[i];
  if (items.size() > most) text += fmt::format(", ... {} more", items.size() - most);
  return text;
}

// "87% measured 12s".
std::string data_text(const model::Candidate& candidate, const model::Explanation& told) {
  if (told.datasets.empty()) return "-";
  if (candidate.gpus_free < 0) return "?";
  std::string text = fmt::format("{:.0f}%", candidate.coverage * 100);
  const auto all = model::together(candidate);
  if (!all) return text;
  return text + fmt::format(" {} {}", model::to_string(all->source), model::age_text(all->observed, told.at));
}

std::string load_text(const model::Candidate& candidate) {
  if (candidate.gpus_free < 0) return "?";
  return fmt::format("{:.0f}s", candidate.load_seconds);
}

// Only pods of a gang have the column.
std::string gang_text(const model::Candidate& candidate, const model::Explanation& told) {
  return told.gang.empty() ? std::string() : fmt::format("  {:>9.3f}", candidate.parts.proximity);
}

// Names and messages come from pods' annotations and from the server.
model::Explanation clean(model::Explanation told) {
  for (std::string* text : {&told.pod, &told.winner, &told.error, &told.gang, &told.policy}) *text = printable(*text);
  for (auto* list : {&told.datasets, &told.unknown_datasets, &told.ignored_keys}) {
    for (std::string& text : *list) text = printable(text);
  }
  for (model::Candidate& candidate : told.candidates) candidate.node = printable(candidate.node);
  for (auto& rejected : told.rejected) {
    for (std::string& node : rejected.nodes) node = printable(node);
  }
  return told;
}

}  // namespace

std::string explain_table(const model::Explanation& foreign, std::size_t most) {
  const model::Explanation told = clean(foreign);
  std::string out;
  const auto add = [&out](std::string_view text) { out += text; };
  add(fmt::format("pod       {}   {} GPU{}{}\n", told.pod, told.gpus, told.gpus == 1 ? "" : "s",
                  told.datasets.empty() ? "" : ", datasets " + joined(told.datasets, 8)));
  if (!told.error.empty()) {
    add(fmt::format("winner    none: {}\n", told.error));
  } else if (told.winner.empty()) {
    add("winner    none: no node of the request may take it\n");
  } else {
    add(fmt::format("winner    {}\n", told.winner));
  }
  add(fmt::format("decided   attempt {}, snapshot {} ({} ms old), filter {} us{}\n", told.attempt,
                  told.snapshot_version, told.snapshot_age.count(), told.filter_took.count(),
                  told.prioritized ? fmt::format(", prioritize {} us", told.prioritize_took.count())
                                   : std::string(", prioritize was not asked")));
  if (!told.gang.empty()) add(fmt::format("gang      {}\n", told.gang));
  if (!told.policy.empty()) add(fmt::format("policy    {}\n", told.policy));
  if (!told.unknown_datasets.empty()) {
    add(fmt::format("unknown   {}: no such dataset exists\n", joined(told.unknown_datasets, 8)));
  }
  if (!told.ignored_keys.empty()) {
    add(fmt::format("ignored   {}: this version does not know it\n", joined(told.ignored_keys, 8)));
  }
  add(fmt::format("nodes     {} asked, {} candidate{}\n", told.asked, told.candidate_count,
                  told.candidate_count == 1 ? "" : "s"));

  const std::size_t shown = std::min(most, told.candidates.size());
  if (shown > 0) {
    std::size_t width = 4;
    std::size_t data_width = 4;
    for (std::size_t i = 0; i < shown; ++i) {
      width = std::max(width, told.candidates[i].node.size());
      data_width = std::max(data_width, data_text(told.candidates[i], told).size());
    }
    add(fmt::format("\n{:<{}}  SCORE  TOTAL  LOCALITY  TOPOLOGY  PACKING{}  {:<{}}   LOAD  FREE  GPUS\n", "NODE", width,
                    told.gang.empty() ? "" : "  PROXIMITY", "DATA", data_width));
    for (std::size_t i = 0; i < shown; ++i) {
      const model::Candidate& node = told.candidates[i];
      add(fmt::format("{:<{}}  {:>5}  {:>5.3f}  {:>8.3f}  {:>8.3f}  {:>7.3f}{}  {:<{}}  {:>5}  {:>4}  {}\n", node.node,
                      width, told.prioritized ? std::to_string(node.score) : "-", node.parts.total, node.parts.locality,
                      node.parts.topology, node.parts.packing, gang_text(node, told), data_text(node, told), data_width,
                      load_text(node), node.gpus_free < 0 ? "?" : std::to_string(node.gpus_free), held_text(node)));
    }
    for (std::size_t i = 0; i < shown; ++i) {
      const model::Candidate& node = told.candidates[i];
      if (node.parts.failures <= 0) continue;
      add(fmt::format("{} lost {:.0f}% of its total: pods could not run there lately\n", node.node,
                      node.parts.failures * 100));
    }
    if (told.candidate_count > shown) add(fmt::format("... and {} more\n", told.candidate_count - shown));
  }
  if (!told.rejected.empty()) {
    add("\nREJECTED              NODES\n");
    for (const auto& rejected : told.rejected) {
      add(fmt::format("{:<20}  {}{}\n", model::to_string(rejected.reason), rejected.count,
                      rejected.nodes.empty() ? "" : ": " + joined(rejected.nodes, 6)));
    }
  }
  return out;
}

}  // namespace berth::cli
