// What the tests of codec share: files of tests/data, names of table cases.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "source_dir.h"

namespace berth::codec {

inline std::string test_data(const std::string& name) {
  std::ifstream file(std::string(BERTH_SOURCE_DIR) + "/tests/data/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

// Names the cases of a table by their field `name`.
inline constexpr auto kCaseName = [](const auto& given) { return std::string(given.param.name); };

}  // namespace berth::codec
