#include "berth/codec/topology_json.h"

#include "json_text.h"

namespace berth::codec {
namespace {

void write_set(JsonText& json, model::GpuMask set) {
  char before = '[';
  for (int gpu = 0; gpu < model::kMaxGpus; ++gpu) {
    if (!model::contains(set, gpu)) continue;
    json.raw({&before, 1});
    json.number(gpu);
    before = ',';
  }
  json.raw("]");
}

void write_links(JsonText& json, const model::LinkMatrix& links) {
  bool first = true;
  for (int a = 0; a < links.gpus; ++a) {
    for (int b = a + 1; b < links.gpus; ++b) {
      json.raw(first ? "[" : ",[");
      first = false;
      json.number(a);
      json.raw(",");
      json.number(b);
      json.raw(",");
      json.string(model::link_name(links.at(a, b)));
      json.raw("]");
    }
  }
}

}  // namespace

std::string write_topology(const model::GpuShape& shape) {
  const int gpus = shape.table.gpus();
  std::string out;
  {
    JsonText json(out, 4096);
    json.raw(R"({"gpus":)");
    json.number(gpus);
    json.raw(R"(,"numa":[)");
    for (int gpu = 0; gpu < gpus; ++gpu) {
      if (gpu > 0) json.raw(",");
      const int node = shape.numa[static_cast<std::size_t>(gpu)];
      if (node < 0) {
        json.raw("null");
      } else {
        json.number(node);
      }
    }
    json.raw(R"(],"links":[)");
    write_links(json, shape.links);
    json.raw(R"(],"best_sets":{)");
    for (int count = 2; count <= gpus; ++count) {
      json.raw(count > 2 ? ",\"" : "\"");
      json.number(count);
      json.raw("\":[");
      bool first = true;
      for (const model::GpuMask set : shape.table.ties(count)) {
        if (!first) json.raw(",");
        first = false;
        write_set(json, set);
      }
      json.raw("]");
    }
    json.raw("}}\n");
  }
  return out;
}

}  // namespace berth::codec
