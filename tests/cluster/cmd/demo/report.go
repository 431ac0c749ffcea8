package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/testbed/tests/cluster"
)

// row is what became of one job.
type row struct {
	spec        cluster.PodSpec
	node        string // empty: it waits
	message     string // the scheduler's, when it waits
	explanation *cluster.Explanation
}

// submit creates the jobs one by one, so that each finds what those before it left.
func submit(ctx context.Context, c *cluster.Cluster, berth *cluster.Berth) ([]row, error) {
	view, err := c.WatchPods(ctx, "")
	if err != nil {
		return nil, err
	}
	defer view.Stop()
	var rows []row
	for _, spec := range jobs {
		if err := c.CreatePods(ctx, 1, spec); err != nil {
			return nil, err
		}
		r := row{spec: spec}
		err := view.Wait(ctx, spec.Name+" is placed or refused", func(v *cluster.PodView) bool {
			pod := v.Pod(spec.Name)
			if pod == nil {
				return false
			}
			r.node, r.message = pod.Spec.NodeName, refusal(pod)
			return r.node != "" || r.message != ""
		})
		if err != nil {
			return nil, err
		}
		// Pods that are none of Berth's business have no explanation.
		if explanation, err := berth.Explain(ctx, spec.Name); err == nil {
			r.explanation = &explanation
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// refusal is the scheduler's word on a pod without node.
func refusal(pod *corev1.Pod) string {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			message, _, _ := strings.Cut(condition.Message, " preemption:")
			return message
		}
	}
	return ""
}

func writeReport(w io.Writer, rows []row) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "POD\tGPUS\tDATASETS\tNODE\tDATA THERE\tLOCALITY\tTOPOLOGY\tPACKING\tTOTAL\tWHY")
	for _, r := range rows {
		datasets, there, parts := "-", "-", "-\t-\t-\t-"
		if len(r.spec.Datasets) > 0 {
			datasets = strings.Join(r.spec.Datasets, ",")
		}
		if best := r.candidate(); best != nil {
			if len(r.spec.Datasets) > 0 {
				there = fmt.Sprintf("%.0f%%", best.Coverage*100)
			}
			parts = fmt.Sprintf("%.2f\t%.2f\t%.2f\t%.2f", best.Locality, best.Topology, best.Packing, best.Total)
		}
		node := r.node
		if node == "" {
			node = "(waits)"
		}
		fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%s\t%s\t%s\n", r.spec.Name, r.spec.GPUs, datasets, node, there, parts, r.why())
	}
	table.Flush()
	fmt.Fprintln(w, "\nParts of a score go from 0 to 1: LOCALITY, how much loading the node saves; TOPOLOGY, how well its free GPUs are"+
		"\nlinked; PACKING, how little it breaks up what is free. The node with the highest TOTAL is the one the scheduler takes.")
}

// candidate is what Berth knew of the node that the pod is on.
func (r row) candidate() *cluster.Candidate {
	if r.explanation == nil || r.node == "" {
		return nil
	}
	for i := range r.explanation.Candidates {
		if r.explanation.Candidates[i].Node == r.node {
			return &r.explanation.Candidates[i]
		}
	}
	return nil
}

// why says in a few words what decided.
func (r row) why() string {
	if r.node == "" {
		return r.message
	}
	best := r.candidate()
	if best == nil {
		return "asks for no GPU and no dataset: Berth lets it pass"
	}
	var words []string
	if len(r.spec.Datasets) > 0 {
		words = append(words, r.dataWords(best))
	}
	if r.spec.GPUs > 1 {
		words = append(words, topologyWords(best))
	}
	for _, rejected := range r.explanation.Rejected {
		if rejected.Reason != "OUTRANKED" {
			words = append(words, fmt.Sprintf("not %s: %s", count(rejected.Count, "node"), rejected.Reason))
		}
	}
	if len(r.spec.Datasets) == 0 && r.spec.GPUs < 2 {
		words = append(words, "fills up a node with "+count(best.GPUsFree, "free GPU"))
	}
	if r.explanation.Winner != r.node {
		words = append(words, "Berth chose "+r.explanation.Winner)
	}
	return strings.Join(words, "; ")
}

func (r row) dataWords(best *cluster.Candidate) string {
	switch {
	case best.Coverage >= 0.999:
		return "its data is here"
	case best.Coverage > 0:
		return "part of its data is here"
	default:
		return "no node with its data has room"
	}
}

func topologyWords(best *cluster.Candidate) string {
	gpus := ""
	if len(best.GPUSet) > 0 {
		gpus = fmt.Sprintf(" (GPUs %s)", strings.Trim(strings.ReplaceAll(fmt.Sprint(best.GPUSet), " ", ","), "[]"))
	}
	if best.Topology >= 0.999 {
		return "the best GPU set of such a machine" + gpus
	}
	return fmt.Sprintf("GPU set worth %.0f%% of such a machine's best%s", best.Topology*100, gpus)
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
