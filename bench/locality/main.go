// Command locality measures how much of what jobs read is local on the node that they get, with Berth and with the stock
// scheduler, and how soon a waiting pod is woken.
//
//	tests/cluster/build.sh && go run ./bench/locality [--seed 1] [--jobs 150] [--wakes 24] [--format table|json]
//
// 64 nodes of 8 GPUs, most of them taken; 12 datasets, each with bytes on 3 to 6 nodes, unevenly; jobs of 1 to 8 GPUs that
// read one or two datasets arrive one by one, while others finish. Both schedulers get the same jobs in the same order. At
// each decision the bench, which keeps a model of its own, compares the bytes that are local on the chosen node with the
// most that any node with enough free GPUs held. The exit code is 1 when a bound of report.go is missed.
package main

import (
	"context"
	"errors"
	"flag"

	"berth.dev/berth/testbed/bench/program"
	"berth.dev/berth/testbed/tests/cluster"
	"berth.dev/berth/testbed/tests/cluster/fluid"
)

type options struct {
	seed  uint64
	jobs  int
	wakes int
}

func main() {
	var o options
	program.Main("locality", o.define, func(ctx context.Context) (*report, error) {
		return program.OnCluster(ctx, o.measure)
	})
}

func (o *options) define(flags *flag.FlagSet) func() error {
	flags.Uint64Var(&o.seed, "seed", 1, "of datasets, jobs and who finishes when")
	flags.IntVar(&o.jobs, "jobs", 150, "jobs that read datasets")
	flags.IntVar(&o.wakes, "wakes", 24, "pods that are woken by a dataset that becomes Bound; half as many by the end of their wait")
	return func() error {
		if o.jobs < 1 || o.wakes < 2 {
			return errors.New("--jobs must be at least 1, --wakes at least 2")
		}
		return nil
	}
}

func (o *options) measure(ctx context.Context, c *cluster.Cluster) (*report, error) {
	program.Progress("creating nodes and datasets")
	w := makeWorkload(o.seed, o.jobs)
	if err := c.CreateNodes(ctx, machine.Nodes(nodePrefix, nodeCount)...); err != nil {
		return nil, err
	}
	if err := fluid.Install(ctx, c); err != nil {
		return nil, err
	}
	masters, err := w.createDatasets(ctx, c)
	defer masters.Close()
	if err != nil {
		return nil, err
	}
	r := &report{Kubernetes: c.Version, Seed: o.seed, Jobs: o.jobs}

	berth, err := cluster.StartBerth(ctx, cluster.BerthOptions{Kubeconfig: c.Kubeconfig, Dir: c.Dir})
	if err != nil {
		return nil, err
	}
	defer berth.Stop(cluster.Deadline)
	if err := w.waitMeasured(ctx, berth); err != nil {
		return nil, err
	}
	if err := c.StartScheduler(ctx, cluster.SchedulerSettings{ExtenderURL: berth.URL()}); err != nil {
		return nil, err
	}
	if r.Berth, err = runArm(ctx, c, w, "Berth", berth); err != nil {
		return nil, err
	}
	program.Progress("waking pods")
	if r.Wakes, err = measureWakes(ctx, c, berth, o.wakes); err != nil {
		return nil, err
	}
	if err := c.StartStockScheduler(ctx); err != nil {
		return nil, err
	}
	if r.Stock, err = runArm(ctx, c, w, "stock scheduler", nil); err != nil {
		return nil, err
	}
	r.judge()
	return r, nil
}
