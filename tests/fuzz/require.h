// What a fuzz target asserts, also where NDEBUG is set.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace berth::fuzz {

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "property violated: %s\n", what);
  std::abort();
}

}  // namespace berth::fuzz
