// Command coldstart measures how long Berth takes from its start to ready with a real API server.
//
//	tests/cluster/build.sh && go run ./bench/cluster/coldstart [--nodes 5000] [--pods 50000] [--rounds 5] [--format table|json]
//
// The pods are created bound to nodes, evenly, one in two with a GPU. The exit code is 1 when the median of the rounds
// is over five seconds.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"sort"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/berth/testbed/bench/program"
	"berth.dev/berth/testbed/tests/cluster"
)

// limitSeconds is the bound of docs/benchmarks.md, for 5,000 nodes and 50,000 pods.
const limitSeconds = 5.0

type options struct{ nodes, pods, rounds, clients int }

type result struct {
	Version string    `json:"kubernetes"`
	Nodes   int       `json:"nodes"`
	Pods    int       `json:"pods"`
	Load    string    `json:"load_average"`
	Seconds []float64 `json:"seconds"`
	Median  float64   `json:"median_seconds"`
	Limit   float64   `json:"limit_seconds"`
	OK      bool      `json:"ok"`
}

func main() {
	var o options
	program.Main("coldstart", o.define, func(ctx context.Context) (*result, error) {
		return program.OnCluster(ctx, o.measure)
	})
}

func (o *options) define(flags *flag.FlagSet) func() error {
	flags.IntVar(&o.nodes, "nodes", 5000, "nodes")
	flags.IntVar(&o.pods, "pods", 50000, "pods, bound to the nodes in turn")
	flags.IntVar(&o.rounds, "rounds", 5, "starts of Berth")
	flags.IntVar(&o.clients, "clients", 16, "clients that create the objects")
	return func() error {
		if o.nodes < 1 || o.pods < 0 || o.rounds < 1 || o.clients < 1 {
			return errors.New("numbers must be positive")
		}
		return nil
	}
}

func (o *options) measure(ctx context.Context, c *cluster.Cluster) (*result, error) {
	if err := fill(ctx, c, *o); err != nil {
		return nil, err
	}
	r := &result{Version: c.Version, Nodes: o.nodes, Pods: o.pods, Limit: limitSeconds, Load: loadAverage()}
	for round := range o.rounds {
		seconds, err := startOnce(ctx, c)
		if err != nil {
			return nil, err
		}
		program.Progress("round %d of %d: ready after %.2f s", round+1, o.rounds, seconds)
		r.Seconds = append(r.Seconds, seconds)
	}
	sorted := append([]float64(nil), r.Seconds...)
	sort.Float64s(sorted)
	r.Median = sorted[len(sorted)/2]
	r.OK = r.Median <= limitSeconds
	return r, nil
}

// fill creates the nodes and then the pods.
func fill(ctx context.Context, c *cluster.Cluster, o options) error {
	program.Progress("creating %d nodes", o.nodes)
	nodes := make([]*corev1.Node, o.nodes)
	for i := range nodes {
		nodes[i] = cluster.A100SXM.Node(nodeName(i))
	}
	if err := c.CreateNodes(ctx, nodes...); err != nil {
		return err
	}
	numbers := make([]int, o.pods)
	for i := range numbers {
		numbers[i] = i
	}
	const portion = 10000
	for from := 0; from < o.pods; from += portion {
		program.Progress("creating pods %d to %d", from+1, min(from+portion, o.pods))
		err := cluster.Parallel(ctx, o.clients, numbers[from:min(from+portion, o.pods)],
			func(ctx context.Context, i int) error {
				// By turns one GPU and none, so that no node holds more than it has.
				spec := cluster.PodSpec{Name: fmt.Sprintf("job-%06d", i), GPUs: (i / o.nodes) % 2}
				pod := spec.Pod()
				pod.Spec.NodeName = nodeName(i % o.nodes)
				_, err := c.Client.CoreV1().Pods(cluster.Namespace).Create(ctx, pod, metav1.CreateOptions{})
				return err
			})
		if err != nil {
			return err
		}
	}
	return nil
}

func nodeName(i int) string { return fmt.Sprintf("gpu-%05d", i) }

// startOnce is one cold start, in seconds from exec to the first 200 of /readyz.
func startOnce(ctx context.Context, c *cluster.Cluster) (float64, error) {
	began := time.Now()
	berth, err := cluster.StartBerth(ctx, cluster.BerthOptions{Kubeconfig: c.Kubeconfig, Dir: c.Dir})
	if err != nil {
		return 0, err
	}
	seconds := time.Since(began).Seconds()
	return seconds, berth.Stop(cluster.Deadline)
}

func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	var one, five, fifteen string
	_, _ = fmt.Sscan(string(text), &one, &five, &fifteen)
	return one + " " + five + " " + fifteen
}

// Met says whether the bound is.
func (r *result) Met() bool { return r.OK }

// WriteTable prints the figures.
func (r *result) WriteTable(w io.Writer) {
	fmt.Fprintf(w, "Kubernetes %s, %d nodes, %d pods; load average %s\n", r.Version, r.Nodes, r.Pods, r.Load)
	fmt.Fprint(w, "start to ready, seconds:")
	for _, seconds := range r.Seconds {
		fmt.Fprintf(w, " %.2f", seconds)
	}
	verdict := "ok"
	if !r.OK {
		verdict = "MISSED"
	}
	fmt.Fprintf(w, "\nmedian %.2f s, must be at most %.0f s: %s\n", r.Median, r.Limit, verdict)
}
