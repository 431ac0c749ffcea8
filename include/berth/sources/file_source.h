// A cluster out of a dump: what `kubectl get nodes,pods,pvc,datasets.data.fluid.io -A -o json` prints.
//
// The file is read again when it changes, also when an editor puts a new one in its place or a ConfigMap is mounted
// anew; one that can't be read then leaves the last good state in force and is told in the log. "-" reads standard
// input once.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "berth/core/clock.h"
#include "berth/model/cluster_update.h"
#include "berth/model/node.h"
#include "berth/sources/source.h"

namespace berth::sources {

struct FileSourceOptions {
  std::string file;  // "-": standard input
  model::ResourceNames resources = {};
  std::size_t max_bytes = std::size_t{1} << 30U;
  std::chrono::milliseconds quiet{100};        // a change is over when the file has stayed as it is for so long
  std::chrono::milliseconds look_every{5000};  // for file systems that tell of no changes
  int standard_input = 0;                      // the descriptor behind "-"
};

class FileSource final : public Source {
 public:
  // `sink` and `clock` must outlive it.
  FileSource(FileSourceOptions options, model::UpdateSink& sink, const core::Clock& clock);
  ~FileSource() override;  // stops

  // Reads the file, pushes all that is in it, and begins to watch it. A file that can't be read is an error.
  core::Result<void> start() override;
  void stop() override;
  [[nodiscard]] bool synced() const override;
  [[nodiscard]] bool connected() const override;
  [[nodiscard]] std::string why_not_ready() const override;
  [[nodiscard]] std::vector<SourceCounters> counters() const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace berth::sources
