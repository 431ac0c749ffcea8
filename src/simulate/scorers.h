// The policies behind Chooser.
#pragma once

#include <memory>

#include "berth/simulate/chooser.h"

namespace berth::simulate {

// random, bestfit, packing, dotprod or clustering.
std::unique_ptr<Scorer> make_baseline(PolicyName policy, bool islands, std::uint64_t seed);
// fgd or berth.
std::unique_ptr<Scorer> make_priced(const ChooserSettings& settings, const model::RequestMix& mix, Cluster& cluster);

}  // namespace berth::simulate
