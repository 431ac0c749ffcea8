package main

import (
	"context"
	"fmt"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/berth/testbed/bench/arrivals"
	"berth.dev/berth/testbed/bench/program"
	"berth.dev/berth/testbed/tests/cluster"
)

// decision is one job with a node.
type decision struct {
	Job      string  `json:"job"`
	GPUs     int     `json:"gpus"`
	Node     string  `json:"node"`
	Local    int64   `json:"local_bytes"`
	Possible int64   `json:"possible_bytes"`
	Best     string  `json:"best_node"`
	Loading  float64 `json:"loading_seconds"`
	Taken    int     `json:"gpus_taken"` // when it was decided
	Why      string  `json:"why"`        // if it is another than the best node: what Berth says of both
}

// armResult is one scheduler with all jobs.
type armResult struct {
	Decisions []decision `json:"decisions"`
	Waited    []string   `json:"waited"`       // jobs for which no node had enough free GPUs
	Withheld  []string   `json:"withheld"`     // jobs that waited although one had
	Local     float64    `json:"local_share"`  // local bytes over possible ones
	InReach   int        `json:"in_reach"`     // jobs of whose data a node with enough free GPUs had some
	Taken     float64    `json:"median_taken"` // GPUs taken at the median decision
	Loading   float64    `json:"mean_loading_seconds"`
}

type arm struct {
	arrivals.Flow
	result *armResult
}

// runArm places all jobs with the scheduler that runs. Afterwards their pods are gone.
func runArm(ctx context.Context, c *cluster.Cluster, w *workload, title string, berth *cluster.Berth) (*armResult, error) {
	view, err := c.WatchPods(ctx, "!release")
	if err != nil {
		return nil, err
	}
	defer view.Stop()
	flow := arrivals.Flow{Cluster: c, Model: newModel(), View: view, Berth: berth, MostTaken: mostTaken}
	a := &arm{flow, &armResult{}}
	err = cluster.Parallel(ctx, 8, w.before, func(ctx context.Context, j arrivals.Job) error {
		pod := cluster.PodSpec{Name: j.Name, GPUs: j.GPUs}.Pod()
		pod.Spec.NodeName = j.Node
		_, err := c.Client.CoreV1().Pods(cluster.Namespace).Create(ctx, pod, metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, j := range w.before {
		a.Model.Place(j, j.Node)
	}
	if err := view.WaitBound(ctx, len(w.before)); err != nil {
		return nil, err
	}
	for i, j := range w.jobs {
		if err := a.arrive(ctx, j); err != nil {
			return nil, fmt.Errorf("%s, %s: %w", title, j.Name, err)
		}
		if (i+1)%50 == 0 {
			program.Progress("%s: %d of %d jobs are placed", title, i+1, len(w.jobs))
		}
	}
	over, err := c.Overcommitted(ctx)
	if err == nil && len(over) > 0 {
		err = fmt.Errorf("%s: over-committed: %q", title, over)
	}
	if err != nil {
		return nil, err
	}
	a.result.Waited, a.result.Withheld = a.Waited, a.Withheld
	a.result.finish()
	program.Progress("%s: %.1f %% of the bytes that could be local are", title, 100*a.result.Local)
	return a.result, c.DeletePods(ctx, "!release")
}

// arrive has the scheduler place a job and notes what came of it.
func (a *arm) arrive(ctx context.Context, j job) error {
	arrival := arrivals.Arrival{Job: j.Job}
	for _, d := range j.data {
		arrival.Spec.Claims = append(arrival.Spec.Claims, d.name)
	}
	return a.Arrive(ctx, []arrivals.Arrival{arrival}, func(placed arrivals.Job, _ *corev1.Pod) {
		possible, best := j.possible(a.Model)
		d := decision{
			Job: j.Name, GPUs: j.GPUs, Node: placed.Node, Local: j.localBytes(placed.Node), Possible: possible, Best: best,
			Loading: j.loadingSeconds(placed.Node), Taken: a.Model.Taken(),
		}
		if a.Berth != nil && d.Local < d.Possible {
			d.Why = a.why(ctx, d)
		}
		a.result.Decisions = append(a.result.Decisions, d)
	})
}

// why is what Berth says of the node that a job got and of the one with most of its data.
func (a *arm) why(ctx context.Context, d decision) string {
	explanation, err := a.Berth.Explain(ctx, d.Job)
	if err != nil {
		return err.Error()
	}
	var text []string
	for _, c := range explanation.Candidates {
		if c.Node == d.Node || c.Node == d.Best {
			text = append(text, fmt.Sprintf("%s: total %.3f of locality %.3f, topology %.3f, packing %.3f, %d GPUs free",
				c.Node, c.Total, c.Locality, c.Topology, c.Packing, c.GPUsFree))
		}
	}
	return strings.Join(text, "; ")
}

// finish works the figures out.
func (r *armResult) finish() {
	var local, possible int64
	var taken []int
	for _, d := range r.Decisions {
		local += d.Local
		possible += d.Possible
		if d.Possible > 0 {
			r.InReach++
		}
		r.Loading += d.Loading / float64(len(r.Decisions))
		taken = append(taken, d.Taken)
	}
	if possible > 0 {
		r.Local = float64(local) / float64(possible)
	}
	sort.Ints(taken)
	if len(taken) > 0 {
		r.Taken = float64(taken[(len(taken)-1)/2]) / totalGPUs
	}
}
