#include "extender_args.h"

#include "generated_cluster.h"

namespace berth::bench {

std::string args_head_with_names(const model::Pod& pod) {
  std::string out = R"({"Pod":)";
  append_pod_json(out, pod, "184470021");
  out += R"(,"Nodes":null,"NodeNames":)";
  return out;
}

std::string args_tail_with_names(std::span<const std::string_view> names) {
  std::string out = "[";
  for (const std::string_view name : names) {
    if (out.size() > 1) out += ',';
    out += '"';
    out += name;
    out += '"';
  }
  out += "]}";
  return out;
}

std::string args_head_with_nodes(const model::Pod& pod) {
  std::string out = R"({"Pod":)";
  append_pod_json(out, pod, "184470021");
  out += R"(,"Nodes":{"metadata":{},"items":)";
  return out;
}

std::string args_tail_with_nodes(std::span<const std::string_view> node_objects) {
  std::string out = "[";
  for (const std::string_view node : node_objects) {
    if (out.size() > 1) out += ',';
    out += node;
  }
  out += R"(]},"NodeNames":null})";
  return out;
}

void append_args_with_names(std::string& out, const model::Pod& pod, std::span<const std::string_view> names) {
  out += args_head_with_names(pod);
  out += args_tail_with_names(names);
}

}  // namespace berth::bench
