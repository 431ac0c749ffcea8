#include "played_api.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

#include "berth/codec/machine_json.h"
#include "berth/model/gpu_set.h"
#include "berth/simulate/chooser.h"

namespace berth::rehearse {
namespace {

using kube::ServedAnswer;

enum : std::size_t { kNodes, kPods, kClaims, kPolicies };
constexpr std::string_view kPolicyGroup = "/apis/berth.io/v1alpha1";
constexpr std::string_view kPodsOfNamespace = "/api/v1/namespaces/simulated/pods/";
constexpr std::string_view kEvents = "/api/v1/namespaces/simulated/events";
constexpr std::uint64_t kFirstVersion = 1000;

// The collections in the order of the enumeration.
std::vector<std::string> collections() {
  return {"/api/v1/nodes", "/api/v1/pods", "/api/v1/persistentvolumeclaims",
          std::string(kPolicyGroup) + "/schedulingpolicies"};
}

// As `berth agent` would tell of it.
std::string topology_of(const simulate::TraceNode& node, const std::string& product, bool islands) {
  model::Machine machine;
  model::Gpu gpu;
  gpu.product = product;
  machine.gpus.assign(static_cast<std::size_t>(node.gpus), gpu);
  machine.links = model::LinkMatrix::uniform(node.gpus, model::Link::kSys);
  const int island = islands ? simulate::island_size({.gpus = node.gpus}) : 1;
  for (int a = 0; a < node.gpus; ++a) {
    for (int b = a + 1; b < node.gpus; ++b) {
      if (island > 1 && a / island == b / island) machine.links->set(a, b, model::nvlink(12));
    }
  }
  return codec::write_machine(machine);
}

ServedAnswer status(int code, const std::string& message) { return {code, codec::write_status(code, message)}; }

// One page of what does not change.
ServedAnswer page_of(std::span<const std::string> objects, codec::ListHeader header, std::string_view target) {
  const std::size_t from = std::min<std::size_t>(kube::query_number(target, "continue", 0), objects.size());
  const std::size_t limit = kube::query_number(target, "limit", objects.size());
  const std::size_t to = from + std::min(limit == 0 ? objects.size() : limit, objects.size() - from);
  std::string items;
  for (const std::string& object : objects.subspan(from, to - from)) {
    if (!items.empty()) items += ',';
    items += object;
  }
  if (to < objects.size()) header.continue_token = std::to_string(to);
  return {200, codec::write_list(header, items)};
}

// Of a name that is one of ours.
std::size_t arrival_of(std::string_view name) {
  std::size_t arrival = 0;
  const std::string_view digits = name.substr(std::min(name.find('-') + 1, name.size()));
  std::from_chars(digits.data(), digits.data() + digits.size(), arrival);
  return arrival;
}

}  // namespace

std::string pod_name(std::size_t arrival) { return "task-" + std::to_string(arrival); }
std::string pod_uid(std::size_t arrival) { return "uid-task-" + std::to_string(arrival); }

PlayedApi::PlayedApi(const simulate::Workload& workload, bool islands)
    : workload_(workload),
      version_(kFirstVersion),
      server_(collections(), [this](const kube::ServedRequest& request) { return answer(request); }) {
  for (const simulate::TraceNode& node : workload.nodes) {
    const std::string& product = workload.products[node.product];
    nodes_.push_back(codec::write_node({.name = node.name,
                                        .cpu_milli = node.cpu_milli,
                                        .memory_mib = node.memory_mib,
                                        .gpus = node.gpus,
                                        .gpu_milli = std::int64_t{node.gpus} * model::kWholeMilli,
                                        .gpu_product = product,
                                        .topology = topology_of(node, product, islands)},
                                       kFirstVersion));
  }
  std::map<std::vector<std::string>, std::string> names;
  for (const simulate::Kind& kind : workload.kinds) {
    const auto& products = kind.request.products;
    std::string& name = names[products];
    if (!products.empty() && name.empty()) {
      name = "products-" + std::to_string(names.size());
      policies_.push_back(codec::write_product_policy(kNamespace, name, products, kFirstVersion));
    }
    policy_of_kind_.push_back(name);
  }
}

std::string PlayedApi::add(std::size_t arrival, const simulate::Task& task) {
  const model::RequestClass& request = workload_.kinds[task.kind].request;
  codec::PodObject pod{.ns = std::string(kNamespace),
                       .name = pod_name(arrival),
                       .uid = pod_uid(arrival),
                       .scheduler = "berth-scheduler",
                       .annotations = {},
                       .created = core::SystemClock().wall(),
                       .cpu_milli = request.cpu_milli,
                       .memory_mib = task.memory_mib,
                       .gpus = request.whole() ? request.gpus : 0,
                       .gpu_milli = request.whole() ? 0 : request.milli,
                       .node = {}};
  if (const std::string& policy = policy_of_kind_[task.kind]; !policy.empty()) {
    pod.annotations.push_back({"berth.io/scheduling-policy", policy});
  }
  const std::lock_guard lock(mutex_);
  publish("ADDED", pod);
  std::string json = codec::write_pod(pod, version_);
  pods_.emplace(arrival, std::move(pod));
  return json;
}

void PlayedApi::remove(std::size_t arrival) {
  const std::lock_guard lock(mutex_);
  const auto found = pods_.find(arrival);
  if (found == pods_.end()) return;
  publish("DELETED", found->second);
  pods_.erase(found);
}

std::optional<codec::PodObject> PlayedApi::pod(std::size_t arrival) const {
  const std::lock_guard lock(mutex_);
  const auto found = pods_.find(arrival);
  if (found == pods_.end()) return std::nullopt;
  return found->second;
}

void PlayedApi::publish(std::string_view type, const codec::PodObject& pod) {
  ++version_;
  server_.publish(kPods, version_, codec::write_watch_event(type, codec::write_pod(pod, version_)));
}

ServedAnswer PlayedApi::answer(const kube::ServedRequest& request) {
  const std::string_view path = request.path;
  if (request.method == "POST" && path == kEvents) return {201, std::string(request.body)};
  if (path.starts_with(kPodsOfNamespace)) return answer_pod(request, path.substr(kPodsOfNamespace.size()));
  if (request.method != "GET") return status(404, "this API server has no such resource");
  if (path == kPolicyGroup && !policies_.empty()) {
    return {200, codec::write_resource_list("berth.io/v1alpha1", "schedulingpolicies", "SchedulingPolicy")};
  }
  const auto known = collections();
  switch (std::ranges::find(known, path) - known.begin()) {
    case kNodes:
      return page_of(nodes_, {"Node", "v1", kFirstVersion}, request.target);
    case kPods:
      return {200, list_pods(request.target)};
    case kClaims:
      return page_of({}, {"PersistentVolumeClaim", "v1", kFirstVersion}, request.target);
    case kPolicies:
      return page_of(policies_, {"SchedulingPolicy", "berth.io/v1alpha1", kFirstVersion}, request.target);
    default:
      return status(404, "this API server has no such resource");
  }
}

// The token of a page is the version of the first one and the number of the last pod: what changes in between is told
// by a watch from that version.
std::string PlayedApi::list_pods(std::string_view target) const {
  const std::lock_guard lock(mutex_);
  const std::string_view token = kube::query_parameter(target, "continue");
  std::uint64_t version = version_;
  std::size_t last = 0;
  const std::size_t dot = token.find('.');
  const bool goes_on = dot != std::string_view::npos;
  if (goes_on) {
    std::from_chars(token.data(), token.data() + dot, version);
    std::from_chars(token.data() + dot + 1, token.data() + token.size(), last);
  }
  std::size_t left = kube::query_number(target, "limit", 0);
  if (left == 0) left = pods_.size();
  std::string items;
  codec::ListHeader header{"Pod", "v1", version};
  for (auto at = goes_on ? pods_.upper_bound(last) : pods_.begin(); at != pods_.end(); ++at) {
    if (left-- == 0) {
      header.continue_token = std::to_string(version) + "." + std::to_string(last);
      break;
    }
    if (!items.empty()) items += ',';
    items += codec::write_pod(at->second, version);
    last = at->first;
  }
  return codec::write_list(header, items);
}

// `rest` is what follows ".../pods/".
ServedAnswer PlayedApi::answer_pod(const kube::ServedRequest& request, std::string_view rest) {
  const std::string_view name = rest.substr(0, std::min(rest.find('/'), rest.size()));
  const std::string_view below = rest.substr(name.size());
  const std::lock_guard lock(mutex_);
  const auto found = pods_.find(arrival_of(name));
  if (found == pods_.end() || found->second.name != name)
    return status(404, "pods \"" + std::string(name) + "\" not found");
  codec::PodObject& pod = found->second;
  if (request.method == "POST" && below == "/binding") return bind(pod, request.body);
  // A patch would wake a pod that was rejected; those are deleted.
  if (below.empty() && (request.method == "GET" || request.method == "PATCH")) {
    return {200, codec::write_pod(pod, version_)};
  }
  return status(404, "this API server has no such resource");
}

// assignPod() of k8s.io/kubernetes pkg/registry/core/pod/storage/storage.go.
ServedAnswer PlayedApi::bind(codec::PodObject& pod, std::string_view body) {
  const auto binding = codec::read_binding(body);
  if (!binding) return status(400, binding.error().to_string());
  const std::string conflict = "Operation cannot be fulfilled on pods/binding \"" + pod.name + "\": ";
  if (!binding->uid.empty() && binding->uid != pod.uid) {
    return status(409, conflict + "Precondition failed: UID in precondition differs");
  }
  if (!pod.node.empty()) {
    return status(409, conflict + "pod " + pod.name + " is already assigned to node \"" + pod.node + "\"");
  }
  pod.node = binding->node;
  for (const model::Annotation& annotation : binding->annotations) {
    std::erase_if(pod.annotations, [&](const auto& old) { return old.key == annotation.key; });
    pod.annotations.push_back(annotation);
  }
  publish("MODIFIED", pod);
  return status(201, "");
}

}  // namespace berth::rehearse
