// What nvidia-smi prints, or whatever stands in its place; the first byte chooses which of its commands.
#include <set>
#include <string>

#include "berth/codec/nvidia_smi.h"
#include "require.h"

namespace {

using berth::fuzz::require;

template <class T>
bool failed(const berth::core::Result<T>& read) {
  if (!read) require(!read.error().message.empty(), "an error has a message");
  return !read;
}

void rows(std::string_view text) {
  const auto read = berth::codec::read_gpu_rows(text);
  if (failed(read)) return;
  require(!read->empty() && read->size() <= 256 + 1024, "some rows, and not too many");
  for (const auto& row : *read) {
    require(row.memory_mib >= 0 && row.uuid.size() <= 128 && row.product.size() <= 128 && row.bus_id.size() <= 16,
            "values within their limits");
    require(row.product.find(' ') == std::string::npos, "a product is a label");
  }
}

void details(std::string_view text) {
  const auto read = berth::codec::read_gpu_details(text);
  if (failed(read)) return;
  for (const auto& gpu : *read) {
    require(!gpu.bus_id.empty() && gpu.minor >= -1, "a GPU has a bus id");
    for (const auto& device : gpu.mig_devices) require(device.index >= -1 && device.gpu_instance >= -1, "numbers");
  }
}

void names(std::string_view text) {
  const auto read = berth::codec::read_mig_names(text);
  if (failed(read)) return;
  for (const auto& name : *read) require(name.gpu >= 0 && name.index >= 0 && name.uuid.size() <= 128, "a place");
}

void instances(std::string_view text) {
  const auto read = berth::codec::read_gpu_instances(text);
  if (failed(read)) return;
  for (const auto& one : *read) {
    require(one.gpu >= 0 && one.id >= 0 && one.start >= 0 && one.size >= 1 && one.start + one.size <= 8, "a place");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string copy(data + 1, data + size);
  void (*const readers[])(std::string_view) = {rows, details, names, instances};
  readers[data[0] % 4](copy);
  return 0;
}
