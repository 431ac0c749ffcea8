// JSON of the admin port, written and (for the command line) read back. Shapes: docs/api.md.
//
// Thread-safe: pure functions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "berth/core/result.h"
#include "berth/model/decision.h"
#include "berth/model/free_gpus.h"
#include "berth/model/snapshot.h"

namespace berth::codec {

std::string write_explanation(const model::Explanation& explanation);
// Reads what write_explanation wrote, from a server of this or a later version: unknown keys are ignored.
core::Result<model::Explanation> read_explanation(const std::string& json);

// {"decisions": [...]}: explanations without the names of rejected nodes, newest first.
std::string write_decisions(std::span<const model::Explanation> explanations);

struct Summary {
  std::string version;  // of the program
  const model::Snapshot* snapshot = nullptr;
  std::chrono::milliseconds snapshot_age{0};
  std::size_t decisions = 0;  // pods whose decisions are kept
  std::string source;         // "file NAME" or "API server HOST:PORT"
  bool source_connected = true;
  model::FreeGpus free = {};  // in the whole cluster
};
std::string write_summary(const Summary& summary);

}  // namespace berth::codec
