// What a pod asks of its node, counted as kube-scheduler of Kubernetes v1.37 counts it.
//
// Source: PodRequests of k8s.io/component-helpers resource/helpers.go with what CalculateResource of
// pkg/scheduler/framework/types.go sets there: containers that are being resized count with the most of what they ask
// for, were allotted and have (without the first where kubelet says that it can't be had), and spec.resources stands
// for cpu, memory and huge pages over what the containers say. Two things differ. A limit without a request is one, as
// the API server makes it, for manifests that have not been there. An amount is rounded up before it is added, not
// after; amounts in a live cluster have no fractions. What DRA takes from a node's cpu and memory (alpha in v1.37) is
// left out.
//
// Not thread-safe. Views into the document must outlive it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "berth/model/resources.h"
#include "json_fields.h"
#include "pod_containers.h"

namespace berth::codec {

class PodResources {
 public:
  explicit PodResources(Reading& reading);

  // First, of the pod's status; `reading` stands on that. Of two containers of one name the first counts.
  void read_container_statuses(const Field& statuses);
  void read_pod_status(const Field& allotted, const Field& resources);
  // Kubelet can't give what the spec asks for.
  void resize_is_infeasible() { infeasible_ = true; }

  // Then the spec.
  void add_container(const Container& container) { add(container, false); }
  // In the order of the list.
  void add_init_container(const Container& container) { add(container, true); }
  // `pod_level` and `overhead` are fields of the spec; `reading` stands on that.
  [[nodiscard]] model::Resources total(const Field& pod_level, const Field& overhead);

 private:
  struct Sum {
    model::BasicResources basic;
    std::vector<NamedAmount> scalars;  // each once
  };
  // Amounts end at kMostAsked.
  struct CountResources {
    Reading* reading;
    void add(Sum& sum, const Sum& more) const;
    void raise(Sum& sum, const Sum& to) const;
    // Null where there are too many.
    std::int64_t* scalar(Sum& sum, std::string_view name) const;
  };
  struct ContainerStatus {
    std::string_view name;
    std::size_t index = 0;  // in the list
    std::optional<Amounts> allotted;
    std::optional<Amounts> actual;
  };
  static Sum sum_of(const Amounts& amounts);
  [[nodiscard]] std::optional<Amounts> requests_in(const Field& resources);
  void add(const Container& container, bool init);
  void apply_pod_level(Sum& sum, const Field& pod_level);

  Reading& reading_;
  bool infeasible_ = false;
  std::vector<ContainerStatus> statuses_;
  std::optional<Amounts> pod_allotted_;
  std::optional<Amounts> pod_actual_;
  bool pod_resources_told_ = false;  // by the status

  using Count = RoleCount<Sum, CountResources>;
  Count asked_;
  // Of containers that say nothing else, as asked_.
  Count allotted_;
  Count actual_;
};

}  // namespace berth::codec
