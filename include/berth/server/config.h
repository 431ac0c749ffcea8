// Everything that `berth serve` can be told, and the strict reader of its YAML file.
//
// Thread-safe: plain values and pure functions. A file is refused as a whole, with file and line, the key's full path
// and what is allowed, for an unknown or repeated key, a wrong type or a value out of range. The keys are described in
// docs/configuration.md; a published key is never changed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "berth/core/result.h"
#include "berth/model/gpu_topology.h"
#include "berth/model/node.h"
#include "berth/model/pod.h"
#include "berth/policy/settings.h"
#include "berth/state/cluster_state.h"

namespace berth::server {

// kAuto: trust with a live cluster, enforce with a cluster file.
enum class GpuCount : std::uint8_t { kAuto, kTrust, kEnforce };
enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarn, kError };
enum class LogFormat : std::uint8_t { kText, kJson };

struct LogConfig {
  LogLevel level = LogLevel::kInfo;
  LogFormat format = LogFormat::kText;
};

struct EventsConfig {
  bool enabled = true;
  std::chrono::milliseconds pending_after{300'000};
};

struct DataConfig {
  state::CoverageOptions coverage;
  std::chrono::milliseconds probe_interval{20'000};  // of an Alluxio master
};

struct BindConfig {
  std::string listen;                        // empty: kube-scheduler binds by itself
  std::chrono::milliseconds timeout{3'000};  // of the call to the API server
  bool hami_annotations = false;
};

struct LimitsConfig {
  std::size_t max_request_bytes = std::size_t{16} << 20U;  // one request body
  std::size_t max_bodies_bytes = std::size_t{256} << 20U;  // all bodies in work together
  std::size_t max_connections = 2048;
};

struct Config {
  std::string listen = "127.0.0.1:8900";
  std::string admin_listen = "127.0.0.1:8901";
  bool insecure = false;  // listening beyond loopback without a client CA is meant
  model::ResourceNames resources;
  GpuCount gpu_count = GpuCount::kAuto;
  policy::Settings placement;  // but gpu_count, see placement_settings()
  model::PodDefaults policy;
  DataConfig data;
  model::LinkBandwidths link_bandwidths;
  state::MixOptions mix;
  std::chrono::milliseconds soft_lifetime{30'000};
  std::size_t keep_pods = 1'000;
  BindConfig bind;
  EventsConfig events;
  bool preempt = false;
  bool wake = true;
  LimitsConfig limits;
  LogConfig log;
  std::chrono::milliseconds drain_timeout{20'000};
};

// Reads a file. kNotFound if it can't be read, kInvalid as parse_config.
core::Result<Config> load_config(const std::string& path);

// Reads YAML text; `name` stands for the file in errors. An empty text gives the defaults.
core::Result<Config> parse_config(std::string_view text, std::string_view name);

// What holds between several keys, once file and command line are merged: addresses that can be listened on, none
// beyond loopback unless `insecure`, limits that fit each other.
core::Result<void> check_config(const Config& config);

// The settings of policy, with gpuCount: auto resolved.
policy::Settings placement_settings(const Config& config, bool live_cluster);

// One key of the file, as docs/configuration.md lists it.
struct ConfigKey {
  std::string_view path;           // "limits.maxRequestBytes"
  std::string_view type;           // "size"
  std::string_view default_value;  // as written in the file
  std::string_view allowed;        // "1Ki to 128Mi"
  std::string_view meaning;
};
std::span<const ConfigKey> config_keys();

// True for an address (HOST:PORT, or HOST) that only this machine can reach: 127.0.0.0/8, ::1, localhost.
bool is_loopback(std::string_view address);

std::optional<LogLevel> parse_log_level(std::string_view text);
std::string_view to_string(LogLevel level);

}  // namespace berth::server
