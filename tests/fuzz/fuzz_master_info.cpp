// What an Alluxio master answers, or whoever stands in its place.
#include <set>
#include <string>

#include "berth/codec/alluxio.h"
#include "require.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using berth::fuzz::require;
  std::string json(data, data + size);
  const auto workers = berth::codec::read_master_info(json);
  if (!workers) {
    require(!workers.error().message.empty(), "an error has a message");
    return 0;
  }
  std::set<std::string> hosts;
  for (const auto& worker : *workers) {
    require(!worker.host.empty() && worker.bytes >= 0, "a worker has a host and an amount");
    require(hosts.insert(worker.host).second, "a host is told once");
  }
  return 0;
}
