#include <algorithm>
#include <numeric>
#include <utility>

#include "berth/policy/decide.h"
#include "coarse.h"
#include "evaluate.h"

namespace berth::policy {
namespace {

// Leaves the best `limit` nodes. Their places are sorted, not the nodes, which are large.
void narrow(Evaluation& evaluation, std::size_t limit, const CoarseBetter& better) {
  const auto& fitting = evaluation.fitting;
  if (fitting.size() <= limit) return;
  std::vector<std::uint32_t> places(fitting.size());
  std::iota(places.begin(), places.end(), 0U);
  const auto cut = places.begin() + static_cast<std::ptrdiff_t>(limit);
  std::nth_element(places.begin(), cut, places.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return better(fitting[a], fitting[b]); });
  evaluation.rejected.reserve(evaluation.rejected.size() + fitting.size() - limit);
  for (auto place = cut; place != places.end(); ++place) {
    const Evaluated& node = fitting[*place];
    evaluation.rejected.push_back({node.name, node.slot, model::Reason::kOutranked});
  }
  std::vector<Evaluated> best;
  best.reserve(limit);
  for (auto place = places.begin(); place != cut; ++place) best.push_back(fitting[*place]);
  evaluation.fitting = std::move(best);
}

}  // namespace

FilterOutcome decide_filter(const Query& query, const Settings& settings) {
  Evaluation evaluation = evaluate(query, settings);
  if (const auto limit = coarse_limit(query, settings))
    narrow(evaluation, *limit, CoarseBetter(query, evaluation.by_gang));
  auto& fitting = evaluation.fitting;
  const std::size_t ranked = std::min(fitting.size(), model::kKeptCandidates);
  std::partial_sort(fitting.begin(), fitting.begin() + static_cast<std::ptrdiff_t>(ranked), fitting.end(),
                    Better(query));

  FilterOutcome outcome;
  outcome.kept.reserve(fitting.size());
  for (const Evaluated& node : fitting) outcome.kept.push_back(node.name);
  outcome.decision =
      describe(query, model::Verb::kFilter, {fitting.data(), ranked}, fitting.size(), evaluation.rejected);
  show_placements(outcome.decision, query, {fitting.data(), ranked}, evaluation.ledger);
  outcome.rejected = std::move(evaluation.rejected);
  return outcome;
}

}  // namespace berth::policy
