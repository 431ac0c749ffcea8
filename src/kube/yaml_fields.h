// YAML mappings with their keys checked: yaml-cpp itself lets a repeated key pass and takes the first.
#pragma once

#include <yaml-cpp/yaml.h>

#include <map>
#include <string>
#include <string_view>

#include "berth/core/result.h"

namespace berth::kube {

class YamlFields {
 public:
  // kInvalid, with file and line, if `node` is not a mapping, has a key twice, or a key that is not text. A null node
  // is an empty mapping. `where` is the file, `what` the place in it ("clusters[0].cluster").
  static core::Result<YamlFields> of(const YAML::Node& node, const std::string& where, const std::string& what);

  // True if the key is there and its value is neither null nor an empty text, list or mapping.
  [[nodiscard]] bool has(std::string_view key) const;
  // Null if absent.
  [[nodiscard]] YAML::Node node(std::string_view key) const;
  // Empty if absent or null; kInvalid if not a scalar.
  [[nodiscard]] core::Result<std::string> text(std::string_view key) const;
  // False if absent or null; kInvalid if not true or false.
  [[nodiscard]] core::Result<bool> flag(std::string_view key) const;
  [[nodiscard]] tl::unexpected<core::Error> invalid(std::string_view key, const std::string& why) const;
  [[nodiscard]] std::string path(std::string_view key) const;

 private:
  std::map<std::string, YAML::Node, std::less<>> fields_;
  std::string where_;
  std::string what_;
  YAML::Mark mark_;
};

// "FILE:LINE", the line counted from 1 if known.
std::string place(const std::string& file, const YAML::Mark& mark);

}  // namespace berth::kube
