#include "berth/control/binder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "berth/model/placement_text.h"
#include "support/binding_api.h"
#include "support/gate.h"
#include "unit/state/cluster.h"

namespace berth::control {
namespace {

using model::GpuMask;
using nlohmann::json;
using testing::ApiFault;
using testing::BindingApi;
using testing::FakeApiServer;
using testing::kPodsPath;
using testing::make_pod;

ApiFault refusal(int code, const std::string& message) {
  return {code, json{{"kind", "Status"}, {"apiVersion", "v1"}, {"message", message}, {"code", code}}.dump()};
}

// A state that a watch would fill, an API server that binds, and the pods of namespace "ns" as both know them.
class Binders : public ::testing::Test {
 protected:
  void SetUp() override {
    cluster_.tell(model::AllNodes{{state::node("a"), state::node("b")}}, model::AllPods{});
    make_binder({});
  }
  void make_binder(BinderOptions options) {
    binder_ = nullptr;
    auto client = kube::ApiClient::create({.server = server_.url()}, clock_);
    ASSERT_TRUE(client) << client.error().to_string();
    client_ = *std::move(client);
    binder_ = std::make_unique<Binder>(std::move(options), *client_, cluster_.state.snapshots(), cluster_.state,
                                       waiting_, nullptr, clock_);
  }

  // A pod that waits, known to all.
  void add(const std::string& name, int gpus, const std::string& owner = {}) {
    json object = make_pod("ns", name, gpus);
    server_.put(kPodsPath, object);
    model::Pod pod = known(name, gpus);
    pod.owner = owner;
    waiting_.push(model::PodSet{pod});
  }
  static model::Pod known(const std::string& name, int gpus) {
    model::Pod pod = state::pod(name, gpus);
    pod.uid = "uid-" + name;
    return pod;
  }
  // As the watch does it.
  void show_bound(const std::string& name, int gpus) {
    model::Pod pod = known(name, gpus);
    pod.node = node_of(name);
    pod.phase = model::PodPhase::kRunning;
    if (const std::string gpus_text = annotation(name, "berth.io/gpus"); !gpus_text.empty()) {
      pod.annotations.push_back({"berth.io/gpus", gpus_text});
    }
    waiting_.push(model::PodSet{pod});
    cluster_.state.step();
  }
  BindOutcome bind(const std::string& name, const std::string& node = "a") {
    return binder_->bind({"ns", name, "uid-" + name, node});
  }
  [[nodiscard]] std::string node_of(const std::string& name) const {
    return server_.find(kPodsPath, "ns/" + name)->at("spec").value("nodeName", "");
  }
  [[nodiscard]] std::string annotation(const std::string& name, const std::string& key) const {
    const auto pod = server_.find(kPodsPath, "ns/" + name);
    return pod->at("metadata").value("annotations", json::object()).value(key, "");
  }
  float failures(const std::string& node) {
    cluster_.state.step();
    return cluster_.at(node).failures;
  }

  core::SystemClock clock_;
  FakeApiServer server_;
  BindingApi api_{server_};
  state::Cluster cluster_;
  WaitingPods waiting_{cluster_.state};
  std::unique_ptr<kube::ApiClient> client_;
  std::unique_ptr<Binder> binder_;
};

TEST_F(Binders, WritesWhichGpusInTheBindingItself) {
  add("p", 2);
  const BindOutcome outcome = bind("p");
  EXPECT_EQ(outcome.result, BindResult::kBound);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(node_of("p"), "a");
  EXPECT_EQ(annotation("p", "berth.io/gpus"), model::write_gpu_list(outcome.placement.gpus));
  // One call, no patch beside it: kubernetes#52914.
  std::size_t writes = 0;
  for (const auto& request : server_.requests()) writes += request.method == "GET" ? 0 : 1;
  EXPECT_EQ(writes, 1U);
}

// HAMi#2232, KAI-Scheduler#2153, volcano#3616. 100 pods of one GPU for 16: 16 are bound, each with a GPU of its own.
TEST_F(Binders, HundredAtOnceNeverShareAGpu) {
  constexpr int kPods = 100;
  for (int i = 0; i < kPods; ++i) add("p" + std::to_string(i), 1);
  cluster_.state.start();
  std::vector<BindOutcome> outcomes(kPods);
  std::vector<std::thread> threads;
  for (int i = 0; i < kPods; ++i) {
    threads.emplace_back([&, i] { outcomes[i] = bind("p" + std::to_string(i), i % 2 == 0 ? "a" : "b"); });
  }
  for (std::thread& thread : threads) thread.join();
  cluster_.state.stop();
  std::map<std::string, GpuMask> taken;
  int bound = 0;
  for (int i = 0; i < kPods; ++i) {
    const std::string name = "p" + std::to_string(i);
    if (node_of(name).empty()) {
      EXPECT_EQ(outcomes[i].error, "the node can't take the pod any more: RESERVED");
      continue;
    }
    ++bound;
    const auto set = model::parse_gpu_list(annotation(name, "berth.io/gpus"));
    ASSERT_TRUE(set);
    EXPECT_EQ(taken[node_of(name)] & *set, 0U);
    taken[node_of(name)] |= *set;
  }
  EXPECT_EQ(bound, 16);
}

// HAMi#374, HAMi#1367: a lock on the node that is held while the API server is asked.
TEST_F(Binders, StalledApiCallOfOnePodHoldsNoOtherUp) {
  testing::Gate stall;
  api_.before([&](const std::string& pod) -> std::optional<ApiFault> {
    if (pod == "ns/slow") stall.wait();
    return std::nullopt;
  });
  add("slow", 4);
  add("quick", 4);
  BindOutcome slow;
  std::thread stalled([&] { slow = bind("slow"); });
  ASSERT_TRUE(server_.wait_for_requests("/api/v1/namespaces/ns/pods/slow/binding", false, 1));
  EXPECT_EQ(bind("quick").result, BindResult::kBound);
  stall.open();
  stalled.join();
  EXPECT_EQ(slow.result, BindResult::kBound);
  EXPECT_NE(annotation("slow", "berth.io/gpus"), annotation("quick", "berth.io/gpus"));
}

TEST_F(Binders, BoundToThatNodeAlreadyIsSuccess) {
  add("p", 2);
  const BindOutcome first = bind("p");
  const BindOutcome again = bind("p");
  EXPECT_EQ(again.result, BindResult::kAlready);
  EXPECT_EQ(again.error, "");
  EXPECT_EQ(again.placement.gpus, first.placement.gpus);
}

TEST_F(Binders, BoundElsewhereIsAnError) {
  add("p", 8);
  EXPECT_EQ(bind("p", "b").result, BindResult::kBound);
  const BindOutcome other = bind("p", "a");
  EXPECT_EQ(other.result, BindResult::kElsewhere);
  EXPECT_THAT(other.error, ::testing::HasSubstr("is already assigned to node \"b\""));
  add("q", 8);
  EXPECT_EQ(bind("q", "a").result, BindResult::kBound);  // what it got there was given back
}

// A server in other words than today's: the pod is asked.
TEST_F(Binders, ConflictInOtherWordsIsLookedInto) {
  add("p", 2);
  ASSERT_EQ(bind("p").result, BindResult::kBound);
  api_.before([](const std::string&) { return std::optional(refusal(409, "it has a node")); });
  EXPECT_EQ(bind("p").result, BindResult::kAlready);
  EXPECT_EQ(bind("p", "b").result, BindResult::kElsewhere);
}

// kube-scheduler waits for all that is asked: nothing is when the time is over. Where the pod is bound nobody knows
// then, so what it got is kept.
TEST_F(Binders, OneDeadlineIsForAllCalls) {
  core::ManualClock clock;
  BinderOptions options;
  Binder binder(options, *client_, cluster_.state.snapshots(), cluster_.state, waiting_, nullptr, clock);
  api_.before([&](const std::string&) {
    clock.advance(options.timeout);
    return std::optional(refusal(409, "it has a node"));
  });
  add("p", 8);
  EXPECT_EQ(binder.bind({"ns", "p", "uid-p", "a"}).result, BindResult::kUnanswered);
  for (const auto& request : server_.requests()) EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(binder.book().size(), 1U);
}

TEST_F(Binders, AnotherPodOfItsNameIsNotBound) {
  add("p", 2);
  json anew = make_pod("ns", "p", 2);
  anew["metadata"]["uid"] = "uid-new";
  server_.put(kPodsPath, anew);
  EXPECT_EQ(bind("p").result, BindResult::kGone);
  EXPECT_EQ(node_of("p"), "");
}

// volcano#5335: after a failed bind the reservation stays.
TEST_F(Binders, RefusedBindingGivesTheGpusBackAndIsRemembered) {
  add("p", 8, "job");
  api_.before([](const std::string&) {
    return std::optional(refusal(403, "admission webhook \"x\" denied the request: not there"));
  });
  const BindOutcome outcome = bind("p");
  EXPECT_EQ(outcome.result, BindResult::kDenied);
  EXPECT_THAT(outcome.error, ::testing::HasSubstr("not there"));
  EXPECT_EQ(failures("a"), 1);
  EXPECT_EQ(cluster_.snapshot()->failures->count("job"), 1U);
  EXPECT_EQ(cluster_.at("a").firm, 0);
  api_.before(nullptr);
  add("q", 8);
  EXPECT_EQ(bind("q").result, BindResult::kBound);
}

struct NoFailureCase {
  int status;
  const char* message;
  BindResult want;
};

class NoFailureOfTheNode : public Binders, public ::testing::WithParamInterface<NoFailureCase> {};

INSTANTIATE_TEST_SUITE_P(
    Table, NoFailureOfTheNode,
    ::testing::Values(NoFailureCase{403,
                                    "pods \"p\" is forbidden: User \"berth\" cannot create resource \"pods/binding\"",
                                    BindResult::kDenied},
                      NoFailureCase{401, "Unauthorized", BindResult::kDenied},
                      NoFailureCase{404, "not found", BindResult::kGone},
                      NoFailureCase{429, "too many requests", BindResult::kFailed},
                      NoFailureCase{408, "a proxy has waited too long", BindResult::kUnanswered},
                      NoFailureCase{503, "etcd is away", BindResult::kUnanswered}));

TEST_P(NoFailureOfTheNode, IsNotRemembered) {
  add("p", 8, "job");
  api_.before([](const std::string&) { return std::optional(refusal(GetParam().status, GetParam().message)); });
  EXPECT_EQ(bind("p").result, GetParam().want);
  EXPECT_EQ(failures("a"), 0);
}

// The binding happened, the answer was lost: nobody else may get the GPUs.
TEST_F(Binders, LostAnswerKeepsTheGpusUntilTheWatchTells) {
  BinderOptions options;
  options.timeout = std::chrono::milliseconds(500);
  make_binder(options);
  api_.after([](const std::string& pod) {
    return pod == "ns/p" ? std::optional(ApiFault{.status = 0, .silent = true}) : std::nullopt;
  });
  add("p", 4);
  const BindOutcome outcome = bind("p");
  EXPECT_EQ(outcome.result, BindResult::kUnanswered);
  EXPECT_NE(outcome.error, "");
  add("q", 4);
  add("r", 1);
  EXPECT_EQ(bind("q").result, BindResult::kBound);
  EXPECT_EQ(bind("r").result, BindResult::kRefused);
  show_bound("p", 4);
  show_bound("q", 4);
  binder_->book().sweep();
  EXPECT_EQ(binder_->book().size(), 0U);
  EXPECT_EQ(cluster_.at("a").used, 8);
  EXPECT_NE(annotation("p", "berth.io/gpus"), annotation("q", "berth.io/gpus"));
}

// HAMi#812, HAMi#1557: what was bound before a restart is known again from the pods' annotations.
TEST_F(Binders, AfterARestartTheAccountIsWhatThePodsSay) {
  add("p", 2);
  ASSERT_EQ(bind("p").result, BindResult::kBound);
  const std::string set = annotation("p", "berth.io/gpus");
  state::Cluster again;
  WaitingPods waiting(again.state);
  model::Pod pod = known("p", 2);
  pod.node = "a";
  pod.annotations.push_back({"berth.io/gpus", set});
  again.tell(model::AllNodes{{state::node("a")}}, model::AllPods{{pod}});
  Binder binder({}, *client_, again.state.snapshots(), again.state, waiting, nullptr, clock_);
  add("q", 6);
  const BindOutcome outcome = binder.bind({"ns", "q", "uid-q", "a"});
  EXPECT_EQ(outcome.result, BindResult::kBound);
  EXPECT_EQ(outcome.placement.gpus, model::mask_all(8) & ~*model::parse_gpu_list(set));
}

TEST_F(Binders, PodOfOthersIsBoundWithoutALook) {
  server_.put(kPodsPath, make_pod("ns", "web", 0));
  waiting_.push(model::PodSet{known("web", 0)});
  EXPECT_EQ(bind("web").result, BindResult::kBound);
  EXPECT_EQ(node_of("web"), "a");
  EXPECT_FALSE(server_.find(kPodsPath, "ns/web")->at("metadata").contains("annotations"));
}

// The scheduler's watch was quicker than ours.
TEST_F(Binders, PodThatNobodyToldOfIsAskedFor) {
  server_.put(kPodsPath, make_pod("ns", "p", 8));
  EXPECT_EQ(bind("p").result, BindResult::kBound);
  EXPECT_EQ(annotation("p", "berth.io/gpus"), "0,1,2,3,4,5,6,7");
  EXPECT_EQ(bind("no-such-pod").result, BindResult::kGone);
}

TEST_F(Binders, DecisionOfFilterCounts) {
  add("p", 1);
  Binder binder(
      {}, *client_, cluster_.state.snapshots(), cluster_.state, waiting_,
      [](const codec::BindRequest& request) {
        model::Pod pod = known(request.pod, 3);
        return std::optional(model::make_request(pod, {}));
      },
      clock_);
  EXPECT_EQ(model::count(binder.bind({"ns", "p", "uid-p", "a"}).placement.gpus), 3);
}

TEST_F(Binders, NotReadyBindsOnlyPodsOfOthers) {
  state::Cluster empty;
  WaitingPods waiting(empty.state);
  Binder binder({}, *client_, empty.state.snapshots(), empty.state, waiting, nullptr, clock_);
  add("p", 1);
  const BindOutcome outcome = binder.bind({"ns", "p", "uid-p", "a"});
  EXPECT_EQ(outcome.result, BindResult::kFailed);
  EXPECT_EQ(outcome.error, "berth is not ready: waiting for the first list of nodes");
  server_.put(kPodsPath, make_pod("ns", "web", 0));
  EXPECT_EQ(binder.bind({"ns", "web", "uid-web", "a"}).result, BindResult::kBound);
}

}  // namespace
}  // namespace berth::control
