#include "yaml_fields.h"

#include <utility>

namespace berth::kube {

using core::ErrorCode;

std::string place(const std::string& file, const YAML::Mark& mark) {
  return mark.is_null() ? file : file + ":" + std::to_string(mark.line + 1);
}

core::Result<YamlFields> YamlFields::of(const YAML::Node& node, const std::string& where, const std::string& what) {
  YamlFields result;
  result.where_ = where;
  result.what_ = what;
  result.mark_ = node.Mark();
  if (!node.IsDefined() || node.IsNull()) return result;
  const std::string subject = what.empty() ? "the file" : what;
  if (!node.IsMap()) return core::fail(ErrorCode::kInvalid, subject + " must be a mapping", place(where, node.Mark()));
  for (const auto& field : node) {
    if (!field.first.IsScalar()) {
      return core::fail(ErrorCode::kInvalid, subject + " has a key that is not text", place(where, field.first.Mark()));
    }
    if (!result.fields_.emplace(field.first.Scalar(), field.second).second) {
      return core::fail(ErrorCode::kInvalid, result.path(field.first.Scalar()) + " is given twice",
                        place(where, field.first.Mark()));
    }
  }
  return result;
}

std::string YamlFields::path(std::string_view key) const {
  return what_.empty() ? std::string(key) : what_ + "." + std::string(key);
}

YAML::Node YamlFields::node(std::string_view key) const {
  const auto found = fields_.find(key);
  return found == fields_.end() ? YAML::Node() : found->second;
}

bool YamlFields::has(std::string_view key) const {
  const YAML::Node value = node(key);
  if (value.IsNull()) return false;
  return value.IsScalar() ? !value.Scalar().empty() : value.size() > 0;
}

core::Result<std::string> YamlFields::text(std::string_view key) const {
  const YAML::Node value = node(key);
  if (value.IsNull()) return std::string();
  if (!value.IsScalar()) return invalid(key, "must be text");
  return value.Scalar();
}

core::Result<bool> YamlFields::flag(std::string_view key) const {
  const auto value = text(key);
  if (!value) return tl::unexpected(value.error());
  if (value->empty() || *value == "false") return false;
  if (*value == "true") return true;
  return invalid(key, "must be true or false");
}

tl::unexpected<core::Error> YamlFields::invalid(std::string_view key, const std::string& why) const {
  const YAML::Node value = node(key);
  return core::fail(ErrorCode::kInvalid, path(key) + " " + why, place(where_, value.IsNull() ? mark_ : value.Mark()));
}

}  // namespace berth::kube
