#include "event_text.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "berth/core/nearest.h"

namespace berth::control {
namespace {

constexpr std::size_t kNamedNodes = 3;
constexpr std::size_t kNamedDatasets = 5;

// Rounded down, so that 100 % is all of it.
std::string percent(double part) {
  const int whole = static_cast<int>(std::floor(part * 100 + 1e-4));
  return whole == 0 && part > 0 ? "under 1 %" : std::to_string(whole) + " %";
}

// "(measured 12s ago)", "(uniform, as of 12s ago)".
std::string origin(model::CoverageSource source, core::WallTime observed, core::WallTime now) {
  const char* between = source == model::CoverageSource::kMeasured ? " " : ", as of ";
  return " (" + std::string(model::to_string(source)) + between + model::age_text(observed, now) + " ago)";
}

// "a", "a and b", "a, b, c and 4 more".
std::string joined(const std::vector<std::string>& names, std::size_t most) {
  std::string text;
  const std::size_t shown = std::min(most, names.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == names.size();
    text += i == 0 ? "" : last ? " and " : ", ";
    text += names[i];
  }
  if (names.size() > shown) text += " and " + std::to_string(names.size() - shown) + " more";
  return text;
}

// "87 % of a (measured 12s ago), and none of b"
std::string held_text(std::span<const HeldDataset> held, core::WallTime now) {
  std::string text;
  for (std::size_t i = 0; i < std::min(held.size(), kNamedDatasets); ++i) {
    const auto& [ref, share, bytes] = held[i];
    text += i == 0 ? "" : i + 1 == held.size() ? " and " : ", ";
    const bool some = share.coverage > 0;
    text += (some ? percent(share.coverage) : "none") + " of " + ref.to_string();
    if (share.observed != core::WallTime{}) text += origin(share.source, share.observed, now);
  }
  if (held.size() > kNamedDatasets) text += " and of " + std::to_string(held.size() - kNamedDatasets) + " more";
  return text;
}

std::string candidate_text(const model::Candidate& candidate, core::WallTime now) {
  const auto all = model::together(candidate);
  if (!all) return "none";
  return (candidate.coverage > 0 ? percent(candidate.coverage) : "none") + origin(all->source, all->observed, now);
}

// Why the second best came second.
std::string why_lost(const model::Candidate& winner, const model::Candidate& other, std::int64_t gpus,
                     const model::Weights& weights) {
  if (other.gpus_free >= 0 && other.gpus_free < gpus) return "too few GPUs are free there";
  if (other.parts.total > winner.parts.total) return "its free GPUs are promised to other pods";
  const std::array<std::pair<double, const char*>, 4> parts{{
      {weights.locality * (winner.parts.locality - other.parts.locality), "it lost on locality"},
      {weights.topology * (winner.parts.topology - other.parts.topology), "it lost on topology"},
      {weights.packing * (winner.parts.packing - other.parts.packing), "it lost on packing"},
      {weights.proximity * (winner.parts.proximity - other.parts.proximity), "it lost on proximity to its gang"},
  }};
  const auto most =
      std::max_element(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return most->first > 1e-9 ? most->second : "it scored the same";
}

struct DataNodes {
  std::vector<std::string> names;  // those that hold all the datasets, the fullest first
  std::int32_t most_free = 0;      // GPUs, on one of them
};

DataNodes nodes_with_all(const std::vector<const model::DatasetPlacement*>& wanted, const model::Snapshot& snapshot) {
  std::vector<std::pair<float, model::Slot>> found;
  for (const auto& first : wanted.front()->holders) {
    float least = first.coverage;
    for (const model::DatasetPlacement* const placement : wanted) {
      const auto same = std::lower_bound(placement->holders.begin(), placement->holders.end(), first.slot,
                                         [](const auto& holder, model::Slot slot) { return holder.slot < slot; });
      const bool held = same != placement->holders.end() && same->slot == first.slot && same->holds;
      least = std::min(least, held ? same->coverage : 0);
    }
    if (least > 0) found.emplace_back(-least, first.slot);
  }
  std::sort(found.begin(), found.end());
  DataNodes nodes;
  for (const auto& [coverage, slot] : found) {
    nodes.names.push_back(snapshot.index->name(slot));
    nodes.most_free = std::max(nodes.most_free, snapshot.at(slot).unused());
  }
  return nodes;
}

// "12 nodes DATASET_NOT_CACHED, 1 node RESERVED"
std::string counts_text(const RejectedCounts* rejected) {
  std::string text;
  for (std::size_t reason = 1; rejected != nullptr && reason < rejected->size(); ++reason) {
    const std::uint32_t nodes = (*rejected)[reason];
    if (nodes == 0) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(nodes) + (nodes == 1 ? " node " : " nodes ");
    text += model::to_string(static_cast<model::Reason>(reason));
  }
  return text;
}

}  // namespace

std::string bound_text(std::string_view node, std::span<const HeldDataset> held, const Choice* choice,
                       std::int64_t gpus, core::WallTime now) {
  const std::string here = std::string(node) + " has " + held_text(held, now);
  if (choice == nullptr) return "node " + here;
  const model::Candidate& winner = choice->winner;
  if (winner.node != node) {
    return "kube-scheduler chose " + std::string(node) + " over Berth's " + winner.node + ", which has " +
           candidate_text(winner, now) + " of its data; " + here;
  }
  if (!choice->runner_up) return "node " + here;
  const model::Candidate& other = *choice->runner_up;
  return "node " + here + "; runner-up " + other.node + " has " + candidate_text(other, now) + ": " +
         why_lost(winner, other, gpus, choice->weights);
}

std::string pending_text(const model::PodRequest& pod, const model::Snapshot& snapshot,
                         const RejectedCounts* rejected) {
  std::vector<const model::DatasetPlacement*> wanted;
  std::vector<std::string> names;
  for (const model::WantedDataset& dataset : pod.datasets) {
    const model::DatasetPlacement* const placement = snapshot.placement(dataset.ref);
    if (placement == nullptr) continue;
    wanted.push_back(placement);
    names.push_back(dataset.ref.to_string());
  }
  const std::string counts = counts_text(rejected);
  if (wanted.empty()) return counts.empty() ? "" : "no node takes it: " + counts;
  const DataNodes nodes = nodes_with_all(wanted, snapshot);
  std::string text;
  if (nodes.names.empty()) {
    text = "no node holds " + joined(names, kNamedDatasets);
  } else {
    text = "its data is on " + joined(nodes.names, kNamedNodes);
    const std::string there = nodes.names.size() == 1 ? " there" : " on any of them";
    if (pod.gpus > 0 && nodes.most_free <= 0) {
      text += "; no free GPU there";
    } else if (nodes.most_free < pod.gpus) {
      text += "; at most " + std::to_string(nodes.most_free) + " of the " + std::to_string(pod.gpus) +
              " GPUs that it asks for are free" + there;
    }
  }
  return counts.empty() ? text : text + ": " + counts;
}

std::string unknown_text(const std::vector<std::string>& unknown, const model::Snapshot& snapshot, bool required) {
  // Where only labels tell of datasets, their names are not to be had.
  std::vector<std::string> known;
  for (const auto& [name, id] : *snapshot.dataset_names) known.push_back(name);
  std::sort(known.begin(), known.end());
  std::vector<std::string> told;
  for (const std::string& name : unknown) {
    const std::string meant = core::nearest(name, known);
    told.push_back(name);
    if (!meant.empty()) told.back().append(" (did you mean ").append(meant).append("?)");
  }
  return "no dataset " + joined(told, kNamedDatasets) + " exists; " +
         (required ? "it is required, so no node is taken" : "the pod is placed without regard to it");
}

}  // namespace berth::control
