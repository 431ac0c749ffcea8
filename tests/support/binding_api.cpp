#include "support/binding_api.h"

namespace berth::testing {
namespace {

using nlohmann::json;

ApiFault status(int code, const std::string& message) {
  return {code, json{{"kind", "Status"}, {"apiVersion", "v1"}, {"message", message}, {"code", code}}.dump()};
}

}  // namespace

BindingApi::BindingApi(FakeApiServer& server) : server_(server) {
  server.answer_first([this](const ApiRequest& request) { return answer(request); });
}

void BindingApi::before(Hook hook) {
  const std::lock_guard lock(mutex_);
  before_ = std::move(hook);
}

void BindingApi::after(Hook hook) {
  const std::lock_guard lock(mutex_);
  after_ = std::move(hook);
}

std::optional<ApiFault> BindingApi::answer(const ApiRequest& request) {
  const std::string start = "/api/v1/namespaces/";
  if (!request.path.starts_with(start)) return std::nullopt;
  const std::string rest = request.path.substr(start.size());
  const auto pods = rest.find("/pods/");
  if (pods == std::string::npos) return std::nullopt;
  const std::string ns = rest.substr(0, pods);
  const std::string tail = rest.substr(pods + 6);
  const auto slash = tail.find('/');
  const std::string key = ns + "/" + tail.substr(0, slash);
  if (request.method == "GET" && slash == std::string::npos) {
    const auto pod = server_.find(kPodsPath, key);
    return pod ? ApiFault{200, pod->dump()} : status(404, "pods \"" + key + "\" not found");
  }
  if (request.method != "POST" || slash == std::string::npos || tail.substr(slash) != "/binding") return std::nullopt;
  Hook first;
  Hook last;
  {
    const std::lock_guard lock(mutex_);
    first = before_;
    last = after_;
  }
  if (first) {
    if (auto instead = first(key)) return instead;
  }
  const ApiFault done = bind(key, request);
  if (last) {
    if (auto instead = last(key)) return instead;
  }
  return done;
}

ApiFault BindingApi::bind(const std::string& key, const ApiRequest& request) {
  const std::lock_guard lock(mutex_);
  const json binding = json::parse(request.body);
  auto pod = server_.find(kPodsPath, key);
  if (!pod) return status(404, "pods \"" + key + "\" not found");
  const auto& metadata = binding.at("metadata");
  const std::string conflict = "Operation cannot be fulfilled on pods/binding \"" + key + "\": ";
  if (metadata.contains("uid") && metadata["uid"] != (*pod)["metadata"]["uid"]) {
    return status(409, conflict + "Precondition failed: UID in precondition differs");
  }
  if ((*pod)["metadata"].contains("deletionTimestamp")) {
    return status(409, conflict + "pod is being deleted, cannot be assigned to a host");
  }
  if (pod->at("spec").contains("nodeName")) {
    return status(409, conflict + "pod " + key + " is already assigned to node \"" +
                           pod->at("spec").at("nodeName").get<std::string>() + "\"");
  }
  (*pod)["spec"]["nodeName"] = binding.at("target").at("name");
  const json annotations = metadata.value("annotations", json::object());
  for (const auto& [name, value] : annotations.items()) {
    (*pod)["metadata"]["annotations"][name] = value;
  }
  server_.put(kPodsPath, *pod);
  return {201, R"({"kind":"Status","apiVersion":"v1","status":"Success","code":201})"};
}

}  // namespace berth::testing
