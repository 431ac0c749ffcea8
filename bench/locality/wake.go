package main

import (
	"context"
	"fmt"
	"sort"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/testbed/bench/arrivals"
	"berth.dev/berth/testbed/tests/cluster"
	"berth.dev/berth/testbed/tests/cluster/fluid"
)

// wakeResult is how long pods waited from what let them fit until they had a node, in seconds.
type wakeResult struct {
	What    string    `json:"what"`
	Seconds []float64 `json:"seconds"` // ascending
	P50     float64   `json:"p50_seconds"`
	P99     float64   `json:"p99_seconds"`
}

// backoff is for how long kube-scheduler does not try a pod again that it has just rejected, whatever happens.
const backoff = 1500 * time.Millisecond

// measureWakes lets pods wait for their data and measures how soon they have a node when it is there.
func measureWakes(ctx context.Context, c *cluster.Cluster, berth *cluster.Berth, n int) ([]wakeResult, error) {
	byDataset, err := wakeByDatasets(ctx, c, berth, n)
	if err != nil {
		return nil, err
	}
	byTime, err := wakeByTime(ctx, c, n/2)
	if err != nil {
		return nil, err
	}
	return []wakeResult{byDataset, byTime}, c.DeletePods(ctx, "!release")
}

// wakeByDatasets makes pods wait for datasets of phase Pending: kube-scheduler itself tries again when any pod or node
// changes, but it does not see those.
func wakeByDatasets(ctx context.Context, c *cluster.Cluster, berth *cluster.Berth, n int) (wakeResult, error) {
	result := wakeResult{What: "a dataset that becomes Bound"}
	view, err := c.WatchPods(ctx, "!release")
	if err != nil {
		return result, err
	}
	defer view.Stop()
	var sets []*fluid.Dataset
	var specs []cluster.PodSpec
	for i := range n {
		name, node := fmt.Sprintf("wake-%02d", i), nodeName(i%nodeCount)
		d, err := fluid.Create(ctx, c, fluid.Spec{
			Name: name, Bytes: 100 * gib, Shared: true, Unbound: true, Workers: []string{node},
		})
		if err != nil {
			return result, err
		}
		sets = append(sets, d)
		specs = append(specs, requiring("waits-"+name, name, nil))
	}
	for _, d := range sets {
		err := berth.WaitDataset(ctx, cluster.Namespace+"/"+d.Name, "not bound", func(v cluster.DatasetView) bool {
			return v.Phase == "Pending" && v.HoldingNodes == 0
		})
		if err != nil {
			return result, err
		}
	}
	if err := createWaiting(ctx, c, view, specs); err != nil {
		return result, err
	}
	for i, d := range sets {
		changed := time.Now()
		if err := d.Update(ctx, func(s *fluid.Spec) { s.Unbound = false }); err != nil {
			return result, err
		}
		pod, err := waitNode(ctx, view, specs[i].Name)
		if err != nil {
			return result, err
		}
		result.Seconds = append(result.Seconds, view.BoundAt(pod.UID).Sub(changed).Seconds())
	}
	result.finish()
	return result, nil
}

// wakeByTime lets pods wait for a dataset that no node has; their wait ends a second apart.
func wakeByTime(ctx context.Context, c *cluster.Cluster, n int) (wakeResult, error) {
	result := wakeResult{What: "the end of dataset-wait"}
	if _, err := fluid.Create(ctx, c, fluid.Spec{Name: "cold", Bytes: 100 * gib}); err != nil {
		return result, err
	}
	view, err := c.WatchPods(ctx, "!release")
	if err != nil {
		return result, err
	}
	defer view.Stop()
	var specs []cluster.PodSpec
	waits := make([]time.Duration, n)
	for i := range n {
		waits[i] = time.Duration(5+i) * time.Second
		extra := map[string]string{"berth.io/dataset-wait": fmt.Sprintf("%ds", 5+i)}
		specs = append(specs, requiring(fmt.Sprintf("patient-%02d", i), "cold", extra))
	}
	if err := createWaiting(ctx, c, view, specs); err != nil {
		return result, err
	}
	for i, spec := range specs {
		pod, err := waitNode(ctx, view, spec.Name)
		if err != nil {
			return result, err
		}
		until := pod.CreationTimestamp.Add(waits[i])
		result.Seconds = append(result.Seconds, view.BoundAt(pod.UID).Sub(until).Seconds())
	}
	result.finish()
	return result, nil
}

func requiring(name, claim string, extra map[string]string) cluster.PodSpec {
	annotations := map[string]string{"berth.io/dataset-policy": "required"}
	for key, value := range extra {
		annotations[key] = value
	}
	return cluster.PodSpec{Name: name, GPUs: 1, Claims: []string{claim}, Annotations: annotations}
}

// createWaiting creates pods, waits until the scheduler has rejected all, and then until it may try them again.
func createWaiting(ctx context.Context, c *cluster.Cluster, view *cluster.PodView, specs []cluster.PodSpec) error {
	if err := c.CreatePods(ctx, 1, specs...); err != nil {
		return err
	}
	err := view.Wait(ctx, "the pods are rejected", func(v *cluster.PodView) bool {
		for _, spec := range specs {
			if !arrivals.Rejected(v.Pod(spec.Name)) {
				return false
			}
		}
		return true
	})
	if err != nil {
		return err
	}
	select {
	case <-time.After(backoff):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func waitNode(ctx context.Context, view *cluster.PodView, name string) (*corev1.Pod, error) {
	err := view.Wait(ctx, name+" has a node", func(v *cluster.PodView) bool { return arrivals.NodeOf(v.Pod(name)) != "" })
	return view.Pod(name), err
}

func (r *wakeResult) finish() {
	sort.Float64s(r.Seconds)
	r.P50, r.P99 = quantile(r.Seconds, 0.50), quantile(r.Seconds, 0.99)
}

// quantile is the nearest-rank quantile of ascending values.
func quantile(values []float64, q float64) float64 {
	rank := int(q*float64(len(values))+0.9999999) - 1
	return values[max(0, min(rank, len(values)-1))]
}
