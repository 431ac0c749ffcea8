// Takes fields of known types out of a JSON document and says precisely which one is wrong.
//
// A field that is null counts as absent. A reading goes on after something wrong, with empty values, so that the code
// that reads has no error branches; whoever began it looks at `failed` in the end.
//
// Not thread-safe. Names and values are views that must outlive the reading.
#pragma once

#include <simdjson.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "berth/core/clock.h"
#include "berth/core/result.h"

namespace berth::codec {

// True if both are the same but for the case of ASCII letters.
bool same_but_case(std::string_view a, std::string_view b);

// Where we are in a document, and the first thing found wrong in it.
class Reading {
 public:
  // Enters a field, or an item of a list, for as long as it lives.
  class Step {
   public:
    Step(Reading& reading, std::string_view name) : Step(reading, name, -1) {}
    Step(Reading& reading, std::size_t index) : Step(reading, {}, static_cast<std::int64_t>(index)) {}
    ~Step() { --reading_.depth_; }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    Step(Reading& reading, std::string_view name, std::int64_t index);
    Reading& reading_;
  };

  // Keeps the first message only, with the place where we are, or its field `field`.
  void fail(std::string message, std::string_view field = {});
  [[nodiscard]] bool failed() const { return error_.has_value(); }
  // A part without which the rest still counts can't be read: told beside it, `why` with the place where we are.
  void pass_over(const core::Error& why, std::string_view field);
  // The first of these; empty if there are none.
  [[nodiscard]] const std::string& passed_over() const { return passed_over_; }
  // The first thing wrong; only if failed().
  [[nodiscard]] const core::Error& error() const { return *error_; }

 private:
  struct Place {
    std::string_view name;
    std::int64_t index = -1;
  };
  static constexpr std::size_t kDeepest = 16;
  std::array<Place, kDeepest> places_;
  std::size_t depth_ = 0;
  [[nodiscard]] std::string place(std::string_view field) const;

  std::optional<core::Error> error_;
  std::string passed_over_;
};

struct Field {
  std::string_view name;
  bool given = false;
  simdjson::dom::element value;
};

enum class KeyCase : std::uint8_t { kExact, kAny };

// Finds the fields `names` in one pass. A field that is given twice is an error: readers of JSON differ in which they
// take, so one of them would be deceived. The same name may be asked for twice.
template <std::size_t N>
std::array<Field, N> pick(simdjson::dom::object object, const std::array<std::string_view, N>& names, Reading& reading,
                          KeyCase key_case = KeyCase::kExact) {
  std::array<Field, N> fields;
  for (std::size_t i = 0; i < N; ++i) fields[i].name = names[i];
  for (const auto& [key, value] : object) {
    for (Field& field : fields) {
      const bool same = key_case == KeyCase::kExact ? key == field.name : same_but_case(key, field.name);
      if (!same || value.is_null()) continue;
      if (field.given) reading.fail("is given twice", field.name);
      field.given = true;
      field.value = value;
    }
  }
  return fields;
}

// The value of a field: empty, zero or nullopt if it is absent, and also, once the reading has been told, if it is of
// another type.
std::string_view text(const Field& field, Reading& reading);
std::optional<simdjson::dom::object> object(const Field& field, Reading& reading);
std::optional<simdjson::dom::array> array(const Field& field, Reading& reading);
// A whole number from `least` to `most`.
std::int64_t number(const Field& field, std::int64_t least, std::int64_t most, Reading& reading);
// A time in RFC 3339; epoch if absent.
core::WallTime timestamp(const Field& field, Reading& reading);
// A Kubernetes quantity, as a string or a number, rounded up; negative is wrong.
std::int64_t quantity(const Field& field, Reading& reading);
// The same, and the greatest int64 for what is more; likewise in thousandths.
std::int64_t capped_quantity(const Field& field, Reading& reading);
std::int64_t milli_quantity(const Field& field, Reading& reading);

// An item of a list, which must be an object; `reading` stands on the item.
std::optional<simdjson::dom::object> item_object(simdjson::dom::element item, Reading& reading);
// "must be a string, not a number".
std::string wrong_type(std::string_view wanted, simdjson::dom::element found);

}  // namespace berth::codec
