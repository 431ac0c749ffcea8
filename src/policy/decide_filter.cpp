#include <algorithm>

#include "berth/policy/decide.h"
#include "coarse.h"
#include "evaluate.h"

namespace berth::policy {

FilterOutcome decide_filter(const Query& query, const Settings& settings) {
  Evaluation evaluation = evaluate(query, settings);
  auto& fitting = evaluation.fitting;
  const auto limit = coarse_limit(query, settings);
  if (limit && fitting.size() > *limit) {
    const auto cut = fitting.begin() + static_cast<std::ptrdiff_t>(*limit);
    std::nth_element(fitting.begin(), cut, fitting.end(), CoarseBetter(query));
    for (auto node = cut; node != fitting.end(); ++node) {
      evaluation.rejected.push_back({node->name, node->slot, model::Reason::kOutranked});
    }
    fitting.erase(cut, fitting.end());
  }
  const std::size_t ranked = std::min(fitting.size(), model::kKeptCandidates);
  std::partial_sort(fitting.begin(), fitting.begin() + static_cast<std::ptrdiff_t>(ranked), fitting.end(),
                    Better(query));

  FilterOutcome outcome;
  outcome.kept.reserve(fitting.size());
  for (const Evaluated& node : fitting) outcome.kept.push_back(node.name);
  outcome.decision =
      describe(query, model::Verb::kFilter, {fitting.data(), ranked}, fitting.size(), evaluation.rejected);
  outcome.rejected = std::move(evaluation.rejected);
  return outcome;
}

}  // namespace berth::policy
