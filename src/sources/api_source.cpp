#include "berth/sources/api_source.h"

#include <algorithm>
#include <utility>

#include "first_lists.h"
#include "group_watches.h"
#include "object_kinds.h"
#include "object_target.h"
#include "served_groups.h"
#include "watch_status.h"

namespace berth::sources {
namespace {

constexpr const char* kNodes = "nodes";
constexpr const char* kPods = "pods";
constexpr const char* kClaims = "persistentvolumeclaims";

kube::ReflectorOptions options_for(kube::ReflectorOptions options, const std::string& resource, std::size_t page_size) {
  options.name = resource;
  options.path = "/api/v1/" + resource;
  options.page_size = page_size;
  return options;
}

}  // namespace

struct ApiSource::State {
  State(std::unique_ptr<kube::ApiClient> with, model::UpdateSink& sink, const ApiSourceOptions& options,
        const core::Clock& clock)
      : client(std::move(with)),
        first_lists(sink, options.data_wait, [this] { return why_not_ready(); }),
        node_target({}, options.resources, sink, noting(FirstLists::What::kNodes)),
        pod_target({}, options.resources, sink, noting(FirstLists::What::kPods)),
        claim_target({}, options.resources, sink, noting(FirstLists::What::kClaims)),
        nodes(*client, node_target, options_for(options.reflector, kNodes, options.node_page_size), clock),
        pods(*client, pod_target, options_for(options.reflector, kPods, options.pod_page_size), clock),
        claims(*client, claim_target, options_for(options.reflector, kClaims, options.object_page_size), clock),
        groups(*client, sink, served_groups(options, sink, first_lists), options, clock) {}

  ListHooks noting(FirstLists::What what) {
    return {.after = [this, what] { first_lists.note(what); }};
  }
  [[nodiscard]] std::vector<WatchStatus> statuses() const {
    std::vector<WatchStatus> all{status_of(kNodes, nodes.status()), status_of(kPods, pods.status()),
                                 status_of(kClaims, claims.status())};
    groups.add_status(all);
    return all;
  }
  [[nodiscard]] std::string why_not_ready() const {
    std::string why;
    for (const WatchStatus& status : statuses()) {
      const std::string part = trouble(status);
      why += (why.empty() || part.empty() ? "" : "; ") + part;
    }
    return why;
  }

  std::unique_ptr<kube::ApiClient> client;
  FirstLists first_lists;
  ObjectTarget<NodeKind> node_target;
  ObjectTarget<PodKind> pod_target;
  ObjectTarget<ClaimKind> claim_target;
  kube::Reflector nodes;
  kube::Reflector pods;
  kube::Reflector claims;
  GroupWatches groups;
};

ApiSource::ApiSource(std::unique_ptr<kube::ApiClient> client, model::UpdateSink& sink, const ApiSourceOptions& options,
                     const core::Clock& clock)
    : state_(std::make_unique<State>(std::move(client), sink, options, clock)) {}

ApiSource::~ApiSource() { stop(); }

core::Result<void> ApiSource::start() {
  state_->first_lists.start();
  state_->nodes.start();
  state_->pods.start();
  state_->claims.start();
  state_->groups.start();
  return {};
}

void ApiSource::stop() {
  state_->groups.stop();
  state_->nodes.stop();
  state_->pods.stop();
  state_->claims.stop();
  state_->first_lists.stop();
}

bool ApiSource::synced() const {
  return state_->nodes.status().synced && state_->pods.status().synced && state_->first_lists.told();
}

bool ApiSource::connected() const {
  const auto all = state_->statuses();
  return std::all_of(all.begin(), all.end(), [](const WatchStatus& status) { return status.counters.connected; });
}

std::string ApiSource::why_not_ready() const { return state_->why_not_ready(); }

std::vector<SourceCounters> ApiSource::counters() const {
  std::vector<SourceCounters> all;
  for (WatchStatus& status : state_->statuses()) all.push_back(std::move(status.counters));
  return all;
}

}  // namespace berth::sources
