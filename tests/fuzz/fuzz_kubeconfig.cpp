// Any bytes as a kubeconfig: an answer or an error, never a crash.
#include <cstddef>
#include <cstdint>
#include <string>

#include "berth/kube/kubeconfig.h"
#include "require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto access = berth::kube::parse_kubeconfig(text, "/nonexistent", {}, "config");
  if (access) {
    berth::fuzz::require(!access->server.empty(), "a server is named");
  } else {
    berth::fuzz::require(access.error().to_string().starts_with("config"), "the error says where");
  }
  return 0;
}
