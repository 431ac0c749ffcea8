#include <algorithm>
#include <cmath>

#include "berth/policy/decide.h"
#include "evaluate.h"

namespace berth::policy {
namespace {

// MaxExtenderPriority of k8s.io/kube-scheduler extender/v1; the scheduler clamps nothing.
constexpr std::int32_t kWinnerScore = 10;

// kube-scheduler breaks ties at random, so only the winner gets the highest score.
std::int32_t runner_up_score(const Evaluated& node, const Evaluated& winner) {
  if (node.fit == 0 && winner.fit > 0) return 0;
  if (node.parts.total >= winner.parts.total) return kWinnerScore - 1;
  return static_cast<std::int32_t>(std::floor((kWinnerScore - 1) * node.parts.total / winner.parts.total));
}

}  // namespace

PrioritizeOutcome decide_prioritize(const Query& query, const Settings& settings) {
  Evaluation evaluation = evaluate(query, settings);
  auto& fitting = evaluation.fitting;
  const std::size_t ranked = std::min(fitting.size(), model::kKeptCandidates);
  std::partial_sort(fitting.begin(), fitting.begin() + static_cast<std::ptrdiff_t>(ranked), fitting.end(),
                    Better(query));

  PrioritizeOutcome outcome;
  outcome.scores.reserve(query.names.size());
  for (std::size_t i = 0; i < fitting.size(); ++i) {
    outcome.scores.push_back({fitting[i].name, i == 0 ? kWinnerScore : runner_up_score(fitting[i], fitting.front())});
  }
  for (const Rejected& node : evaluation.rejected) outcome.scores.push_back({node.name, 0});
  outcome.decision =
      describe(query, model::Verb::kPrioritize, {fitting.data(), ranked}, fitting.size(), evaluation.rejected);
  show_placements(outcome.decision, query, {fitting.data(), ranked}, evaluation.ledger);
  for (std::size_t i = 0; i < outcome.decision.candidates.size(); ++i) {
    outcome.decision.candidates[i].score = outcome.scores[i].score;
  }
  return outcome;
}

}  // namespace berth::policy
