#include "publisher.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "berth/codec/kubernetes_writes.h"
#include "berth/codec/machine_json.h"

namespace berth::agent {
namespace {

constexpr std::string_view kTopology = "berth.io/topology";
constexpr std::string_view kHolders = "berth.io/gpu-holders";

// All annotations of an object together may have 256 KiB (k8s.io/apimachinery pkg/api/validation/objectmeta.go).
constexpr std::size_t kMostAnnotationBytes = std::size_t{96} << 10U;

std::string text_of(const model::Machine& machine) { return codec::write_machine(machine); }
std::string text_of(const model::GpuHolders& holders) { return codec::write_holders(holders); }
core::Result<model::Machine> read_back(const model::Machine&, const std::string& text) {
  return codec::read_machine(text);
}
core::Result<model::GpuHolders> read_back(const model::GpuHolders&, const std::string& text) {
  return codec::read_holders(text);
}

std::string told(const model::Machine& machine) {
  const auto unhealthy = std::ranges::count(machine.gpus, false, &model::Gpu::healthy);
  return std::to_string(machine.gpus.size()) + " GPUs, " + std::to_string(unhealthy) + " of them not healthy";
}
std::string told(const model::GpuHolders& holders) { return std::to_string(holders.pods.size()) + " pods"; }

// What a reader of the annotation would make of it, with `at` left out: that is what is compared.
template <class T>
core::Result<T> as_read(const T& value) {
  const std::string text = text_of(value);
  if (text.size() > kMostAnnotationBytes) {
    return core::fail(core::ErrorCode::kTooLarge, "would take " + std::to_string(text.size()) + " bytes, more than " +
                                                      std::to_string(kMostAnnotationBytes));
  }
  auto read = read_back(value, text);
  if (read) read->at = {};
  return read;
}

template <class T>
std::optional<T> without_time(const std::shared_ptr<const T>& there) {
  if (!there) return std::nullopt;
  T value = *there;
  value.at = {};
  return value;
}

template <class T>
core::Result<void> set(std::optional<T>& wanted, const T& value) {
  auto read = as_read(value);
  if (!read) return tl::unexpected(read.error());
  wanted = *std::move(read);
  return {};
}

}  // namespace

Publisher::Publisher(PublisherOptions options, kube::ApiClient* client, const core::Clock& clock)
    : options_(std::move(options)),
      client_(client),
      clock_(clock),
      reader_(model::ResourceNames{}),
      backoff_(options_.backoff_min, options_.backoff_max) {}

core::Result<void> Publisher::set_machine(const model::Machine& machine) { return set(machine_.wanted, machine); }

core::Result<void> Publisher::set_holders(const model::GpuHolders& holders) { return set(holders_.wanted, holders); }

bool Publisher::step(const net::Cancellation& cancellation) {
  if (!machine_.wanted && !holders_.wanted) return true;
  const auto now = clock_.now();
  if (now < retry_at_) return false;
  if (client_ != nullptr && (uid_.empty() || now >= check_at_) && !read_node(cancellation)) return false;
  // In this order: holders name GPUs by their place in the topology.
  if (!write(kTopology, machine_, cancellation) || !write(kHolders, holders_, cancellation)) return false;
  backoff_.reset();
  trouble_.over();
  return true;
}

core::SteadyTime Publisher::due() const {
  if (!machine_.wanted && !holders_.wanted) return core::SteadyTime::max();
  core::SteadyTime next = client_ == nullptr ? core::SteadyTime::max() : check_at_;
  if (client_ != nullptr && uid_.empty()) next = {};
  if (machine_.differs()) next = std::min(next, machine_.not_before);
  if (holders_.differs()) next = std::min(next, holders_.not_before);
  return std::max(next, retry_at_);
}

bool Publisher::read_node(const net::Cancellation& cancellation) {
  kube::CallOptions call;
  call.cancellation = &cancellation;
  auto body = client_->get("/api/v1/nodes/" + options_.node, call);
  if (!body) return failed(body.error());
  const auto node = reader_.read<model::Node>(*body);
  if (!node) return failed({node.error(), 0, std::nullopt});
  uid_ = node->uid;
  machine_.there = without_time(node->agent);
  holders_.there = without_time(node->holders);
  check_at_ = clock_.now() + std::chrono::duration_cast<std::chrono::milliseconds>(options_.check_every *
                                                                                   (0.5 + options_.random() / 2));
  return true;
}

template <class T>
bool Publisher::write(std::string_view key, Annotation<T>& annotation, const net::Cancellation& cancellation) {
  const auto now = clock_.now();
  if (!annotation.differs() || now < annotation.not_before) return true;
  T value = *annotation.wanted;
  value.at = clock_.wall();
  const std::string text = text_of(value);
  if (client_ == nullptr) {
    std::printf("%s: %s\n", std::string(key).c_str(), text.c_str());
    std::fflush(stdout);
  } else {
    kube::CallOptions call;
    call.cancellation = &cancellation;
    const auto done = client_->patch("/api/v1/nodes/" + options_.node, kube::PatchType::kMerge,
                                     codec::write_annotation_patch(uid_, key, text), call);
    if (!done) return failed(done.error());
    spdlog::info("{} of node {} now says: {}", key, options_.node, told(value));
  }
  annotation.there = annotation.wanted;
  annotation.not_before = now + options_.write_gap;
  return true;
}

bool Publisher::failed(const kube::ApiError& error) {
  if (error.code == core::ErrorCode::kCancelled) return false;
  uid_.clear();  // what is there is read again: it may have been written all the same, or be another Node
  auto wait = backoff_.next(options_.random());
  if (error.retry_after) wait = std::max<std::chrono::milliseconds>(wait, *error.retry_after);
  retry_at_ = clock_.now() + wait;
  trouble_.is(error.to_string(), "annotations of the node stay as they are");
  return false;
}

}  // namespace berth::agent
