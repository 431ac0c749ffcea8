package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/berth/testbed/bench/arrivals"
	"berth.dev/berth/testbed/bench/program"
	"berth.dev/berth/testbed/tests/cluster"
)

// mostTaken is the demand at which jobs finish before others arrive, as a share of all GPUs.
const mostTaken = 0.90

// placement is one job with several GPUs, placed after the warm-up.
type placement struct {
	Seed       uint64  `json:"seed"`
	Job        string  `json:"job"`
	Node       string  `json:"node"`
	GPUs       []int   `json:"gpus"`
	Island     bool    `json:"island"`     // all in one
	Possible   bool    `json:"possible"`   // the empty machine has one so large
	Bottleneck float64 `json:"bottleneck"` // over that of the best set of an empty machine
}

// devicesResult is one way to choose nodes and devices, over all seeds.
type devicesResult struct {
	Title      string      `json:"title"`
	Placements []placement `json:"placements"`
	Islands    float64     `json:"island_share"`
	Kept       float64     `json:"island_share_of_possible"`
	Bottleneck float64     `json:"mean_bottleneck"`
	Taken      float64     `json:"median_taken"` // GPUs taken when a job was placed
	Waited     int         `json:"waited"`
	Withheld   []string    `json:"withheld"`
	Doubled    []string    `json:"doubled"` // jobs that were given other GPUs than so many free ones
	taken      []float64
}

// choice is who chooses.
type choice struct {
	title string
	berth bool
	bind  bool // Berth chooses the devices, too; otherwise the device plugin does
	agent bool // which devices it chose is told to Berth
}

var choices = []choice{
	{title: "Berth with Bind", berth: true, bind: true},
	{title: "Berth, device plugin", berth: true},
	{title: "Berth, device plugin, agent", berth: true, agent: true},
	{title: "stock, device plugin"},
}

// devices is one choice with one seed.
type devices struct {
	arrivals.Flow
	choice choice
	held   map[string]set // by job
	result *devicesResult
}

// measureDevices lets all jobs of a seed arrive. Afterwards their pods are gone.
func measureDevices(ctx context.Context, c *cluster.Cluster, o options, seed uint64, ch choice, result *devicesResult) error {
	berth, stop, err := startArm(ctx, c, ch)
	defer stop()
	if err != nil {
		return err
	}
	view, err := c.WatchPods(ctx, "")
	if err != nil {
		return err
	}
	defer view.Stop()
	var nodes []string
	for _, node := range mixedNodes(o.Nodes) {
		nodes = append(nodes, node.Name)
	}
	d := &devices{choice: ch, held: map[string]set{}, result: result}
	d.Flow = arrivals.Flow{Cluster: c, Model: arrivals.NewModel(nodes, gpusPerNode), View: view, Berth: berth, MostTaken: mostTaken}
	if ch.agent {
		d.Changed = d.tellHolders
	}
	warm := false
	for _, j := range makeJobs(seed, o.Jobs) {
		warm = warm || len(d.Model.Leaving(j.GPUs, mostTaken)) > 0
		err := d.Arrive(ctx, []arrivals.Arrival{{Job: j}}, func(j arrivals.Job, pod *corev1.Pod) { d.place(seed, warm, j, pod) })
		if err != nil {
			return fmt.Errorf("%s, %s: %w", ch.title, j.Name, err)
		}
	}
	result.Waited += len(d.Waited)
	result.Withheld = append(result.Withheld, d.Withheld...)
	program.Progress("seed %d, %s: %d jobs are placed", seed, ch.title, o.Jobs)
	if err := c.DeletePods(ctx, ""); err != nil || !ch.agent {
		return err
	}
	return cluster.Parallel(ctx, 4, nodes, func(ctx context.Context, node string) error {
		return annotateHolders(ctx, c, node, nil)
	})
}

// startArm starts Berth, if it takes part, and the scheduler; stop ends both.
func startArm(ctx context.Context, c *cluster.Cluster, ch choice) (berth *cluster.Berth, stop func(), err error) {
	stop = func() { _ = c.StopScheduler() }
	if !ch.berth {
		return nil, stop, c.StartStockScheduler(ctx)
	}
	options := cluster.BerthOptions{Kubeconfig: c.Kubeconfig, Dir: c.Dir}
	if ch.bind {
		options.BindListen = cluster.AnyPort
	}
	berth, err = cluster.StartBerth(ctx, options)
	if err != nil {
		return nil, stop, err
	}
	stop = func() {
		_ = c.StopScheduler()
		_ = berth.Stop(cluster.Deadline)
	}
	return berth, stop, c.StartScheduler(ctx, cluster.SchedulerSettings{ExtenderURL: berth.URL(), BindURL: berth.BindURL()})
}

func mixedNodes(ofEach int) []*corev1.Node {
	var nodes []*corev1.Node
	for _, k := range kinds {
		for i := range ofEach {
			nodes = append(nodes, k.node(i))
		}
	}
	return nodes
}

func kindOf(node string) *kind {
	for _, k := range kinds {
		if strings.HasPrefix(node, k.name+"-") {
			return k
		}
	}
	panic("no kind of machine is called " + node)
}

// place gives a job with a node its devices.
func (d *devices) place(seed uint64, warm bool, j arrivals.Job, pod *corev1.Pod) {
	k := kindOf(j.Node)
	free := allGPUs
	for _, other := range d.Model.On(j.Node) {
		free &^= d.held[other.Name]
	}
	given := k.handedOut(free, j.GPUs)
	if d.choice.bind {
		gpus, err := cluster.AssignedGPUs(pod)
		bound := setOf(gpus...)
		if err != nil || bound.count() != j.GPUs || bound&^free != 0 {
			d.result.Doubled = append(d.result.Doubled, fmt.Sprintf("%s: %v of the free %v (%v)", j.Name, bound.gpus(), free.gpus(), err))
		} else {
			given = bound
		}
	}
	d.held[j.Name] = given
	if !warm {
		return
	}
	d.result.taken = append(d.result.taken, float64(d.Model.Taken())/float64(d.Model.Total()))
	if j.GPUs > 1 {
		d.result.Placements = append(d.result.Placements, placement{
			Seed: seed, Job: j.Name, Node: j.Node, GPUs: given.gpus(), Island: k.island(given), Possible: k.hasIsland(j.GPUs),
			Bottleneck: float64(k.bottleneck(given)) / float64(k.best(j.GPUs)),
		})
	}
}

// tellHolders writes who holds which GPUs of a node, as the agent does.
func (d *devices) tellHolders(ctx context.Context, node string) error {
	type holder struct {
		Namespace string `json:"namespace"`
		Pod       string `json:"pod"`
		GPUs      []int  `json:"gpus"`
	}
	holders := struct {
		Version int      `json:"version"`
		At      string   `json:"at"`
		Pods    []holder `json:"pods"`
	}{Version: 1, At: time.Now().UTC().Format(time.RFC3339), Pods: []holder{}}
	for _, j := range d.Model.On(node) {
		holders.Pods = append(holders.Pods, holder{cluster.Namespace, j.Name, d.held[j.Name].gpus()})
	}
	text, err := json.Marshal(holders)
	if err != nil {
		return err
	}
	return annotateHolders(ctx, d.Cluster, node, string(text))
}

// annotateHolders sets the annotation of a node, or takes it away for nil.
func annotateHolders(ctx context.Context, c *cluster.Cluster, node string, value any) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{"berth.io/gpu-holders": value}},
	})
	if err != nil {
		return err
	}
	_, err = c.Client.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// finish works the figures out.
func (r *devicesResult) finish() {
	inside, possible := 0, 0
	for _, p := range r.Placements {
		r.Bottleneck += p.Bottleneck / float64(len(r.Placements))
		if p.Island {
			inside++
		}
		if p.Possible {
			possible++
		}
	}
	r.Islands, r.Kept = share(inside, len(r.Placements)), share(inside, possible)
	sort.Float64s(r.taken)
	if len(r.taken) > 0 {
		r.Taken = r.taken[(len(r.taken)-1)/2]
	}
}
