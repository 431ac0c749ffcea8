// Who decides what a pod does not say: its annotations, the policy it names, its namespace's "default", the server.
#include <gtest/gtest.h>

#include "support/snapshot_builder.h"

namespace berth::model {
namespace {

using tests::request;
using tests::SnapshotBuilder;

// With what `say` sets of its terms.
SchedulingPolicy policy(std::string name, void (*say)(PolicyTerms&) = [](PolicyTerms&) {}, std::string ns = "team") {
  SchedulingPolicy made{std::move(ns), std::move(name), {}, {}};
  say(made.terms);
  return made;
}

PodRequest applied(const SnapshotBuilder& cluster, PodRequest pod, const PodDefaults& defaults = {}) {
  apply_policy(pod, *cluster.build(), defaults);
  return pod;
}

TEST(ApplyPolicy, AnnotationThenNamedPolicyThenDefaultThenServer) {
  SnapshotBuilder cluster;
  cluster.policy(policy("fast", [](PolicyTerms& terms) {
    terms.topology_policy = TopologyPolicy::kRestricted;
    terms.min_gpu_memory_mib = 40'960;
  }));
  cluster.policy(policy("default", [](PolicyTerms& terms) {
    terms.topology_policy = TopologyPolicy::kNone;
    terms.min_gpu_memory_mib = 20'480;
    terms.gpu_products = {"H100"};
  }));
  PodDefaults defaults;
  defaults.dataset_policy = DatasetPolicy::kRequired;

  const auto both =
      applied(cluster, request(8, {{"scheduling-policy", "fast"}, {"min-gpu-memory", "80"}}, defaults), defaults);
  EXPECT_EQ(both.min_gpu_memory_mib, 81'920);                      // its own annotation
  EXPECT_EQ(both.topology_policy, TopologyPolicy::kRestricted);    // the policy that it names
  EXPECT_EQ(both.gpu_products, std::vector<std::string>{"H100"});  // the namespace's
  EXPECT_EQ(both.dataset_policy, DatasetPolicy::kRequired);        // the server
  EXPECT_EQ(both.policy, "fast");
  EXPECT_FALSE(both.invalid);

  const auto plain = applied(cluster, request(8));
  EXPECT_EQ(plain.topology_policy, TopologyPolicy::kNone);
  EXPECT_EQ(plain.min_gpu_memory_mib, 20'480);
  EXPECT_EQ(plain.policy, "default");
}

TEST(ApplyPolicy, PoliciesOfOtherNamespacesDoNotCount) {
  SnapshotBuilder cluster;
  cluster.policy(policy("default", [](PolicyTerms& terms) { terms.topology_policy = TopologyPolicy::kNone; }, "other"));
  EXPECT_EQ(applied(cluster, request(8)).topology_policy, TopologyPolicy::kBestEffort);
  EXPECT_TRUE(applied(cluster, request(8)).policy.empty());
}

TEST(ApplyPolicy, WhatIsSaidOfGpusIsNothingToPodsWithout) {
  SnapshotBuilder cluster;
  cluster.policy(policy("default", [](PolicyTerms& terms) {
    terms.min_gpu_memory_mib = 20'480;
    terms.gpu_products = {"H100"};
  }));
  EXPECT_EQ(applied(cluster, request(0)).min_gpu_memory_mib, 0);
  EXPECT_TRUE(applied(cluster, request(0)).gpu_products.empty());
  EXPECT_EQ(applied(cluster, request(1)).gpu_products, std::vector<std::string>{"H100"});
}

TEST(ApplyPolicy, AnEmptyListOfProductsAllowsAll) {
  SnapshotBuilder cluster;
  cluster.policy(policy("default", [](PolicyTerms& terms) { terms.gpu_products.emplace(); }));
  PodDefaults defaults;
  defaults.gpu_products = {"V100"};
  EXPECT_TRUE(applied(cluster, request(1, {}, defaults), defaults).gpu_products.empty());
}

TEST(ApplyPolicy, WeightsThatItLeavesOutAreTheServers) {
  SnapshotBuilder cluster;
  cluster.policy(policy("default", [](PolicyTerms& terms) { terms.weights.packing = 7; }));
  const Weights weights = applied(cluster, request(1)).weights;
  EXPECT_EQ(weights.packing, 7);
  EXPECT_EQ(weights.locality, 4);
  EXPECT_EQ(weights.proximity, 2);
}

// volcano#5252, HAMi#1931: a policy that does not exist was ignored without a word.
TEST(ApplyPolicy, ANameThatDoesNotExistIsRefusedWithTheNearestOne) {
  SnapshotBuilder cluster;
  cluster.policy(policy("fast-training"));
  const auto pod = applied(cluster, request(1, {{"scheduling-policy", "fast-trainin"}}));
  ASSERT_TRUE(pod.invalid);
  EXPECT_EQ(pod.invalid->to_string(),
            "annotation berth.io/scheduling-policy: no SchedulingPolicy \"fast-trainin\" exists in namespace team; did "
            "you mean fast-training?");
}

TEST(ApplyPolicy, BeforeTheClusterIsKnownNothingIsMissing) {
  Snapshot snapshot;
  auto pod = request(1, {{"scheduling-policy", "fast"}});
  apply_policy(pod, snapshot, {});
  EXPECT_FALSE(pod.invalid);
}

TEST(ApplyPolicy, AnInvalidPolicyIsNamedWithFieldValueAndWhatIsAllowed) {
  SnapshotBuilder cluster;
  SchedulingPolicy broken = policy("default");
  broken.invalid = core::Error{core::ErrorCode::kInvalid,
                               "\"best\" is not allowed; use none, best-effort or restricted", "spec.topologyPolicy"};
  cluster.policy(broken);
  const auto pod = applied(cluster, request(1));
  ASSERT_TRUE(pod.invalid);
  EXPECT_EQ(pod.invalid->to_string(),
            "SchedulingPolicy team/default spec.topologyPolicy: \"best\" is not allowed; use none, best-effort or "
            "restricted");
}

TEST(ApplyPolicy, WeightsStayWithinTheAdministratorsBounds) {
  SnapshotBuilder cluster;
  cluster.policy(policy("default", [](PolicyTerms& terms) { terms.weights.locality = 50; }));
  PodDefaults defaults;
  defaults.weight_bounds.most.locality = 8;
  const auto pod = applied(cluster, request(1), defaults);
  ASSERT_TRUE(pod.invalid);
  EXPECT_EQ(pod.invalid->to_string(),
            "SchedulingPolicy team/default spec.weights.locality: \"50\" is not allowed; use 0 to 8, as the "
            "administrator has it");
  defaults.weight_bounds.most.locality = 50;
  EXPECT_FALSE(applied(cluster, request(1), defaults).invalid);
}

TEST(ApplyPolicy, WeightsMustNotAllBeNothing) {
  SnapshotBuilder cluster;
  cluster.policy(policy("default", [](PolicyTerms& terms) { terms.weights = {0, 0, 0, {}}; }));
  EXPECT_TRUE(applied(cluster, request(1)).invalid);
}

struct Topology {
  const char* name;
  const char* value;
  bool valid;
};
class GangTopologyKey : public testing::TestWithParam<Topology> {};

TEST_P(GangTopologyKey, Reads) {
  EXPECT_EQ(!request(1, {{"gang-topology", GetParam().value}}).invalid.has_value(), GetParam().valid);
}

INSTANTIATE_TEST_SUITE_P(Values, GangTopologyKey,
                         testing::Values(Topology{"Preferred", "preferred=topology.kubernetes.io/rack", true},
                                         Topology{"Required", "required=nvidia.com/gpu.clique", true},
                                         Topology{"OneNode", "required=kubernetes.io/hostname", true},
                                         Topology{"NotALevel", "required=example.com/row", false},
                                         Topology{"NoLabel", "required=", false},
                                         Topology{"NoMode", "topology.kubernetes.io/rack", false},
                                         Topology{"OtherMode", "prefered=topology.kubernetes.io/rack", false}),
                         [](const auto& one) { return one.param.name; });

TEST(GangTopologyText, NamesWhatIsAllowed) {
  const auto pod = request(1, {{"gang-topology", "required=example.com/row"}});
  ASSERT_TRUE(pod.invalid);
  EXPECT_EQ(pod.invalid->to_string(),
            "annotation berth.io/gang-topology: \"required=example.com/row\" is not allowed; use preferred=LABEL or "
            "required=LABEL, where LABEL is nvidia.com/gpu.clique, topology.kubernetes.io/rack, "
            "topology.kubernetes.io/zone or kubernetes.io/hostname");
}

TEST(GangTopologyText, LevelsAreThoseOfTheConfiguration) {
  PodDefaults defaults;
  defaults.gang_levels = {"example.com/switch", "example.com/row"};
  const auto pod = request(1, {{"gang-topology", "required=example.com/row"}}, defaults);
  EXPECT_FALSE(pod.invalid);
  EXPECT_EQ(pod.gang_topology, (GangTopology{"example.com/row", true, 1}));
}

}  // namespace
}  // namespace berth::model
