#include "berth/control/binder.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "berth/codec/kubernetes_objects.h"
#include "berth/net/thread.h"
#include "bind_annotations.h"

namespace berth::control {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSweepBookEvery{1'000};
constexpr std::size_t kMostBindAnswerBytes = std::size_t{4} << 20U;

std::string path_of(const codec::BindRequest& request) {
  return "/api/v1/namespaces/" + request.ns + "/pods/" + request.pod;
}

// Whether a refusal is about this pod on this node: not about who we are, nor about how busy the API server is.
bool says_of_placement(const kube::ApiError& error) {
  if (error.status == 403) return error.message.find("cannot create resource") == std::string::npos;
  return error.status == 400 || error.status == 422;
}

}  // namespace

std::string_view to_string(BindResult result) {
  switch (result) {
    case BindResult::kBound:
      return "bound";
    case BindResult::kAlready:
      return "already";
    case BindResult::kRefused:
      return "refused";
    case BindResult::kElsewhere:
      return "elsewhere";
    case BindResult::kGone:
      return "gone";
    case BindResult::kDenied:
      return "denied";
    case BindResult::kFailed:
      return "failed";
    case BindResult::kUnanswered:
      return "unanswered";
  }
  return "";
}

Binder::Binder(BinderOptions options, kube::ApiClient& client, const core::SnapshotCell<model::Snapshot>& snapshots,
               model::UpdateSink& state, const WaitingPods& waiting, FindRequest find, const core::Clock& clock)
    : options_(std::move(options)),
      client_(client),
      snapshots_(snapshots),
      state_(state),
      waiting_(waiting),
      find_(std::move(find)),
      clock_(clock),
      book_(snapshots, state, options_.settings, clock) {}

Binder::~Binder() { stop(); }

void Binder::start() {
  if (thread_.joinable()) return;
  thread_ = net::start_thread("bind book", [this] {
    while (!stopping_.wait_for(kSweepBookEvery)) book_.sweep();
  });
}

void Binder::stop() {
  stopping_.cancel();
  if (thread_.joinable()) thread_.join();
}

// One deadline for all calls of a Bind together: kube-scheduler waits for them all.
kube::ApiResult<std::string> Binder::call(BindOutcome& outcome, const Call& what) {
  kube::CallOptions options;
  options.deadline = options_.timeout - std::chrono::floor<milliseconds>(outcome.api);
  options.max_response_bytes = kMostBindAnswerBytes;
  if (options.deadline <= milliseconds(0)) {
    return tl::unexpected(kube::ApiError{
        {core::ErrorCode::kTimeout, "no time is left of " + std::to_string(options_.timeout.count()) + " ms", {}},
        0,
        std::nullopt});
  }
  const auto began = clock_.now();
  auto result = what(options);
  outcome.api += clock_.now() - began;
  return result;
}

core::Result<model::PodRequest> Binder::request_of(const codec::BindRequest& request, BindOutcome& outcome) {
  if (find_) {
    if (auto known = find_(request)) return *std::move(known);
  }
  model::PodRequest made;
  if (const auto waiting = waiting_.find(request.uid)) {
    made = model::make_request(*waiting, options_.defaults);
  } else if (waiting_.is_of_others(request.uid)) {
    return made;
  } else {
    // Filter was asked before this Berth began, and the watch has not shown the pod yet.
    auto body = call(outcome, [&](const kube::CallOptions& options) { return client_.get(path_of(request), options); });
    if (!body) return tl::unexpected(static_cast<core::Error>(std::move(body.error())));
    auto pod = codec::ObjectReader(options_.resources).read<model::Pod>(*body);
    if (!pod) return tl::unexpected(std::move(pod.error()));
    if (!request.uid.empty() && pod->uid != request.uid) {
      return core::fail(core::ErrorCode::kNotFound, "another pod has its name now");
    }
    made = model::make_request(*pod, options_.defaults);
  }
  const auto snapshot = snapshots_.load();
  model::resolve_claims(made, *snapshot);
  model::apply_policy(made, *snapshot, options_.defaults);
  return made;
}

Binder::Answer Binder::answer_of(const codec::BindRequest& request, const kube::ApiResult<std::string>& result,
                                 BindOutcome& outcome) {
  if (result) return {BindResult::kBound, {}};
  const kube::ApiError& error = result.error();
  const std::string text = error.to_string();
  switch (error.status) {
    case 0:
      return {BindResult::kUnanswered, text};
    case 404:
      return {BindResult::kGone, text};
    case 409:
      break;
    case 401:
    case 403:
      return {BindResult::kDenied, text};
    case 408:
      return {BindResult::kUnanswered, text};
    case 429:
      return {BindResult::kFailed, text};
    default:
      // A gateway in between may have lost the answer.
      return {error.status >= 500 ? BindResult::kUnanswered : BindResult::kDenied, text};
  }
  std::string node(codec::assigned_node(error.message));
  if (node.empty()) {
    auto body = call(outcome, [&](const kube::CallOptions& options) { return client_.get(path_of(request), options); });
    // It may be this node that the pod is bound to.
    if (!body) return {body.error().status == 404 ? BindResult::kGone : BindResult::kUnanswered, text};
    const auto pod = codec::ObjectReader(options_.resources).read<model::Pod>(*body);
    if (!pod) return {BindResult::kUnanswered, text};
    if ((!request.uid.empty() && pod->uid != request.uid) || pod->deleting) return {BindResult::kGone, text};
    if (pod->node.empty()) return {BindResult::kFailed, text};
    node = pod->node;
  }
  if (node == request.node) return {BindResult::kAlready, {}};
  return {BindResult::kElsewhere, text};
}

void Binder::settle(const codec::BindRequest& request, const model::PodRequest& pod,
                    const kube::ApiResult<std::string>& told, BindResult result) {
  switch (result) {
    case BindResult::kBound:
    case BindResult::kAlready:
      spdlog::debug("bound {}/{} to {}", request.ns, request.pod, request.node);
      return book_.bound(request.uid, request.node);
    case BindResult::kUnanswered:
      spdlog::warn(
          "binding {}/{} to {}: {}; its GPUs stay promised until the pod is seen bound, for 30 seconds at most",
          request.ns, request.pod, request.node, told.error().to_string());
      return book_.unanswered(request.uid, request.node);
    default:
      break;
  }
  book_.failed(request.uid, request.node);
  spdlog::warn("binding {}/{} to {}: {}", request.ns, request.pod, request.node, told.error().to_string());
  if (says_of_placement(told.error())) state_.push(model::PlacementFailed{request.node, pod.owner});
}

BindOutcome Binder::bind(const codec::BindRequest& asked) {
  BindOutcome outcome;
  const auto pod = request_of(asked, outcome);
  if (!pod) {
    outcome.result = pod.error().code == core::ErrorCode::kNotFound ? BindResult::kGone : BindResult::kFailed;
    outcome.error = "berth does not know the pod, and could not ask for it: " + pod.error().to_string();
    return outcome;
  }
  codec::BindRequest request = asked;
  if (request.uid.empty()) request.uid = pod->uid;
  std::vector<model::Annotation> annotations;
  if (pod->ours()) {
    if (const auto snapshot = snapshots_.load(); !snapshot->ready) {
      outcome.result = BindResult::kFailed;
      outcome.error = "berth is not ready: " + snapshot->not_ready_why;
      return outcome;
    }
    const policy::BindVerdict verdict = book_.give(*pod, request.node);
    if (verdict.reason != model::Reason::kNone) {
      outcome.result = BindResult::kRefused;
      outcome.error = "the node can't take the pod any more: " + std::string(model::to_string(verdict.reason));
      spdlog::info("not binding {}/{} to {}: {}", request.ns, request.pod, request.node,
                   model::to_string(verdict.reason));
      return outcome;
    }
    outcome.placement = verdict.placement;
    const auto snapshot = snapshots_.load();
    const model::Slot slot = snapshot->find(request.node);
    annotations =
        bind_annotations(*pod, verdict.placement, request.node, slot == model::kNoSlot ? nullptr : &snapshot->at(slot),
                         options_.hami_annotations, clock_.wall());
  }
  const auto told = call(outcome, [&](const kube::CallOptions& options) {
    return client_.post(path_of(request) + "/binding", codec::write_binding(request, annotations), options);
  });
  Answer answer = answer_of(request, told, outcome);
  settle(request, *pod, told, answer.result);
  outcome.result = answer.result;
  outcome.error = std::move(answer.error);
  return outcome;
}

}  // namespace berth::control
