#include "coarse.h"

#include <algorithm>

#include "gang_data.h"

namespace berth::policy {
namespace {

// Nodes handed on for a gang: a job of thousands of pods would turn the narrowing off.
constexpr std::size_t kMostForGang = 512;

}  // namespace

std::optional<std::size_t> coarse_limit(const Query& query, const Settings& settings) {
  const bool wanted =
      settings.coarse == Coarse::kAll || (settings.coarse == Coarse::kDatasets && !query.pod.datasets.empty());
  if (!wanted || query.attempt > 2 || settings.other_filtering_extender || !query.pod.nominated_node.empty() ||
      query.names.size() <= 1) {
    return std::nullopt;
  }
  const std::size_t most = query.attempt == 2 ? settings.candidates * 4 : settings.candidates;
  const std::size_t gang = nodes_of_gang(query);
  return gang == 0 ? most : std::max(most, std::min(gang + 2, kMostForGang));
}

bool CoarseBetter::operator()(const Evaluated& a, const Evaluated& b) const {
  const bool a_fits = a.fit > 0;
  const bool b_fits = b.fit > 0;
  if (a_fits != b_fits) return a_fits;
  if (by_gang_) return better_(a, b);
  if (a.holds_all != b.holds_all) return a.holds_all;
  if (wants_datasets_ && a.steps_behind != b.steps_behind) return a.steps_behind < b.steps_behind;
  return better_(a, b);
}

}  // namespace berth::policy
