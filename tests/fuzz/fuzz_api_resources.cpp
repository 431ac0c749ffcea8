// The list of an API group's resources: names without a slash, or an error.
#include "berth/codec/api_resources.h"
#include "require.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using berth::fuzz::require;
  std::string text(data, data + size);
  const auto names = berth::codec::read_resource_names(text);
  if (!names) {
    require(!names.error().message.empty(), "an error says what is wrong");
    return 0;
  }
  for (const std::string& name : *names) require(name.find('/') == std::string::npos, "no subresources");
  return 0;
}
