// What an agent writes to its node, or whoever may annotate it: the machine, and who holds its GPUs.
#include "berth/codec/machine_json.h"
#include "require.h"

namespace {

using berth::fuzz::require;

void check_machine(const std::string& json) {
  const auto machine = berth::codec::read_machine(json);
  if (!machine) {
    require(!machine.error().message.empty(), "an error says what is wrong");
    return;
  }
  require(machine->gpus.size() <= berth::model::kMaxGpus && machine->nics.size() <= 64, "limits hold");
  if (machine->links) {
    const auto built = berth::model::BestSetTable::build(*machine->links, [] {
      berth::model::NumaNodes numa;
      numa.fill(-1);
      return numa;
    }());
    require(built.has_value(), "links are those of a machine");
  }
  const auto again = berth::codec::read_machine(berth::codec::write_machine(*machine));
  require(again && again->gpus == machine->gpus && again->links == machine->links && again->nics == machine->nics,
          "what is written is read back");
}

void check_holders(const std::string& json) {
  const auto holders = berth::codec::read_holders(json);
  if (!holders) return;
  require(holders->pods.size() <= 4096, "limits hold");
  const auto again = berth::codec::read_holders(berth::codec::write_holders(*holders));
  require(again && again->pods == holders->pods, "what is written is read back");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string json(data, data + size);
  check_machine(json);
  check_holders(json);
  return 0;
}
