// What a placement takes from the requests that are likely to come, and where on a node it takes the least.
//
// Each class m of the mix has a weight w, and U, what the cluster can still give it (usable_capacity.h). The measure of
// a cluster is Σ w · ln U: a placement that lowers what its node can give class m by d costs w / U · d, so capacity
// that is scarce for a class is dear, and the sum over the classes is what the placement costs. docs/packing.md says
// why, and what it gains over fragmentation gradient descent (FGD: Weng et al., "Beware of Fragmentation", USENIX ATC
// '23), which is the same sum with other prices: those of fgd_prices().
//
// Thread-safe: pure functions over immutable values. None allocates, but those that return a vector.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "berth/model/usable_capacity.h"

namespace berth::policy {

// The knobs. large_jobs is for administrators; the others were found by search and need no touch.
struct PackingKnobs {
  double large_jobs =
      2;              // μ: weight of classes of several GPUs; less packs a little denser, more keeps whole nodes free
  double tilt = 0.7;  // part of the weight of one-GPU classes that goes by their size: small ones decide what is lost
  double tilt_power = 2;  // how strongly: weight ~ size^-tilt_power
  double floor = 0.005;   // U counts at least as this part of all GPUs: bounds the price of what is nearly used up
  double cpu_weight = 1;  // a of usable_capacity.h
};

// What part of a GPU one unit of the class is, in (0, 1]. `memory_mib`: of a usual GPU, for shares by memory; 0: 80
// GiB.
double part_of_gpu(const model::RequestClass& request, std::int64_t memory_mib = 0);

// w by class, in the table's order: share · μ for classes of several GPUs, share / 2 for those without; for one-GPU
// classes (1 - tilt) · share + tilt · P · share · g^-s / Σ share · g^-s, with g part_of_gpu(), s tilt_power and P their
// shares.
std::vector<double> packing_weights(const model::MixTable& mix, const PackingKnobs& knobs, std::int64_t memory_mib = 0);

// w / max(U, floor · cluster): `usable` has U by class, summed over nodes; `cluster_milli` is what all GPUs have.
void packing_prices(std::span<const double> weights, std::span<const double> usable, double floor, double cluster_milli,
                    std::span<double> prices);

// Worth of what nodes have left, at prices that hold for a while.
struct Valuation {
  const model::MixTable& mix;
  std::span<const double> prices;
  model::Counting counting = {};
  [[nodiscard]] double worth(const model::Room& room) const { return mix.worth(room, counting, prices); }
};

struct Placed {
  double cost = 0;          // worth before less worth after: the less the better, across nodes
  model::GpuMask gpus = 0;  // whole ones, or those of its shares or partitions
  model::Room after;
};

// Where the request costs the least on a node that has `worth` now. Shares and partitions go one after another to the
// GPU where each costs the least, of equals to the lowest index. Whole GPUs: `whole`, if given, else the lowest free
// indices. nullopt if it does not fit; the product is not looked at.
std::optional<Placed> place_cheapest(const Valuation& valuation, const model::Room& room, double worth,
                                     const model::RequestClass& request,
                                     std::optional<model::GpuMask> whole = std::nullopt);

// FGD. Its measure is what is free and no use, by the most frequent classes that make up 95 % of pods: with their
// shares, made to add up to 1, as prices and cpu_weight 0, a placement's fragmentation grows by its cost less what it
// takes.
inline const model::Counting kFgdCounting{0, 0};
struct FgdPrices {
  std::vector<double> prices;  // by class of the table
  double cpu_only = 0;         // share of classes without GPUs, to which all that is free is no use
};
FgdPrices fgd_prices(const model::MixTable& mix, const model::RequestMix& counted);
// ⌊100 · sigmoid(decrease / 1000)⌋, where the placement takes `taken_milli` of GPUs at `cost`.
int fgd_score(double taken_milli, double cost);
// As place_cheapest() with FGD's score in its place: of equal scores the first GPU.
std::optional<Placed> place_fgd(const Valuation& valuation, const model::Room& room, double worth,
                                const model::RequestClass& request);

}  // namespace berth::policy
