// The bearer token of the moment: fixed, or out of a file that is rotated.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

#include "berth/core/clock.h"
#include "berth/core/result.h"

namespace berth::kube {

inline constexpr std::size_t kMaxTokenBytes = 1U << 20U;

// What an Authorization header can carry: visible ASCII, so neither a blank nor a line break (RFC 6750 §2.1 is
// narrower).
bool is_token(std::string_view text);

class TokenSource {
 public:
  TokenSource(std::string fixed, std::string file, const core::Clock& clock);

  // Reads the file for the first time. An error if there is neither a token in it nor a fixed one, or if the fixed one
  // is none.
  core::Result<void> start();

  // Empty if there is none. The file is read again when the last reading is a minute old; one that can't be read or
  // holds no token leaves the last one in force.
  std::string current();
  // Reads the file now and returns the token.
  std::string refresh();

 private:
  core::Result<void> read();
  void read_and_tell();

  std::mutex mutex_;
  std::string token_;
  const std::string file_;
  const core::Clock& clock_;
  core::SteadyTime read_at_{};
  bool read_failed_ = false;
};

}  // namespace berth::kube
