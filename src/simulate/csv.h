// Lines of a CSV file by column name. Quotes are not understood: what has them is refused, not misread.
//
// The first error is kept and ends the reading: what is read after it is of no use, and next() returns false. A
// CsvReader is used by one thread; the text must outlive it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/core/result.h"

namespace berth::simulate {

class CsvReader {
 public:
  // Reads the first line, which must name all of `required`. `name` is for errors.
  CsvReader(std::string_view text, std::string name, const std::vector<std::string_view>& required);

  // The next line that is not empty; false at the end and after an error.
  bool next();
  // A field of the line without white space around it; empty where there is no such column.
  [[nodiscard]] std::string_view text(std::string_view column) const;
  // A whole number within the bounds.
  std::int64_t number(std::string_view column, std::int64_t least, std::int64_t most);
  // Not negative; a fraction is cut off. nullopt where the field is empty or not there.
  std::optional<std::int64_t> seconds(std::string_view column);

  // Something is wrong with this line.
  void wrong(const std::string& message);
  [[nodiscard]] const std::optional<core::Error>& error() const { return error_; }

 private:
  std::optional<std::string_view> line();

  std::string_view rest_;
  std::string name_;
  std::size_t line_ = 0;
  std::vector<std::string_view> columns_;
  std::vector<std::string_view> fields_;
  std::optional<core::Error> error_;
};

}  // namespace berth::simulate
