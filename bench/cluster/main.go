// Command cluster measures what Berth does to a real kube-scheduler's throughput, and to how long a pod waits.
//
//	tests/cluster/build.sh && go run ./bench/cluster [--nodes 1000,5000] [--rounds 7] [--format table|json]
//
// On one API server, whose nodes stay, every round measures each arm once: Berth; no extender, unbatched; no extender,
// batched; no extender, unbatched, with the scheduler's default sampling. All other settings are the shipped profile's.
// An arm starts a scheduler of its own, creates a burst of one-GPU pods from four clients and waits until they have
// nodes. The order alternates. The exit code is 1 when, for a number of nodes, the median
// over the rounds of Berth's pods per second over those of the unbatched scheduler without extender is below 1.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"time"

	"berth.dev/berth/testbed/bench/program"
	"berth.dev/berth/testbed/tests/cluster"
)

type options struct {
	nodes     []int
	rounds    int
	pods      int
	clients   int
	timeLimit time.Duration
}

func main() {
	var o options
	began := time.Now()
	program.Main("cluster", o.define, func(ctx context.Context) (*report, error) {
		return program.OnCluster(ctx, func(ctx context.Context, c *cluster.Cluster) (*report, error) {
			return o.measure(ctx, c, began)
		})
	})
}

func (o *options) define(flags *flag.FlagSet) func() error {
	nodes := flags.String("nodes", "1000,5000", "numbers of nodes, ascending")
	flags.IntVar(&o.rounds, "rounds", 7, "rounds for each number of nodes")
	flags.IntVar(&o.pods, "pods", 500, "pods in a burst")
	flags.IntVar(&o.clients, "clients", 4, "clients that create them")
	flags.DurationVar(&o.timeLimit, "time-limit", 45*time.Minute, "no further round starts after this long")
	return func() error { return o.check(*nodes) }
}

func (o *options) check(nodes string) error {
	for _, text := range strings.Split(nodes, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 || (len(o.nodes) > 0 && n <= o.nodes[len(o.nodes)-1]) {
			return fmt.Errorf("--nodes %s: want ascending numbers, such as 1000,5000", nodes)
		}
		o.nodes = append(o.nodes, n)
	}
	if o.rounds < 1 || o.pods < 1 || o.clients < 1 {
		return errors.New("--rounds, --pods and --clients must be at least 1")
	}
	if smallest := o.nodes[0] * machine.GPUs; o.pods > smallest {
		return fmt.Errorf("--pods %d: %d nodes have %d GPUs", o.pods, o.nodes[0], smallest)
	}
	return nil
}

// measure does all rounds for all numbers of nodes.
func (o *options) measure(ctx context.Context, c *cluster.Cluster, began time.Time) (*report, error) {
	r := newReport(c.Version, *o)
	created := 0
	for _, n := range o.nodes {
		program.Progress("creating nodes %d to %d", created+1, n)
		if err := c.CreateNodes(ctx, nodesBetween(created, n)...); err != nil {
			return nil, err
		}
		created = n
		size := r.addSize(n)
		for round := range o.rounds {
			if since := time.Since(began); since > o.timeLimit {
				program.Progress("time limit: %d of %d rounds at %d nodes", round, o.rounds, n)
				break
			}
			if err := runRound(ctx, c, *o, size, round); err != nil {
				return nil, err
			}
		}
	}
	r.finish()
	return r, nil
}

func runRound(ctx context.Context, c *cluster.Cluster, o options, size *sizeResult, round int) error {
	for i := range arms {
		// Berth and the arm it is compared with follow each other; each is first in every other round.
		a := i
		if i < 2 {
			a = i ^ (round & 1)
		}
		m, err := measure(ctx, c, o, arms[a])
		if err != nil {
			return fmt.Errorf("%d nodes, round %d, %s: %w", size.Nodes, round+1, arms[a].name, err)
		}
		size.add(a, m)
		program.Progress("%5d nodes, round %d of %d: %-34s %6.1f pods/s, P50 %5.2f s, P99 %5.2f s, CPU a pod %.1f + %.1f ms",
			size.Nodes, round+1, o.rounds, arms[a].title, m.PodsPerSecond, m.P50, m.P99,
			m.SchedulerCPU, m.BerthCPU)
	}
	return nil
}
