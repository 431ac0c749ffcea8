// The bearer token of the moment: fixed, or out of a file that is rotated.
//
// Thread-safe.
#pragma once

#include <mutex>
#include <string>

#include "berth/core/clock.h"

namespace berth::kube {

class TokenSource {
 public:
  TokenSource(std::string fixed, std::string file, const core::Clock& clock);

  // Empty if there is none. The file is read again when the last reading is a minute old; one that can't be read leaves
  // the last token in force.
  std::string current();
  // Reads the file now and returns the token.
  std::string refresh();

 private:
  void read();

  std::mutex mutex_;
  std::string token_;
  const std::string file_;
  const core::Clock& clock_;
  core::SteadyTime read_at_{};
  bool read_failed_ = false;
};

}  // namespace berth::kube
