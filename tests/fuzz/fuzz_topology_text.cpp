// `nvidia-smi topo -m`, or whatever somebody took for it.
#include <string>

#include "berth/codec/topology_text.h"
#include "require.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using berth::fuzz::require;
  const std::string text(data, data + size);
  const auto machine = berth::codec::read_topology_text(text);
  if (!machine) {
    require(!machine.error().message.empty(), "an error says what is wrong");
    require(machine.error().message.find('\n') == std::string::npos, "an error is one line");
    return 0;
  }
  require(!machine->gpus.empty() && machine->gpus.size() <= berth::model::kMaxGpus, "a machine has 1 to 16 GPUs");
  require(machine->nics.size() <= 64, "NICs are bounded");
  berth::model::NumaNodes numa;
  numa.fill(-1);
  require(machine->links && machine->links->gpus == static_cast<int>(machine->gpus.size()), "links are of all GPUs");
  // A table of 16 GPUs takes 10 ms; its links are checked before.
  if (machine->gpus.size() <= 8) {
    require(berth::model::BestSetTable::build(*machine->links, numa).has_value(), "links are those of a machine");
  }
  return 0;
}
