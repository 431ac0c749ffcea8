#include "berth/server/config.h"

#include <arpa/inet.h>
#include <yaml-cpp/yaml.h>

#include <fstream>
#include <set>
#include <sstream>
#include <vector>

#include "berth/core/nearest.h"
#include "config_keys.h"
#include "config_values.h"
#include "http_listener.h"

namespace berth::server {
namespace {

using core::ErrorCode;
using core::fail;
using core::Result;

// Reads the maps of one file.
class Reader {
 public:
  Reader(std::string_view name, Config& config) : name_(name), config_(config) {}

  // The map at `section`, which is "" at the top and ends with a dot below it.
  Result<void> read_map(const YAML::Node& map, const std::string& section) {
    std::set<std::string> seen;
    for (const auto& entry : map) {
      const YAML::Node& key_node = entry.first;
      if (!key_node.IsScalar()) return error(key_node, section, "keys must be texts");
      const std::string key = section + key_node.Scalar();
      if (!seen.insert(key).second) return error(key_node, key, "is given twice");
      if (const auto read = read_key(key_node, key, entry.second, section); !read) return read;
    }
    return {};
  }

 private:
  Result<void> read_key(const YAML::Node& key_node, const std::string& key, const YAML::Node& value,
                        const std::string& section) {
    if (key_node.Scalar().find('.') != std::string::npos) {
      return error(key_node, key, "is not a key; a dot in the documentation stands for a level, so write it as a map");
    }
    for (const KeyReader& reader : key_readers()) {
      if (reader.key.path != key) continue;
      if (value.IsNull()) return error(key_node, key, "has no value; leave the key out for the default");
      const auto read = reader.read(value, config_);
      if (read) return {};
      const std::string given = value.IsScalar() ? ", not \"" + value.Scalar() + '"' : "";
      return error(value, key, read.error().message + given);
    }
    for (const KeyReader& reader : key_readers()) {
      if (!reader.key.path.starts_with(key + '.')) continue;
      if (value.IsNull()) return {};
      if (!value.IsMap()) return error(value, key, "must be a map");
      return read_map(value, key + '.');
    }
    const std::string meant = core::nearest(key_node.Scalar(), names_in(section));
    return error(key_node, key,
                 meant.empty() ? "is not a key; docs/configuration.md lists them"
                               : "is not a key; did you mean " + section + meant + "?");
  }

  // The names that may stand in `section`.
  static std::vector<std::string> names_in(const std::string& section) {
    std::vector<std::string> names;
    for (const KeyReader& reader : key_readers()) {
      if (!reader.key.path.starts_with(section)) continue;
      const std::string_view rest = reader.key.path.substr(section.size());
      names.emplace_back(rest.substr(0, rest.find('.')));
    }
    return names;
  }

  tl::unexpected<core::Error> error(const YAML::Node& at, const std::string& key, const std::string& message) const {
    return fail(ErrorCode::kInvalid, key.empty() ? message : key + ' ' + message,
                name_ + ':' + std::to_string(at.Mark().line + 1));
  }

  const std::string name_;
  Config& config_;
};

Result<void> check_address(std::string_view key, const std::string& address, bool insecure) {
  const auto parsed = parse_listen_address(address);
  if (!parsed) return fail(ErrorCode::kInvalid, parsed.error().message, std::string(key));
  if (insecure || is_loopback(address)) return {};
  return fail(ErrorCode::kInvalid,
              address +
                  " can be reached from other machines, and there is no TLS: listen on 127.0.0.1, or say insecure: "
                  "true (--insecure) if the network is closed",
              std::string(key));
}

}  // namespace

Result<Config> load_config(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  // Through a stream buffer, which fails without an exception where `path` is a directory.
  if (!file.is_open() || (file.peek() != std::ifstream::traits_type::eof() && !(text << file.rdbuf())) || file.bad()) {
    return fail(ErrorCode::kNotFound, "can't be read", path);
  }
  return parse_config(text.str(), path);
}

Result<Config> parse_config(std::string_view text, std::string_view name) {
  Config config;
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(std::string(text));
    if (documents.empty() || documents.front().IsNull()) return config;
    if (documents.size() > 1) {
      return fail(ErrorCode::kInvalid, "holds more than one document; only one is read", std::string(name));
    }
    if (!documents.front().IsMap()) return fail(ErrorCode::kInvalid, "must be a map of keys", std::string(name));
    if (const auto read = Reader(name, config).read_map(documents.front(), ""); !read)
      return tl::unexpected(read.error());
  } catch (const YAML::Exception& thrown) {
    return fail(ErrorCode::kInvalid, "is not YAML: " + thrown.msg,
                std::string(name) + ':' + std::to_string(thrown.mark.line + 1));
  }
  const model::Weights& weights = config.policy.weights;
  if (weights.locality + weights.topology + weights.packing <= 0) {
    return fail(ErrorCode::kInvalid, "weights must not all be 0", std::string(name));
  }
  return config;
}

Result<void> check_config(const Config& config) {
  if (const auto listen = check_address("listen", config.listen, config.insecure); !listen) return listen;
  if (const auto admin = check_address("adminListen", config.admin_listen, config.insecure); !admin) return admin;
  if (!config.bind.listen.empty()) {
    if (const auto bind = check_address("bind.listen", config.bind.listen, config.insecure); !bind) return bind;
  }
  if (config.limits.max_bodies_bytes < config.limits.max_request_bytes) {
    return fail(ErrorCode::kInvalid, "must not be below limits.maxRequestBytes", "limits.maxBodiesBytes");
  }
  return {};
}

policy::Settings placement_settings(const Config& config, bool live_cluster) {
  policy::Settings settings = config.placement;
  const bool trust = config.gpu_count == GpuCount::kTrust || (config.gpu_count == GpuCount::kAuto && live_cluster);
  settings.gpu_count = trust ? policy::GpuCountMode::kTrust : policy::GpuCountMode::kEnforce;
  return settings;
}

bool is_loopback(std::string_view address) {
  std::string host(address);
  if (const auto parsed = parse_listen_address(address)) host = parsed->host;
  if (host == "localhost") return true;
  in_addr v4{};
  if (::inet_pton(AF_INET, host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24U) == 127;
  in6_addr v6{};
  return ::inet_pton(AF_INET6, host.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6) != 0;
}

std::optional<LogLevel> parse_log_level(std::string_view text) {
  for (const LogLevel level : {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarn, LogLevel::kError}) {
    if (text == to_string(level)) return level;
  }
  return std::nullopt;
}

std::string_view to_string(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarn:
      return "warn";
    case LogLevel::kError:
      return "error";
  }
  return "";
}

}  // namespace berth::server
