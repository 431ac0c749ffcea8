#include <algorithm>
#include <cmath>

#include "berth/policy/decide.h"
#include "berth/policy/ledger_credit.h"
#include "berth/policy/scores.h"
#include "packing_data.h"

namespace berth::policy {
namespace {

constexpr double kFullScore = 10;

}  // namespace

std::vector<HostScore> prioritize_without_gpus(const Query& query, const Settings& settings) {
  const LedgerCredit ledger(query.snapshot, query.pod);
  const PackingData packing(query, settings);
  std::vector<double> found;
  found.reserve(query.names.size());
  double best = 0;
  for (const std::string_view name : query.names) {
    const model::Slot slot = query.snapshot.find(name);
    found.push_back(slot == model::kNoSlot ? kNeutral : packing.score(ledger.view(slot), slot, std::nullopt, {}));
    best = std::max(best, found.back());
  }
  std::vector<HostScore> scores;
  scores.reserve(found.size());
  for (std::uint32_t name = 0; name < found.size(); ++name) {
    const double part = best > 0 ? found[name] / best : 1;
    scores.push_back({name, static_cast<std::int32_t>(std::lround(kFullScore * part))});
  }
  return scores;
}

}  // namespace berth::policy
