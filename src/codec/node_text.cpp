#include "node_text.h"

#include <simdjson.h>

#include <cstddef>
#include <string>

#include "json_fields.h"

namespace berth::codec {
namespace {

// Goes over the tokens of a valid text from left to right.
class TokenWalk {
 public:
  explicit TokenWalk(const TokenText& of) : text_(of.text), tokens_(of.tokens) {}

  [[nodiscard]] char at() const { return next_ < tokens_.size() ? text_[tokens_[next_]] : '\0'; }
  [[nodiscard]] std::size_t position() const { return tokens_[next_]; }
  void step() { ++next_; }

  // From the first token of a value to behind it; returns where its last token begins.
  std::size_t skip_value() {
    std::size_t depth = 0;
    do {
      const char token = at();
      if (token == '\0') return 0;
      if (token == '{' || token == '[') ++depth;
      if (token == '}' || token == ']') --depth;
      step();
    } while (depth > 0);
    return tokens_[next_ - 1];
  }

  // From an object's first token to the value of its field of that name that isn't null; false behind an object that
  // has none.
  bool enter_field(std::string_view name) {
    step();
    while (at() == '"') {
      const bool wanted = key_is(name);
      step();
      step();  // the colon
      if (wanted && at() != 'n') return true;
      skip_value();
      if (at() == ',') step();
    }
    step();
    return false;
  }

 private:
  // Keys are compared as the DOM reads them: unescaped.
  [[nodiscard]] bool key_is(std::string_view name) {
    const std::string_view rest = text_.substr(position());
    const std::size_t end = rest.find_first_of("\\\"", 1);
    if (end == std::string_view::npos) return false;
    if (rest[end] == '"') return same_but_case(rest.substr(1, end - 1), name);
    const std::size_t colon = tokens_[next_ + 1] - position();
    std::string_view key;
    return parser_.parse(std::string(rest.substr(0, colon))).get(key) == simdjson::SUCCESS && same_but_case(key, name);
  }

  std::string_view text_;
  std::span<const std::uint32_t> tokens_;
  std::size_t next_ = 0;
  simdjson::dom::parser parser_;  // of escaped keys, which are rare unless somebody means harm
};

}  // namespace

void cut_nodes(std::vector<std::string_view>& raw, const TokenText& body) {
  TokenWalk walk(body);
  if (walk.at() != '{' || !walk.enter_field("Nodes")) return;
  if (walk.at() != '{' || !walk.enter_field("items")) return;
  if (walk.at() != '[') return;
  walk.step();
  while (walk.at() == '{') {
    const std::size_t begin = walk.position();
    const std::size_t end = walk.skip_value();
    raw.push_back(body.text.substr(begin, end + 1 - begin));
    if (walk.at() == ',') walk.step();
  }
}

}  // namespace berth::codec
