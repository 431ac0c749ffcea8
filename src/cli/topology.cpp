#include "topology.h"

#include <cstdio>

#include "berth/cli/topology_table.h"
#include "berth/codec/topology_json.h"
#include "berth/codec/topology_text.h"
#include "berth/server/config.h"
#include "read_text.h"
#include "report.h"

namespace berth::cli {
namespace {

using core::Result;

constexpr std::size_t kMostTextBytes = std::size_t{1} << 20U;

Result<std::string> work_out(const TopologyFlags& flags) {
  model::LinkBandwidths widths;
  if (!flags.config.empty()) {
    const auto config = server::load_config(flags.config);
    if (!config) return tl::unexpected(config.error());
    widths = config->link_bandwidths;
  }
  const auto text = read_text(flags.file, kMostTextBytes);
  if (!text) return tl::unexpected(text.error());
  const auto machine = codec::read_topology_text(*text);
  const std::string where = flags.file == "-" ? "standard input" : flags.file;
  if (!machine) return core::fail(machine.error().code, machine.error().to_string(), where);
  const auto shape = model::shape_of(*machine, widths);
  if (!shape) return core::fail(core::ErrorCode::kInternal, "has links that make no machine", where);
  return flags.format == "json" ? codec::write_topology(*shape) : topology_table(*machine, *shape);
}

}  // namespace

int topology(const TopologyFlags& flags) {
  const auto told = work_out(flags);
  if (!told) return report(told.error());
  std::fwrite(told->data(), 1, told->size(), stdout);
  return kOk;
}

}  // namespace berth::cli
