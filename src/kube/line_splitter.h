// Lines out of a stream that comes in pieces.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace berth::kube {

class LineSplitter {
 public:
  explicit LineSplitter(std::size_t max_line_bytes) : max_(max_line_bytes) {}

  enum class End { kTakenAll, kStopped, kLineTooLong };
  // Calls take(std::string& line) -> bool for every line that is complete, without its end; false stops.
  template <class Take>
  End feed(std::string_view bytes, Take take) {
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      const std::string_view piece = bytes.substr(0, end);
      if (line_.size() + piece.size() > max_) return End::kLineTooLong;
      line_.append(piece);
      if (end == std::string_view::npos) return End::kTakenAll;
      bytes.remove_prefix(end + 1);
      const bool more = line_.empty() || take(line_);
      line_.clear();
      if (!more) return End::kStopped;
    }
    return End::kTakenAll;
  }

 private:
  std::size_t max_;
  std::string line_;
};

}  // namespace berth::kube
