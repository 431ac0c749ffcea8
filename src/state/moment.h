// The time of a change, on both clocks.
#pragma once

#include "berth/core/clock.h"

namespace berth::state {

struct Moment {
  core::SteadyTime steady{};
  core::WallTime wall{};
};

}  // namespace berth::state
