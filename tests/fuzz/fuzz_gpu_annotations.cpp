// What other schedulers write on nodes and pods of GPUs: HAMi's two formats of devices with and without scores, and the
// devices of pods.
#include <string>
#include <string_view>

#include "codec/hami.h"
#include "codec/koordinator.h"
#include "object_properties.h"

namespace berth::fuzz {
namespace {

void check_claims(const core::Result<std::vector<model::DeviceClaim>>& claims) {
  if (!claims) return check(claims.error());
  require(claims->size() <= 256, "claims are bounded");
  for (const model::DeviceClaim& claim : *claims) check(claim);
}

}  // namespace
}  // namespace berth::fuzz

// The first line is of devices, the rest of scores.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace berth;
  const std::string all(data, data + size);
  const std::string_view text = all;
  const std::size_t line = std::min(text.find('\n'), text.size());
  const std::string_view scores = text.substr(std::min(line + 1, text.size()));
  const auto machine = codec::read_hami_node(text.substr(0, line), scores);
  if (!machine) fuzz::check(machine.error());
  if (machine && *machine != nullptr) {
    fuzz::check(**machine);
    fuzz::require(!(*machine)->gpus.empty(), "a machine has GPUs");
  }
  fuzz::check_claims(codec::read_hami_pod(text));
  fuzz::check_claims(codec::read_koordinator_pod(text));
  return 0;
}
