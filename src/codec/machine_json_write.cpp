#include <span>
#include <utility>
#include <vector>

#include "berth/codec/machine_json.h"
#include "berth/core/quantity.h"
#include "json_text.h"

namespace berth::codec {
namespace {

// Writes "[", what `write` makes of each item, "]".
template <class Items, class Write>
void write_list(JsonText& json, std::string_view key, const Items& items, const Write& write) {
  json.raw(key);
  json.raw("[");
  bool first = true;
  for (const auto& item : items) {
    if (!std::exchange(first, false)) json.raw(",");
    write(item);
  }
  json.raw("]");
}

void write_start(JsonText& json, core::WallTime at) {
  json.raw(R"({"version":1)");
  if (at == core::WallTime()) return;
  json.raw(R"(,"at":)");
  json.string(core::format_timestamp(at));
}

void write_gpu(JsonText& json, const model::Gpu& gpu) {
  json.raw(gpu.healthy ? R"({"healthy":true)" : R"({"healthy":false)");
  const std::pair<std::string_view, std::string_view> texts[] = {
      {R"(,"uuid":)", gpu.uuid}, {R"(,"product":)", gpu.product}, {R"(,"pcie":)", gpu.pcie}};
  for (const auto& [key, value] : texts) {
    if (value.empty()) continue;
    json.raw(key);
    json.string(value);
  }
  if (gpu.memory_mib > 0) {
    json.raw(R"(,"memoryMiB":)");
    json.number(gpu.memory_mib);
  }
  if (gpu.numa >= 0) {
    json.raw(R"(,"numa":)");
    json.number(gpu.numa);
  }
  if (gpu.mig) json.raw(R"(,"mig":true)");
  if (!gpu.instances.empty()) {
    write_list(json, R"(,"instances":)", gpu.instances, [&](const model::MigInstance& instance) {
      json.raw(R"({"profile":)");
      json.string(instance.profile);
      if (instance.start >= 0) {
        json.raw(R"(,"start":)");
        json.number(instance.start);
      }
      json.raw("}");
    });
  }
  json.raw("}");
}

void write_machine_links(JsonText& json, const model::LinkMatrix& links) {
  std::vector<std::pair<int, int>> pairs;
  for (int a = 0; a < links.gpus; ++a) {
    for (int b = a + 1; b < links.gpus; ++b) pairs.emplace_back(a, b);
  }
  write_list(json, R"(,"links":)", pairs, [&](const auto& pair) {
    json.raw("[");
    json.number(pair.first);
    json.raw(",");
    json.number(pair.second);
    json.raw(",");
    json.string(model::link_name(links.at(pair.first, pair.second)));
    json.raw("]");
  });
}

}  // namespace

std::string write_machine(const model::Machine& machine) {
  std::string out;
  {
    JsonText json(out, 256 * machine.gpus.size() + 128 * machine.nics.size() + 256);
    write_start(json, machine.at);
    write_list(json, R"(,"gpus":)", machine.gpus, [&](const model::Gpu& gpu) { write_gpu(json, gpu); });
    if (machine.links) write_machine_links(json, *machine.links);
    if (!machine.nics.empty()) {
      write_list(json, R"(,"nics":)", machine.nics, [&](const model::Nic& nic) {
        json.raw(R"({"name":)");
        json.string(nic.name);
        const std::span links(nic.links.data(), machine.gpus.size());
        write_list(json, R"(,"links":)", links, [&](model::Link link) {
          if (link == model::Link::kSelf) {
            json.raw("null");
          } else {
            json.string(model::link_name(link));
          }
        });
        json.raw("}");
      });
    }
    if (!machine.clique.empty()) {
      json.raw(R"(,"clique":)");
      json.string(machine.clique);
    }
    json.raw("}");
  }
  return out;
}

std::string write_holders(const model::GpuHolders& holders) {
  std::string out;
  {
    JsonText json(out, 128 * holders.pods.size() + 64);
    write_start(json, holders.at);
    write_list(json, R"(,"pods":)", holders.pods, [&](const model::GpuHolder& holder) {
      json.raw(R"({"namespace":)");
      json.string(holder.ns);
      json.raw(R"(,"pod":)");
      json.string(holder.pod);
      std::vector<int> gpus;
      for (int gpu = 0; gpu < model::kMaxGpus; ++gpu) {
        if (model::contains(holder.holds.gpus, gpu)) gpus.push_back(gpu);
      }
      if (!gpus.empty()) write_list(json, R"(,"gpus":)", gpus, [&](int gpu) { json.number(gpu); });
      if (!holder.holds.slots.empty()) {
        write_list(json, R"(,"slots":)", holder.holds.slots, [&](const model::MigSlot& slot) {
          json.raw("[");
          json.number(slot.gpu);
          json.raw(",");
          json.number(slot.start);
          json.raw(",");
          json.number(slot.size);
          json.raw("]");
        });
      }
      json.raw("}");
    });
    json.raw("}");
  }
  return out;
}

}  // namespace berth::codec
