#include "berth/simulate/chooser.h"

#include <algorithm>
#include <array>

#include "scorers.h"

namespace berth::simulate {
namespace {

using model::GpuMask;

constexpr std::array<std::string_view, kPolicies> kNames = {"random",     "bestfit", "packing", "dotprod",
                                                            "clustering", "fgd",     "berth"};
constexpr int kQuad = 4;

}  // namespace

std::string_view to_string(PolicyName policy) { return kNames[static_cast<std::size_t>(policy)]; }

std::optional<PolicyName> parse_policy(std::string_view text) {
  const auto found = std::ranges::find(kNames, text);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<PolicyName>(found - kNames.begin());
}

void Scorer::changed(const Cluster::Node& /*node*/, NodeNumber /*number*/) {}

bool Scorer::learn(const model::RequestMix& /*mix*/, Cluster& /*cluster*/) { return false; }

Chooser::Chooser(const ChooserSettings& settings, const Workload& workload, Cluster& cluster,
                 const model::RequestMix& mix, std::uint64_t seed)
    : workload_(&workload),
      cluster_(&cluster),
      random_ties_(settings.random_ties),
      random_(seed),
      known_(workload.kinds.size() * cluster.size()) {
  const bool priced = settings.policy == PolicyName::kFgd || settings.policy == PolicyName::kBerth;
  scorer_ = priced ? make_priced(settings, mix, cluster) : make_baseline(settings.policy, settings.islands, random_());
}

std::optional<Choice> Chooser::choose(std::uint32_t kind_number, std::int64_t memory_mib) {
  if (scorer_->begin()) ++epoch_;
  const Kind& kind = workload_->kinds[kind_number];
  std::optional<Choice> best;
  double best_score = 0;
  std::uint64_t equals = 0;
  Known* row = &known_[kind_number * cluster_->size()];
  for (NodeNumber number = 0; number < cluster_->size(); ++number) {
    const Cluster::Node& node = cluster_->node(number);
    Known& known = row[number];
    if (known.version != node.version) {
      known = {node.version, 0, cluster_->fits(number, kind, 0), {}};
    }
    if (!known.fits || memory_mib > node.memory_mib) continue;
    if (known.epoch != epoch_) {
      known.epoch = epoch_;
      known.rating = scorer_->rate(node, number, kind);
    }
    const bool equal = best && known.rating.score == best_score;
    if (best && !equal && known.rating.score < best_score) continue;
    equals = equal ? equals + 1 : 1;
    if (equal && !(random_ties_ && below(random_, equals) == 0)) continue;
    best = {number, known.rating.gpus};
    best_score = known.rating.score;
  }
  return best;
}

std::optional<Choice> Chooser::choose_on(NodeNumber number, std::uint32_t kind_number, std::int64_t memory_mib) {
  const Kind& kind = workload_->kinds[kind_number];
  if (!cluster_->fits(number, kind, memory_mib)) return std::nullopt;
  return Choice{number, scorer_->rate(cluster_->node(number), number, kind).gpus};
}

void Chooser::changed(NodeNumber number) { scorer_->changed(cluster_->node(number), number); }

void Chooser::learn(const model::RequestMix& mix) {
  if (scorer_->learn(mix, *cluster_)) ++epoch_;
}

int island_size(const model::Room& room) { return room.gpus == 2 * kQuad ? kQuad : room.gpus; }

GpuMask pick_whole(const model::Room& room, int count, bool islands) {
  if (!islands || island_size(room) == room.gpus) return model::lowest(room.whole, count);
  const GpuMask low = room.whole & model::mask_all(kQuad);
  const GpuMask high = room.whole & ~model::mask_all(kQuad);
  const bool low_first = model::count(low) <= model::count(high);
  const GpuMask fuller = low_first ? low : high;
  const GpuMask freer = low_first ? high : low;
  if (model::count(fuller) >= count) return model::lowest(fuller, count);
  if (model::count(freer) >= count) return model::lowest(freer, count);
  return freer | model::lowest(fuller, count - model::count(freer));
}

bool in_one_island(const model::Room& room, GpuMask gpus) {
  if (island_size(room) == room.gpus) return true;
  return (gpus & model::mask_all(kQuad)) == 0 || (gpus & ~model::mask_all(kQuad)) == 0;
}

std::uint64_t below(std::mt19937_64& random, std::uint64_t bound) {
  // Numbers of the last, incomplete run of `bound` would favour the small ones.
  const std::uint64_t last = ~std::uint64_t{0} - ~std::uint64_t{0} % bound;
  while (true) {
    const std::uint64_t drawn = random();
    if (drawn < last) return drawn % bound;
  }
}

}  // namespace berth::simulate
