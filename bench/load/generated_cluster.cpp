#include "generated_cluster.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace berth::bench {
std::uint64_t mixed(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15U;
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31U);
}

namespace {

struct Product {
  std::string_view name;
  std::int64_t memory_mib;
};
constexpr std::array<Product, 5> kProducts = {{{"NVIDIA-H100-80GB-HBM3", 81559},
                                               {"NVIDIA-A800-SXM4-80GB", 81920},
                                               {"NVIDIA-A100-SXM4-80GB", 81920},
                                               {"Tesla-V100-SXM2-32GB", 32768},
                                               {"NVIDIA-A100-80GB-PCIe", 81920}}};
constexpr std::size_t kDatasetCount = 300;
constexpr std::int64_t kKib = 1024;

// GPUs held by the first pods of a node, in order; the others hold none. Together 4.6 of 8 on average.
using Usage = std::array<std::int64_t, 4>;
constexpr std::array<Usage, 10> kUsages = {{{0, 0, 0, 0},
                                            {8, 0, 0, 0},
                                            {4, 0, 0, 0},
                                            {4, 4, 0, 0},
                                            {4, 2, 0, 0},
                                            {2, 1, 1, 0},
                                            {1, 0, 0, 0},
                                            {2, 2, 2, 1},
                                            {2, 2, 0, 0},
                                            {1, 1, 1, 1}}};

const Usage& usage(std::size_t node) { return kUsages[mixed(node) % kUsages.size()]; }

std::string uid_of(std::uint64_t number) {
  const std::uint64_t high = mixed(number);
  const std::uint64_t low = mixed(high);
  std::array<char, 37> text{};
  std::snprintf(text.data(), text.size(), "%08x-%04x-%04x-%04x-%012llx", static_cast<unsigned>(high >> 32U),
                static_cast<unsigned>(high >> 16U & 0xFFFFU), static_cast<unsigned>(high & 0xFFFFU),
                static_cast<unsigned>(low >> 48U), static_cast<unsigned long long>(low & 0xFFFFFFFFFFFFU));
  return text.data();
}

std::string_view phase_name(model::PodPhase phase) {
  switch (phase) {
    case model::PodPhase::kRunning:
      return "Running";
    case model::PodPhase::kSucceeded:
      return "Succeeded";
    case model::PodPhase::kFailed:
      return "Failed";
    default:
      return "Pending";
  }
}

template <class... Parts>
void append(std::string& out, const Parts&... parts) {
  (out.append(parts), ...);
}

// What all nodes have in common, rendered once.
const std::string& node_images() {
  static const std::string images = [] {
    std::string out = R"("images":[)";
    for (std::uint64_t image = 0; image < 50; ++image) {
      const std::string digest = uid_of(image) + uid_of(image + 1000);
      append(out, image == 0 ? "" : ",", R"({"names":["registry.example.com/research/training-)", std::to_string(image),
             "@sha256:", digest, R"(","registry.example.com/research/training-)", std::to_string(image), R"(:v1.)",
             std::to_string(image), R"("],"sizeBytes":)", std::to_string(8'000'000'000 + image * 7919), "}");
    }
    out += "]";
    return out;
  }();
  return images;
}

std::string_view node_conditions() {
  return R"("conditions":[{"type":"MemoryPressure","status":"False","lastHeartbeatTime":"2026-11-29T15:58:12Z",)"
         R"("lastTransitionTime":"2026-10-02T07:11:40Z","reason":"KubeletHasSufficientMemory","message":"kubelet has )"
         R"(sufficient memory available"},{"type":"DiskPressure","status":"False","lastHeartbeatTime":)"
         R"("2026-11-29T15:58:12Z","lastTransitionTime":"2026-10-02T07:11:40Z","reason":"KubeletHasNoDiskPressure",)"
         R"("message":"kubelet has no disk pressure"},{"type":"Ready","status":"True","lastHeartbeatTime":)"
         R"("2026-11-29T15:58:12Z","lastTransitionTime":"2026-10-02T07:11:40Z","reason":"KubeletReady","message":)"
         R"("kubelet is posting ready status"}],"daemonEndpoints":{"kubeletEndpoint":{"Port":10250}},"nodeInfo":)"
         R"({"architecture":"amd64","containerRuntimeVersion":"containerd://1.7.22","kernelVersion":)"
         R"("5.15.0-113-generic","kubeProxyVersion":"v1.37.2","kubeletVersion":"v1.37.2","operatingSystem":"linux",)"
         R"("osImage":"Ubuntu 22.04.5 LTS"})";
}

const std::string& node_labels() {
  static const std::string labels = [] {
    std::string out;
    for (int i = 0; i < 18; ++i)
      append(out, R"(,"feature.node.kubernetes.io/cpu-cpuid.FEATURE)", std::to_string(i), R"(":"true")");
    return out;
  }();
  return labels;
}

}  // namespace

GeneratedCluster::GeneratedCluster(std::size_t nodes, std::size_t pods_per_node, bool labelled)
    : nodes_(nodes), pods_per_node_(std::max(pods_per_node, Usage().size())), labelled_(labelled) {}

std::string GeneratedCluster::node_name(std::size_t node) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "gpu-%05zu.cn-east-1b.compute", node);  // 28 characters, as real names
  return text.data();
}

model::Node GeneratedCluster::node(std::size_t node) const {
  model::Node made;
  made.name = node_name(node);
  made.uid = uid_of(node);
  made.gpus = 8;
  made.allocatable = {{190'000, 2'096'721'828 * kKib, 1'698'757'527'368, 110}, {{"nvidia.com/gpu", made.gpus}}};
  const Product& product = kProducts[mixed(node + 77) % kProducts.size()];
  made.gpu_product = product.name;
  made.gpu_memory_mib = product.memory_mib;
  if (!labelled_) return made;
  const auto add = [&made](std::string_view dataset) {
    made.fluid_labels.push_back("fluid.io/s-" + std::string(kNamespace) + "-" + std::string(dataset));
  };
  for (std::uint64_t i = 0; i < mixed(node + 177) % 9; ++i) {
    add("corpus-" + std::to_string(mixed(node * 16 + i) % kDatasetCount));
  }
  if (node % 50 == 0) {
    add("imagenet-0");
    add("imagenet-1");
  } else if (node % 7 == 0) {
    add("imagenet-0");
  }
  std::ranges::sort(made.fluid_labels);
  const auto repeated = std::ranges::unique(made.fluid_labels);
  made.fluid_labels.erase(repeated.begin(), repeated.end());
  return made;
}

model::Pod GeneratedCluster::pod(std::size_t pod) const {
  const std::size_t node = pod / pods_per_node_;
  const std::size_t place = pod % pods_per_node_;
  const std::int64_t gpus = place < Usage().size() ? usage(node)[place] : 0;
  model::Pod made = waiting_pod("job-" + std::to_string(pod), uid_of(pod + 1'000'000'000), gpus, "");
  made.node = node_name(node);
  made.phase = model::PodPhase::kRunning;
  return made;
}

std::int64_t GeneratedCluster::used(std::size_t node) const {
  std::int64_t sum = 0;
  for (const std::int64_t gpus : usage(node)) sum += gpus;
  return sum;
}

model::Pod waiting_pod(std::string name, std::string uid, std::int64_t gpus, std::string_view datasets) {
  model::Pod made;
  made.ns = kNamespace;
  made.name = std::move(name);
  made.uid = std::move(uid);
  made.scheduler_name = "berth-scheduler";
  made.gpus = gpus;
  made.requests.basic = {4'000, 40 * kKib * kKib * kKib};
  if (gpus > 0) made.requests.scalars = {{"nvidia.com/gpu", gpus}};
  made.created = core::WallTime(std::chrono::seconds(1'795'968'000));  // 2026-11-29T16:00:00Z
  if (!datasets.empty()) made.annotations.push_back({"berth.io/datasets", std::string(datasets)});
  return made;
}

void append_node_json(std::string& out, const model::Node& node, std::string_view resource_version) {
  append(out, R"({"metadata":{"name":")", node.name, R"(","uid":")", node.uid, R"(","resourceVersion":")",
         resource_version, R"(","creationTimestamp":"2026-03-14T09:26:53Z","labels":{"kubernetes.io/hostname":")",
         node.name,
         R"(","kubernetes.io/arch":"amd64","kubernetes.io/os":"linux","topology.kubernetes.io/zone":"cn-east-1b",)"
         R"("topology.kubernetes.io/region":"cn-east-1","node.kubernetes.io/instance-type":"gn8v.48xlarge",)"
         R"("nvidia.com/gpu.present":"true","nvidia.com/gpu.count":")",
         std::to_string(node.gpus), R"(","nvidia.com/gpu.product":")", node.gpu_product,
         R"(","nvidia.com/gpu.memory":")", std::to_string(node.gpu_memory_mib), "\"", node_labels());
  for (const std::string& label : node.fluid_labels) append(out, ",\"", label, R"(":"true")");
  append(out, R"(},"annotations":{"node.alpha.kubernetes.io/ttl":"0","csi.volume.kubernetes.io/nodeid":)"
              R"("{\"disk.csi.example.com\":\"i-0f3c8a7b6d5e4f321\"}","bench.example.com/filler":")");
  out.append(1000, 'x');
  append(out,
         R"("}},"spec":{"podCIDR":"10.244.17.0/24","providerID":"cn-east-1.i-0f3c8a7b6d5e4f321","taints":[{"key":)"
         R"("nvidia.com/gpu","value":"present","effect":"NoSchedule"}]},"status":{"capacity":{"cpu":"192","memory":)"
         R"("2113400740Ki","nvidia.com/gpu":")",
         std::to_string(node.gpus),
         R"(","pods":"110"},"allocatable":{"cpu":"190","ephemeral-storage":"1698757527368","memory":"2096721828Ki",)"
         R"("nvidia.com/gpu":")",
         std::to_string(node.gpus), R"(","pods":"110"},)", node_conditions(), ",", node_images(), "}}");
}

void append_pod_json(std::string& out, const model::Pod& pod, std::string_view resource_version) {
  append(out, R"({"metadata":{"name":")", pod.name, R"(","generateName":"job-","namespace":")", pod.ns, R"(","uid":")",
         pod.uid, R"(","resourceVersion":")", resource_version,
         R"(","creationTimestamp":"2026-11-29T16:00:00Z","labels":{"app":"train","job-name":")", pod.name,
         R"("},"annotations":{)");
  for (const model::Annotation& annotation : pod.annotations) {
    append(out, "\"", annotation.key, R"(":")", annotation.value, "\",");
  }
  append(out, R"("prometheus.io/scrape":"true"},"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":")",
         pod.name, R"(","uid":"0d6f5b3e-)", pod.uid,
         R"(","controller":true,"blockOwnerDeletion":true}]},"spec":{)"
         R"("volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"imagenet"}},{"name":"shm","emptyDir":)"
         R"({"medium":"Memory","sizeLimit":"64Gi"}},{"name":"kube-api-access-x7k2p","projected":{"sources":)"
         R"([{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},{"configMap":{"name":)"
         R"("kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}}],"defaultMode":420}}],"containers":)"
         R"([{"name":"train","image":"registry.example.com/library/pytorch-train:v2.1.0","command":["torchrun",)"
         R"("--nproc-per-node=8","train.py"],"env":[{"name":"NCCL_DEBUG","value":"WARN"}],"resources":{"limits":{)"
         R"("cpu":"4","memory":"40Gi")");
  if (pod.gpus > 0) append(out, R"(,"nvidia.com/gpu":")", std::to_string(pod.gpus), "\"");
  append(out, R"(},"requests":{"cpu":"4","memory":"40Gi")");
  if (pod.gpus > 0) append(out, R"(,"nvidia.com/gpu":")", std::to_string(pod.gpus), "\"");
  append(
      out,
      R"(}},"volumeMounts":[{"name":"data","mountPath":"/data","readOnly":true},{"name":"shm","mountPath":)"
      R"("/dev/shm"}],"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File",)"
      R"("imagePullPolicy":"IfNotPresent"}],"restartPolicy":"Never","terminationGracePeriodSeconds":30,)"
      R"("dnsPolicy":"ClusterFirst","serviceAccountName":"default","serviceAccount":"default","securityContext":{},)");
  if (!pod.node.empty()) append(out, R"("nodeName":")", pod.node, "\",");
  append(out, R"("schedulerName":")", pod.scheduler_name,
         R"(","tolerations":[{"key":"nvidia.com/gpu","operator":"Exists","effect":"NoSchedule"},{"key":)"
         R"("node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}],)"
         R"("priority":0,"enableServiceLinks":true,"preemptionPolicy":"PreemptLowerPriority"},"status":{"phase":")",
         phase_name(pod.phase), "\"");
  if (!pod.nominated_node.empty()) append(out, R"(,"nominatedNodeName":")", pod.nominated_node, "\"");
  append(out, R"(,"qosClass":"Burstable"}})");
}

}  // namespace berth::bench
