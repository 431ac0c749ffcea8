// Appends JSON text to a string, fast.
//
// Not thread-safe. The string holds spare bytes at its end until the writer is gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace berth::codec {

class JsonText {
 public:
  // `expected` more bytes are made room for at once.
  JsonText(std::string& out, std::size_t expected);
  ~JsonText() { out_.resize(used_); }
  JsonText(const JsonText&) = delete;
  JsonText& operator=(const JsonText&) = delete;

  // As it is.
  void raw(std::string_view text);
  // In quotes, escaped; each byte that is not part of valid UTF-8 becomes U+FFFD.
  void string(std::string_view text);
  void number(std::int64_t value);

 private:
  void make_room(std::size_t bytes);
  void escaped(std::string_view text);

  std::string& out_;
  std::size_t used_;
};

}  // namespace berth::codec
