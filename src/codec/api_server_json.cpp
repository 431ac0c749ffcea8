#include "berth/codec/api_server_json.h"

#include <nlohmann/json.hpp>

#include "berth/core/quantity.h"
#include "json_text.h"

namespace berth::codec {
namespace {

void field(JsonText& json, std::string_view before, std::string_view value) {
  json.raw(before);
  json.string(value);
}

// "before<value><unit>"
void amount(JsonText& json, std::string_view before, std::int64_t value, std::string_view unit) {
  json.raw(before);
  json.number(value);
  json.raw(unit);
}

void version_field(JsonText& json, std::uint64_t version) {
  amount(json, R"(,"resourceVersion":")", static_cast<std::int64_t>(version), R"(")");
}

void requests(JsonText& json, const PodObject& pod) {
  amount(json, R"({"cpu":")", pod.cpu_milli, R"(m")");
  amount(json, R"(,"memory":")", pod.memory_mib, R"(Mi")");
  if (pod.gpus > 0) amount(json, R"(,"nvidia.com/gpu":")", pod.gpus, R"(")");
  if (pod.gpu_milli > 0) amount(json, R"(,"berth.io/gpu-milli":")", pod.gpu_milli, R"(")");
  json.raw("}");
}

}  // namespace

std::string write_node(const NodeObject& node, std::uint64_t version) {
  std::string out;
  {
    JsonText json(out, 1024 + 2 * node.topology.size());
    field(json, R"({"kind":"Node","apiVersion":"v1","metadata":{"name":)", node.name);
    field(json, R"(,"uid":)", "uid-" + node.name);
    version_field(json, version);
    field(json, R"(,"labels":{"kubernetes.io/hostname":)", node.name);
    if (!node.gpu_product.empty()) field(json, R"(,"nvidia.com/gpu.product":)", node.gpu_product);
    json.raw("}");
    if (!node.topology.empty()) {
      field(json, R"(,"annotations":{"berth.io/topology":)", node.topology);
      json.raw("}");
    }
    amount(json, R"(},"spec":{},"status":{"allocatable":{"cpu":")", node.cpu_milli, R"(m")");
    amount(json, R"(,"memory":")", node.memory_mib, R"(Mi")");
    // As many as the trace asks for: it has no limit of kubelet's.
    json.raw(R"(,"pods":"10000")");
    if (node.gpus > 0) amount(json, R"(,"nvidia.com/gpu":")", node.gpus, R"(")");
    if (node.gpu_milli > 0) amount(json, R"(,"berth.io/gpu-milli":")", node.gpu_milli, R"(")");
    json.raw(R"(},"conditions":[{"type":"Ready","status":"True"}]}})");
  }
  return out;
}

std::string write_pod(const PodObject& pod, std::uint64_t version) {
  std::string out;
  {
    JsonText json(out, 1024);
    field(json, R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":)", pod.name);
    field(json, R"(,"namespace":)", pod.ns);
    field(json, R"(,"uid":)", pod.uid);
    version_field(json, version);
    field(json, R"(,"creationTimestamp":)", core::format_timestamp(pod.created));
    json.raw(R"(,"annotations":{)");
    std::string_view before = "";
    for (const model::Annotation& annotation : pod.annotations) {
      field(json, before, annotation.key);
      field(json, ":", annotation.value);
      before = ",";
    }
    field(json, R"(}},"spec":{"schedulerName":)", pod.scheduler);
    if (!pod.node.empty()) field(json, R"(,"nodeName":)", pod.node);
    json.raw(R"(,"containers":[{"name":"task","image":"task","resources":{"requests":)");
    requests(json, pod);
    json.raw(R"(,"limits":)");
    requests(json, pod);
    json.raw(R"(}}]},"status":{"phase":)");
    json.raw(pod.node.empty() ? R"("Pending"}})" : R"("Running"}})");
  }
  return out;
}

std::string write_product_policy(std::string_view ns, std::string_view name, std::span<const std::string> products,
                                 std::uint64_t version) {
  std::string out;
  {
    JsonText json(out, 512);
    field(json, R"({"kind":"SchedulingPolicy","apiVersion":"berth.io/v1alpha1","metadata":{"name":)", name);
    field(json, R"(,"namespace":)", ns);
    version_field(json, version);
    json.raw(R"(},"spec":{"gpuProducts":[)");
    std::string_view before = "";
    for (const std::string& product : products) {
      field(json, before, product);
      before = ",";
    }
    json.raw("]}}");
  }
  return out;
}

std::string write_list(const ListHeader& header, std::string_view items) {
  std::string out;
  {
    JsonText json(out, 256 + items.size());
    json.raw(R"({"kind":")");
    json.raw(header.kind);
    field(json, R"(List","apiVersion":)", header.api_version);
    amount(json, R"(,"metadata":{"resourceVersion":")", static_cast<std::int64_t>(header.version), R"(")");
    if (!header.continue_token.empty()) field(json, R"(,"continue":)", header.continue_token);
    json.raw(R"(},"items":[)");
    json.raw(items);
    json.raw("]}");
  }
  return out;
}

std::string write_watch_event(std::string_view type, std::string_view object) {
  std::string out;
  {
    JsonText json(out, 64 + object.size());
    field(json, R"({"type":)", type);
    json.raw(R"(,"object":)");
    json.raw(object);
    json.raw("}\n");
  }
  return out;
}

std::string write_status(int code, std::string_view message) {
  std::string out;
  {
    JsonText json(out, 256);
    json.raw(R"({"kind":"Status","apiVersion":"v1","status":)");
    json.raw(code < 400 ? R"("Success")" : R"("Failure")");
    field(json, R"(,"message":)", message);
    amount(json, R"(,"code":)", code, "}");
  }
  return out;
}

std::string write_resource_list(std::string_view group_version, std::string_view resource, std::string_view kind) {
  std::string out;
  {
    JsonText json(out, 512);
    field(json, R"({"kind":"APIResourceList","apiVersion":"v1","groupVersion":)", group_version);
    field(json, R"(,"resources":[{"name":)", resource);
    field(json, R"(,"namespaced":true,"verbs":["get","list","watch"],"kind":)", kind);
    json.raw("}]}");
  }
  return out;
}

core::Result<BindingObject> read_binding(std::string_view json) {
  try {
    const auto root = nlohmann::json::parse(json);
    BindingObject binding;
    binding.node = root.at("target").at("name").get<std::string>();
    const auto& metadata = root.at("metadata");
    binding.uid = metadata.value("uid", "");
    const auto annotations = metadata.value("annotations", nlohmann::json::object());
    for (const auto& [key, value] : annotations.items()) {
      binding.annotations.push_back({key, value.get<std::string>()});
    }
    return binding;
  } catch (const nlohmann::json::exception& error) {
    return core::fail(core::ErrorCode::kInvalid, std::string("not a Binding: ") + error.what());
  }
}

}  // namespace berth::codec
