// Logs what goes wrong once, not each time that it does, and that it is over.
//
// Not thread-safe.
#pragma once

#include <spdlog/spdlog.h>

#include <string>
#include <utility>

namespace berth::agent {

class Trouble {
 public:
  // `what`: "nvidia-smi", with which both lines begin.
  explicit Trouble(std::string what) : what_(std::move(what)) {}

  // `kept`: what stays as it was meanwhile.
  void is(const std::string& why, const char* kept) {
    if (why == why_) return;
    spdlog::warn("{}: {}; {}", what_, why, kept);
    why_ = why;
  }
  void over() {
    if (!why_.empty()) spdlog::info("{}: well again", what_);
    why_.clear();
  }

 private:
  const std::string what_;
  std::string why_;  // empty: all is well
};

}  // namespace berth::agent
