// The core of the state: takes updates and attempts one by one and makes the next snapshot of what changed.
//
// Time comes in as an argument. Not thread-safe; only the attempts have a lock of their own.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attempt_counter.h"
#include "berth/model/cluster_update.h"
#include "berth/state/cluster_state.h"
#include "budget_table.h"
#include "claim_table.h"
#include "dataset_table.h"
#include "failure_memory.h"
#include "gang_table.h"
#include "image_table.h"
#include "label_table.h"
#include "ledger.h"
#include "moment.h"
#include "node_table.h"
#include "packing_table.h"
#include "pod_table.h"
#include "pod_wants.h"
#include "policy_table.h"
#include "reader_counts.h"
#include "request_pool.h"

namespace berth::state {

class Builder {
 public:
  Builder(const StateOptions& options, AttemptCounter& attempts);

  void apply(model::ClusterUpdate update, core::WallTime now);
  void apply(const Attempt& attempt, core::SteadyTime now);

  // Ends what is over: soft entries, and labels without a worker. Returns how many soft entries.
  std::size_t expire(core::SteadyTime now);
  [[nodiscard]] std::optional<core::SteadyTime> next_expiry();

  [[nodiscard]] const FailureCounts& failures() const { return failures_.counts(); }

  // True if the next snapshot would differ from the last.
  [[nodiscard]] bool changed() const;
  // Throws std::bad_alloc; the next call then builds what this one would have.
  [[nodiscard]] std::shared_ptr<const model::Snapshot> build(const Moment& now);

 private:
  void take(model::NodeSet& update);
  void take(model::NodeGone& update);
  void take(model::PodSet& update);
  void take(model::PodGone& update);
  void take(model::AllNodes& update);
  void take(model::AllPods& update);

  void take(model::DatasetSet& update) { datasets_.set(std::move(update.dataset)); }
  void take(model::DatasetGone& update) { datasets_.remove(update.ref); }
  void take(model::AllDatasets& update) { datasets_.replace(std::move(update.datasets)); }
  void take(model::RuntimeSet& update) { datasets_.set(std::move(update.runtime)); }
  void take(model::RuntimeGone& update) { datasets_.remove(update.dataset, update.type); }
  void take(model::AllRuntimes& update) { datasets_.replace(update.type, std::move(update.runtimes)); }
  void take(model::DataLoadSet& update) { datasets_.set(std::move(update.load)); }
  void take(model::DataLoadGone& update) { datasets_.remove_load(update.ns, update.name); }
  void take(model::AllDataLoads& update) { datasets_.replace(std::move(update.loads)); }
  void take(model::Measured& update) { datasets_.measure(update); }
  void take(model::FluidServed& update) { datasets_.serve(update.served); }
  void take(model::DataListed&) {
    data_listed_ = true;
    learn_all();
  }
  void take(model::ClaimSet& update) { resolve_again(claims_.set(update.claim)); }
  void take(model::ClaimGone& update) { resolve_again(claims_.remove(update.ns, update.name)); }
  void take(model::AllClaims& update) { resolve_again(claims_.replace(update.claims)); }
  void take(model::MachineSet& update);
  void take(model::MachineGone& update);
  void take(model::AllMachines& update) { nodes_.tell_all(update); }
  void take(model::PolicySet& update) { policies_.set(std::move(update.policy)); }
  void take(model::PolicyGone& update) { policies_.remove(update.ns, update.name); }
  void take(model::AllPolicies& update) { policies_.replace(std::move(update.policies)); }
  void take(model::BudgetSet& update) { budgets_.set(std::move(update.budget)); }
  void take(model::BudgetGone& update) { budgets_.remove(update.ns, update.name); }
  void take(model::AllBudgets& update) { budgets_.replace(std::move(update.budgets)); }
  void take(model::Reserved& update);
  void take(model::Unreserved& update);
  void take(model::PlacementFailed& update) {
    failures_.add(update.node, update.owner, steady_, FailureCause::kBinding);
  }

  void set_node(model::Node node);
  void remove_node(NodeRecord& record);
  PodRecord& set_pod(const model::Pod& pod);
  void count_gpus(PodRecord& record, const model::Pod& pod, const model::PodRequest& request);
  void count_requests(PodRecord& record, const model::Pod& pod);
  void uncount_requests(PodRecord& record);
  void learn(const model::Pod& pod, const model::PodRequest& request);
  void learn_all();
  void keep_cache(PodRecord& record, const model::Pod& pod);
  void keep_wants(PodRecord& record, const model::Pod& pod, const model::PodRequest& request);
  void drop_wants(PodRecord& record);
  void count_refusal(PodRecord& record, const model::Pod& pod, bool is_new);
  void keep_ledger(PodRecord& record, const model::Pod& pod);
  void keep_gang(const PodRecord& record, const model::Pod& pod);
  void keep_firm(PodRecord& record, const std::string& nominated, Ledger::Demand demand);
  // Ends all that others keep for the pod.
  void forget(PodRecord& record);

  // Whoever wants what these names stand for wants something else now.
  void resolve_again(const std::vector<std::string>& names);
  // Counts the pod as a reader where it is or is expected.
  void settle_reader(PodRecord& record);
  void settle_moved();
  [[nodiscard]] std::string_view why_not_ready() const;

  StateOptions options_;
  AttemptCounter& attempts_;
  NodeTable nodes_;
  PodTable pods_;
  RequestPool requests_;
  Ledger ledger_{nodes_};
  GangTable gangs_{nodes_};
  LabelTable labels_;
  DatasetTable datasets_;
  ClaimTable claims_;
  WantedNames wanted_names_;
  ReaderCounts readers_;
  ImageTable images_;
  BudgetTable budgets_;
  PolicyTable policies_;
  PackingTable packing_{options_.mix};
  // Pods whose requests are to be learned, in the order in which they were asked for.
  struct Unlearned {
    model::RequestClass request;  // products left out
    std::string ns;
    std::string policy;
  };
  std::vector<Unlearned> unlearned_;
  FailureMemory failures_{nodes_};

  std::uint64_t version_ = 0;
  bool build_failed_ = false;
  std::uint32_t list_ = 0;  // complete lists of pods so far
  bool nodes_listed_ = false;
  bool pods_listed_ = false;
  bool data_listed_ = false;
  core::WallTime now_;         // of the update that is being taken
  core::SteadyTime steady_{};  // of the last expire()
  // As last published.
  bool was_ready_ = false;
  std::size_t were_pods_ = 0;
  std::size_t were_bound_ = 0;
};

// Why a snapshot without a first complete list isn't ready, empty if it has all.
std::string_view not_ready_why(bool nodes_listed, bool pods_listed, bool data_listed);

}  // namespace berth::state
