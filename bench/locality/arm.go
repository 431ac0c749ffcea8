package main

import (
	"context"
	"fmt"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	*cluster.Cluster
	model  *model
	view   *cluster.PodView
	berth  *cluster.Berth // nil without
	result *armResult
}

// runArm places all jobs with the scheduler that runs. Afterwards their pods are gone.
func runArm(ctx context.Context, c *cluster.Cluster, w *workload, title string, berth *cluster.Berth) (*armResult, error) {
	view, err := c.WatchPods(ctx, "!release")
	if err != nil {
		return nil, err
	}
	defer view.Stop()
	a := &arm{c, newModel(), view, berth, &armResult{}}
	err = cluster.Parallel(ctx, 8, w.before, func(ctx context.Context, j job) error {
		pod := cluster.PodSpec{Name: j.name, GPUs: j.gpus}.Pod()
		pod.Spec.NodeName = j.node
		_, err := c.Client.CoreV1().Pods(cluster.Namespace).Create(ctx, pod, metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, j := range w.before {
		a.model.place(j, j.node)
	}
	if err := view.WaitBound(ctx, len(w.before)); err != nil {
		return nil, err
	}
	for i, j := range w.jobs {
		if err := a.arrive(ctx, j); err != nil {
			return nil, fmt.Errorf("%s, %s: %w", title, j.name, err)
		}
		if (i+1)%50 == 0 {
			progress("%s: %d of %d jobs are placed", title, i+1, len(w.jobs))
		}
	}
	over, err := c.Overcommitted(ctx)
	if err == nil && len(over) > 0 {
		err = fmt.Errorf("%s: over-committed: %q", title, over)
	}
	if err != nil {
		return nil, err
	}
	a.result.finish()
	progress("%s: %.1f %% of the bytes that could be local are", title, 100*a.result.Local)
	return a.result, c.DeletePods(ctx, "!release")
}

// arrive lets jobs finish, creates this one and waits until it has a node.
func (a *arm) arrive(ctx context.Context, j job) error {
	if err := a.finish(ctx, a.model.leaving(j)); err != nil {
		return err
	}
	// The scheduler sees who has gone before it sees who comes; Berth has a watch of its own, and nothing orders the two.
	if a.berth != nil {
		if err := a.berth.WaitGPUsUsed(ctx, a.model.taken()); err != nil {
			return err
		}
	}
	spec := cluster.PodSpec{Name: j.name, GPUs: j.gpus}
	for _, d := range j.data {
		spec.Claims = append(spec.Claims, d.name)
	}
	if err := a.CreatePods(ctx, 1, spec); err != nil {
		return err
	}
	decided := func(v *cluster.PodView) bool { return nodeOf(v.Pod(j.name)) != "" || rejected(v.Pod(j.name)) }
	if err := a.view.Wait(ctx, j.name+" is decided", decided); err != nil {
		return err
	}
	if nodeOf(a.view.Pod(j.name)) == "" {
		if a.model.fits(j) {
			a.result.Withheld = append(a.result.Withheld, j.name)
		} else {
			a.result.Waited = append(a.result.Waited, j.name)
			if err := a.finish(ctx, a.model.makingRoom(j)); err != nil {
				return err
			}
		}
		bound := func(v *cluster.PodView) bool { return nodeOf(v.Pod(j.name)) != "" }
		if err := a.view.Wait(ctx, j.name+" has a node", bound); err != nil {
			return err
		}
	}
	node := nodeOf(a.view.Pod(j.name))
	possible, best := a.model.possible(j)
	d := decision{
		Job: j.name, GPUs: j.gpus, Node: node, Local: j.localBytes(node), Possible: possible, Best: best,
		Loading: j.loadingSeconds(node), Taken: a.model.taken(),
	}
	if a.berth != nil && d.Local < d.Possible {
		d.Why = a.why(ctx, d)
	}
	a.result.Decisions = append(a.result.Decisions, d)
	a.model.place(j, node)
	return nil
}

// why is what Berth says of the node that a job got and of the one with most of its data.
func (a *arm) why(ctx context.Context, d decision) string {
	explanation, err := a.berth.Explain(ctx, d.Job)
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

// finish deletes jobs and waits until they are gone.
func (a *arm) finish(ctx context.Context, names []string) error {
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64)}
	err := cluster.Parallel(ctx, 4, names, func(ctx context.Context, name string) error {
		return a.Client.CoreV1().Pods(cluster.Namespace).Delete(ctx, name, now)
	})
	if err != nil {
		return err
	}
	for _, name := range names {
		a.model.finish(name)
	}
	return a.view.Wait(ctx, "jobs are finished", func(v *cluster.PodView) bool {
		for _, name := range names {
			if v.Pod(name) != nil {
				return false
			}
		}
		return true
	})
}

func nodeOf(pod *corev1.Pod) string {
	if pod == nil {
		return ""
	}
	return pod.Spec.NodeName
}

// rejected says that the scheduler has tried a pod and found no node.
func rejected(pod *corev1.Pod) bool {
	if pod == nil {
		return false
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return true
		}
	}
	return false
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
