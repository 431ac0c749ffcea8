#include "berth/sources/api_source.h"

#include <utility>

#include "object_target.h"

namespace berth::sources {
namespace {

kube::ReflectorOptions options_for(kube::ReflectorOptions options, const std::string& resource, std::size_t page_size) {
  options.name = resource;
  options.path = "/api/v1/" + resource;
  options.page_size = page_size;
  return options;
}

SourceCounters counters_of(const std::string& resource, const kube::ReflectorStatus& status) {
  return {.resource = resource,
          .connected = status.connected,
          .lists = status.lists,
          .watches = status.watches,
          .events = status.events,
          .restarts = status.restarts,
          .gone = status.gone,
          .failures = status.failures,
          .broken_objects = status.broken_objects + status.broken_lines,
          .last_event = status.last_event};
}

// Empty if all is well.
std::string trouble(const std::string& resource, const kube::ReflectorStatus& status) {
  if (status.synced && status.connected) return {};
  const std::string state = status.synced ? "out of date" : "not listed yet";
  return resource + ": " + state + (status.last_error.empty() ? "" : " (" + status.last_error + ")");
}

}  // namespace

struct ApiSource::State {
  State(std::unique_ptr<kube::ApiClient> with, model::UpdateSink& sink, const ApiSourceOptions& options,
        const core::Clock& clock)
      : client(std::move(with)),
        node_target(options.resources, sink),
        pod_target(options.resources, sink),
        nodes(*client, node_target, options_for(options.reflector, "nodes", options.node_page_size), clock),
        pods(*client, pod_target, options_for(options.reflector, "pods", options.pod_page_size), clock) {}

  std::unique_ptr<kube::ApiClient> client;
  ObjectTarget<NodeKind> node_target;
  ObjectTarget<PodKind> pod_target;
  kube::Reflector nodes;
  kube::Reflector pods;
};

ApiSource::ApiSource(std::unique_ptr<kube::ApiClient> client, model::UpdateSink& sink, const ApiSourceOptions& options,
                     const core::Clock& clock)
    : state_(std::make_unique<State>(std::move(client), sink, options, clock)) {}

ApiSource::~ApiSource() = default;

core::Result<void> ApiSource::start() {
  state_->nodes.start();
  state_->pods.start();
  return {};
}

void ApiSource::stop() {
  state_->nodes.stop();
  state_->pods.stop();
}

bool ApiSource::synced() const { return state_->nodes.status().synced && state_->pods.status().synced; }

bool ApiSource::connected() const { return state_->nodes.status().connected && state_->pods.status().connected; }

std::string ApiSource::why_not_ready() const {
  const std::string nodes = trouble("nodes", state_->nodes.status());
  const std::string pods = trouble("pods", state_->pods.status());
  return nodes + (nodes.empty() || pods.empty() ? "" : "; ") + pods;
}

std::vector<SourceCounters> ApiSource::counters() const {
  return {counters_of("nodes", state_->nodes.status()), counters_of("pods", state_->pods.status())};
}

}  // namespace berth::sources
