package main

import (
	"context"
	"fmt"
	"sort"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/berth/testbed/tests/cluster"
)

// machine is the shape of all nodes: equal nodes are the hard case, because every node is a candidate for every pod.
var machine = cluster.A100SXM

// arm is one way to run the scheduler.
type arm struct {
	name, title string
	berth       bool
	settings    cluster.SchedulerSettings
	config      string // Berth's configuration; empty: its defaults
}

const (
	armBerth = iota
	armNone
)

// The first two are compared; the others are what an administrator may have had before.
var arms = []arm{
	{"berth", "Berth", true, cluster.SchedulerSettings{Unbatched: true}, ""},
	{"none-unbatched", "no extender, unbatched", false, cluster.SchedulerSettings{Unbatched: true}, ""},
	// With one node left kube-scheduler neither scores nor asks Prioritize.
	{"berth-one-candidate", "Berth, candidates: 1", true, cluster.SchedulerSettings{Unbatched: true}, "candidates: 1\n"},
	{"none-batched", "no extender, batched", false, cluster.SchedulerSettings{}, ""},
	{"none-default-sampling", "no extender, default sampling", false,
		cluster.SchedulerSettings{Unbatched: true, DefaultSampling: true}, ""},
}

func nodesBetween(from, to int) []*corev1.Node {
	nodes := make([]*corev1.Node, 0, to-from)
	for i := from; i < to; i++ {
		nodes = append(nodes, machine.Node(fmt.Sprintf("gpu-%05d", i)))
	}
	return nodes
}

// measurement is one burst.
type measurement struct {
	PodsPerSecond float64 `json:"pods_per_second"`
	P50           float64 `json:"p50_seconds"` // from the start of a pod's creation until it is seen with a node
	P99           float64 `json:"p99_seconds"`
	// Processor time a pod: what neighbours on the machine disturb least.
	SchedulerCPU float64 `json:"scheduler_cpu_ms"`
	BerthCPU     float64 `json:"berth_cpu_ms"`
}

// measure runs one arm once and leaves no pod behind.
func measure(ctx context.Context, c *cluster.Cluster, o options, a arm) (measurement, error) {
	settings := a.settings
	var berth *cluster.Berth
	if a.berth {
		var err error
		berth, err = cluster.StartBerth(ctx, cluster.BerthOptions{Kubeconfig: c.Kubeconfig, Config: a.config, Dir: c.Dir})
		if err != nil {
			return measurement{}, err
		}
		defer berth.Stop(cluster.Deadline)
		settings.ExtenderURL = berth.URL()
	}
	if err := c.StartScheduler(ctx, settings); err != nil {
		return measurement{}, err
	}
	defer c.StopScheduler()
	// The first pods pay for connections and for the scheduler's first look at all nodes.
	if _, err := burst(ctx, c, o.clients, "warm", min(20, o.pods), nil); err != nil {
		return measurement{}, err
	}
	return burst(ctx, c, o.clients, "burst", o.pods, berth)
}

// cpuMeter reads what a process has used since it was made, in milliseconds a pod.
func cpuMeter(p *cluster.Process) (func(pods int) (float64, error), error) {
	before, err := p.CPUTime()
	return func(pods int) (float64, error) {
		after, err := p.CPUTime()
		return (after - before).Seconds() * 1000 / float64(pods), err
	}, err
}

// burst creates pods, waits until all have nodes, and deletes them. berth may be nil.
func burst(ctx context.Context, c *cluster.Cluster, clients int, name string, n int, berth *cluster.Berth) (measurement, error) {
	var m measurement
	meters := map[*float64]func(int) (float64, error){}
	for process, figure := range meteredProcesses(c, berth, &m) {
		meter, err := cpuMeter(process)
		if err != nil {
			return m, err
		}
		meters[figure] = meter
	}

	view, err := c.WatchPods(ctx, "")
	if err != nil {
		return m, err
	}
	defer view.Stop()
	var mutex sync.Mutex
	createdAt := make(map[types.UID]time.Time, n)
	began := time.Now()
	specs := cluster.PodSpec{Name: name, GPUs: 1}.Specs(n)
	err = cluster.Parallel(ctx, clients, specs, func(ctx context.Context, spec cluster.PodSpec) error {
		start := time.Now()
		pod, err := c.Client.CoreV1().Pods(cluster.Namespace).Create(ctx, spec.Pod(), metav1.CreateOptions{})
		if err == nil {
			mutex.Lock()
			createdAt[pod.UID] = start
			mutex.Unlock()
		}
		return err
	})
	if err != nil {
		return measurement{}, err
	}
	if err := view.WaitBound(ctx, n); err != nil {
		return measurement{}, err
	}
	for figure, meter := range meters {
		if *figure, err = meter(n); err != nil {
			return m, err
		}
	}
	waits := make([]float64, 0, n)
	last := began
	for uid, start := range createdAt {
		bound := view.BoundAt(uid)
		waits = append(waits, bound.Sub(start).Seconds())
		if bound.After(last) {
			last = bound
		}
	}
	if err := c.DeletePods(ctx, ""); err != nil {
		return measurement{}, err
	}
	sort.Float64s(waits)
	m.PodsPerSecond = float64(n) / last.Sub(began).Seconds()
	m.P50, m.P99 = quantile(waits, 0.50), quantile(waits, 0.99)
	return m, nil
}

// meteredProcesses maps each process whose processor time counts to the figure it goes into.
func meteredProcesses(c *cluster.Cluster, berth *cluster.Berth, m *measurement) map[*cluster.Process]*float64 {
	processes := map[*cluster.Process]*float64{c.Scheduler(): &m.SchedulerCPU}
	if berth != nil {
		processes[berth.Process] = &m.BerthCPU
	}
	return processes
}

// quantile is the nearest-rank quantile of ascending values.
func quantile(values []float64, q float64) float64 {
	rank := int(q*float64(len(values))+0.9999999) - 1
	return values[max(0, min(rank, len(values)-1))]
}
