#include "berth/codec/bind.h"

#include <simdjson.h>

#include "berth/core/text.h"
#include "json_document.h"
#include "json_fields.h"
#include "json_text.h"

namespace berth::codec {
namespace {

// API servers write UUIDs; static pods have a hash.
constexpr std::size_t kLongestUid = 128;

std::string name(const Field& field, Reading& reading) {
  const std::string_view value = text(field, reading);
  if (!field.given) {
    reading.fail("is missing or null", field.name);
  } else if (!core::is_name(value) || value.front() == '.' || value.back() == '.') {
    // It becomes part of a path, where ".." would mean something.
    reading.fail("is not a name", field.name);
  }
  return std::string(value);
}

}  // namespace

core::Result<BindRequest> read_bind_request(std::string& body) {
  JsonDocument document;
  const auto root = document.parse(body);
  if (!root) return tl::unexpected(root.error());
  simdjson::dom::object args;
  if (root->get(args) != simdjson::SUCCESS) {
    return core::fail(core::ErrorCode::kInvalid, "the body " + wrong_type("an object", *root));
  }
  Reading reading;
  const auto [pod, ns, uid, node] =
      pick<4>(args, {std::string_view("PodName"), "PodNamespace", "PodUID", "Node"}, reading, KeyCase::kAny);
  BindRequest request;
  request.pod = name(pod, reading);
  request.ns = name(ns, reading);
  request.node = name(node, reading);
  request.uid = text(uid, reading);
  if (request.uid.size() > kLongestUid) reading.fail("is too long", uid.name);
  if (reading.failed()) return tl::unexpected(reading.error());
  return request;
}

void write_bind_answer(std::string& out, std::string_view error) {
  JsonText json(out, 16 + error.size());
  json.raw(R"({"Error":)");
  json.string(error);
  json.raw("}");
}

std::string write_binding(const BindRequest& binding, const std::vector<model::Annotation>& annotations) {
  std::string out;
  {
    JsonText json(out, 512);
    json.raw(R"({"apiVersion":"v1","kind":"Binding","metadata":{"namespace":)");
    json.string(binding.ns);
    json.raw(R"(,"name":)");
    json.string(binding.pod);
    if (!binding.uid.empty()) {
      json.raw(R"(,"uid":)");
      json.string(binding.uid);
    }
    std::string_view before = R"(,"annotations":{)";
    for (const model::Annotation& annotation : annotations) {
      json.raw(before);
      json.string(annotation.key);
      json.raw(":");
      json.string(annotation.value);
      before = ",";
    }
    json.raw(annotations.empty() ? "}" : "}}");
    json.raw(R"(,"target":{"apiVersion":"v1","kind":"Node","name":)");
    json.string(binding.node);
    json.raw("}}");
  }
  return out;
}

std::string_view assigned_node(std::string_view message) {
  // assignPod() of k8s.io/kubernetes pkg/registry/core/pod/storage/storage.go.
  constexpr std::string_view kBefore = "is already assigned to node \"";
  const auto at = message.find(kBefore);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = message.substr(at + kBefore.size());
  const auto end = rest.find('"');
  const std::string_view node = end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
  return core::is_name(node) ? node : std::string_view();
}

}  // namespace berth::codec
