#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "berth/server/metrics.h"

namespace berth::server {
namespace {

// In the order of docs/configuration.md.
constexpr std::array kDocs{
    MetricDoc{"berth_build_info", "gauge", "version", "Always 1; tells the version."},
    MetricDoc{"berth_ready_state", "gauge", "", "1 once a first complete view of the cluster is there, else 0."},
    MetricDoc{"berth_requests_total", "counter", "verb, code", "Requests of kube-scheduler that a handler answered."},
    MetricDoc{"berth_request_duration_seconds", "histogram", "verb, form",
              "From the last byte of the request to the answer ready; form is names or nodes."},
    MetricDoc{"berth_policy_duration_seconds", "histogram", "verb", "The filtering and scoring within it."},
    MetricDoc{"berth_asked_nodes_total", "counter", "", "Nodes that Filter was asked about."},
    MetricDoc{"berth_answered_nodes_total", "counter", "", "Nodes that Filter handed on."},
    MetricDoc{"berth_rejected_nodes_total", "counter", "reason", "Nodes that Filter did not hand on."},
    MetricDoc{"berth_untouched_requests_total", "counter", "", "Requests for pods that are none of Berth's business."},
    MetricDoc{"berth_not_ready_requests_total", "counter", "",
              "Requests answered with an error because Berth was not ready."},
    MetricDoc{"berth_preempt_requests_total", "counter", "code",
              "Preempt requests of kube-scheduler that the handler answered."},
    MetricDoc{"berth_preempt_duration_seconds", "histogram", "",
              "From the last byte of such a request to the answer ready."},
    MetricDoc{"berth_preempt_candidates_total", "counter", "result",
              "Nodes that kube-scheduler would have cleared; result is answered, rejected (by a rule of Berth's), "
              "outranked or misplaced (victims on other nodes, or none that would help)."},
    MetricDoc{"berth_preempt_victims_total", "counter", "change",
              "Victims of the answered nodes that kube-scheduler had not chosen (added), and that it had but keeps "
              "(spared)."},
    MetricDoc{"berth_snapshot_version_number", "gauge", "", "Version of the view that requests are answered from."},
    MetricDoc{"berth_snapshot_age_seconds", "gauge", "", "Age of that view. A quiet cluster has an old one."},
    MetricDoc{"berth_snapshot_build_seconds", "gauge", "", "Time it took to build it."},
    MetricDoc{"berth_snapshot_publications_total", "counter", "", "Views published."},
    MetricDoc{"berth_updates_total", "counter", "", "Changes of nodes and pods taken from the sources."},
    MetricDoc{"berth_queued_updates", "gauge", "", "Changes that wait to be taken."},
    MetricDoc{"berth_known_nodes", "gauge", "", "Nodes in the view."},
    MetricDoc{"berth_known_pods", "gauge", "", "Pods in the view."},
    MetricDoc{"berth_bound_pods", "gauge", "", "Pods that are bound to a node and have not ended."},
    MetricDoc{"berth_capacity_gpus", "gauge", "", "GPUs of all nodes."},
    MetricDoc{"berth_used_gpus", "gauge", "", "GPUs that bound pods hold."},
    MetricDoc{
        "berth_free_gpus", "gauge", "island",
        "GPUs of which nothing is held or promised for certain, by how many of these are connected to each other: "
        "a pod with topology-policy restricted that wants so many fits there."},
    MetricDoc{"berth_largest_request_gpus", "gauge", "", "The most whole GPUs that a pod can still get on one node."},
    MetricDoc{"berth_fragmentation_ratio", "gauge", "",
              "The part of what is free of all GPUs that an average request of the mix can't use where it is."},
    MetricDoc{"berth_node_free_gpus", "gauge", "node",
              "GPUs of which nothing is held or promised for certain, on each node that has GPUs."},
    MetricDoc{"berth_node_fragmentation_ratio", "gauge", "node", "As berth_fragmentation_ratio, of the node alone."},
    MetricDoc{"berth_topology_nodes", "gauge", "source",
              "Nodes with GPUs, by who tells how these are linked: agent, hami, koordinator, node-resource-topology, "
              "resource-slices, labels (and the table of machine shapes), or unknown."},
    MetricDoc{"berth_ledger_entries", "gauge", "kind",
              "Pods expected on a node without being bound yet; kind is soft (Berth chose) or firm (nominated)."},
    MetricDoc{"berth_ledger_expired_total", "counter", "", "Soft entries that ended by time."},
    MetricDoc{"berth_known_datasets", "gauge", "", "Datasets in the view, reference datasets not counted."},
    MetricDoc{
        "berth_dataset_holders", "gauge", "source",
        "Nodes that hold of a dataset or may, over all datasets, by where the figure comes from: measured, uniform, "
        "assumed, new-worker, label, fuse."},
    MetricDoc{"berth_oldest_measured_coverage_seconds", "gauge", "",
              "Age of the oldest measured figure of coverage in use; 0 if there is none."},
    MetricDoc{"berth_placement_failures_total", "counter", "cause",
              "Pods that could not run where they were sent: cause is binding (refused by the API server), or why "
              "kubelet refused: admission, topology, resources, other."},
    MetricDoc{"berth_binds_total", "counter", "result",
              "Bind calls: bound; already (there before); refused (by a hard rule of Berth's); elsewhere (bound to "
              "another node), gone (no such pod any more), denied, failed, unanswered (all five: by the API server)."},
    MetricDoc{"berth_bind_duration_seconds", "histogram", "part",
              "Time of a Bind call; part is own (Berth's work) or api (waiting for the API server)."},
    MetricDoc{"berth_decision_pods", "gauge", "", "Pods whose last decisions are kept for explain."},
    MetricDoc{"berth_source_connected_state", "gauge", "resource", "1 while the source answers, else 0."},
    MetricDoc{"berth_source_lists_total", "counter", "resource", "Complete lists taken."},
    MetricDoc{"berth_source_watches_total", "counter", "resource", "Watches begun."},
    MetricDoc{"berth_source_events_total", "counter", "resource", "Objects set or gone."},
    MetricDoc{"berth_source_restarts_total", "counter", "resource", "Watches resumed after a failure."},
    MetricDoc{"berth_source_gone_total", "counter", "resource",
              "Times the version asked for was no longer kept (410)."},
    MetricDoc{"berth_source_failures_total", "counter", "resource", "Requests that failed or broke off."},
    MetricDoc{"berth_source_broken_objects_total", "counter", "resource",
              "Objects left out because they could not be read, or of which a part was, such as an annotation."},
    MetricDoc{"berth_waiting_pods", "gauge", "", "Unbound pods that may be Berth's business."},
    MetricDoc{"berth_wakeups_total", "counter", "kind",
              "Times kube-scheduler was asked to try pods again; kind is pod (one pod) or node (all that wait, by one "
              "node)."},
    MetricDoc{"berth_failed_wakeups_total", "counter", "",
              "Such requests that the API server refused or did not answer."},
    MetricDoc{"berth_events_total", "counter", "result",
              "Events on pods; result is sent, failed, or dropped (too many, or the API server too slow)."},
    MetricDoc{"berth_locality_pods_total", "counter", "result",
              "Pods with datasets that were bound; result is full (99 % of each is on the node), partial or none."},
    MetricDoc{"berth_locality_bytes_total", "counter", "where",
              "Bytes of the datasets of those pods when they were bound; where is local (on the node) or remote. "
              "Datasets of unknown size are left out."},
    MetricDoc{"berth_probe_masters", "gauge", "", "Alluxio masters that are asked what their workers hold."},
    MetricDoc{"berth_probe_requests_total", "counter", "", "Requests made of them."},
    MetricDoc{"berth_probe_failures_total", "counter", "", "Of them those that brought no figure."},
    MetricDoc{"berth_probe_age_seconds", "gauge", "",
              "Time since the last answer of the master that has been silent longest."},
    MetricDoc{"berth_open_connections", "gauge", "server",
              "Connections that are open; server is extender, admin or bind."},
    MetricDoc{"berth_accepted_connections_total", "counter", "server", "Connections taken."},
    MetricDoc{"berth_body_bytes", "gauge", "server", "Bytes of request bodies in work."},
    MetricDoc{"berth_http_failures_total", "counter", "server, kind",
              "Requests answered without a handler or in its place: malformed, not_found, method, too_large, timeout, "
              "bodies_full, connections_full, handler, memory."},
};

}  // namespace

std::span<const MetricDoc> metric_docs() { return kDocs; }

std::string metric_help(std::string_view name) {
  const auto doc = std::ranges::find(kDocs, name, &MetricDoc::name);
  if (doc == kDocs.end()) throw std::logic_error("metric without documentation: " + std::string(name));
  return std::string(doc->meaning);
}

}  // namespace berth::server
