// Command topology measures which GPUs of their nodes jobs get, and how near to each other the pods of a gang are, with
// Berth and with the stock scheduler.
//
//	tests/cluster/build.sh && go run ./bench/topology [--seeds 1,2,3] [--jobs 300] [--nodes 8] [--gangs 40] [--format table|json]
//
// First a cluster of four kinds of machine: DGX-1, HGX H100, A100 over PCIe with bridged pairs, and PCIe without NVLink.
// Jobs of 1 to 8 GPUs arrive one by one, while others finish so that no more than nine tenths are taken. Berth with Bind
// chooses the devices itself and writes them with the Binding; for Berth without it, and for the stock scheduler, a model
// of NVIDIA's device plugin does (plugin.go). Then gangs of four whole nodes on 64 nodes in eight racks, among other jobs.
// All schedulers get the same jobs in the same order. The exit code is 1 when a bound of report.go is missed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"

	"berth.dev/berth/testbed/bench/program"
	"berth.dev/berth/testbed/tests/cluster"
)

type options struct {
	Seeds []uint64 `json:"seeds"`
	Jobs  int      `json:"jobs"`
	Nodes int      `json:"nodes_of_each_kind"`
	Gangs int      `json:"gangs"`
}

func main() {
	var o options
	program.Main("topology", o.define, func(ctx context.Context) (*report, error) {
		return program.OnCluster(ctx, o.measure)
	})
}

func (o *options) define(flags *flag.FlagSet) func() error {
	seeds := flags.String("seeds", "1,2,3", "of jobs and who finishes when")
	flags.IntVar(&o.Jobs, "jobs", 300, "jobs of 1 to 8 GPUs; 0: leave their devices out")
	flags.IntVar(&o.Nodes, "nodes", 8, "nodes of each kind of machine")
	flags.IntVar(&o.Gangs, "gangs", 40, "gangs, each behind four other jobs; 0: leave them out")
	return func() error {
		for _, text := range strings.Split(*seeds, ",") {
			seed, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
			if err != nil {
				return fmt.Errorf("--seeds %s: want numbers, such as 1,2,3", *seeds)
			}
			o.Seeds = append(o.Seeds, seed)
		}
		if o.Jobs < 0 || o.Nodes < 1 || o.Gangs < 0 {
			return errors.New("--nodes must be at least 1, --jobs and --gangs at least 0")
		}
		return nil
	}
}

func (o *options) measure(ctx context.Context, c *cluster.Cluster) (*report, error) {
	r := &report{Kubernetes: c.Version, Options: *o}
	if o.Jobs > 0 {
		if err := o.measureDevices(ctx, c, r); err != nil {
			return nil, err
		}
	}
	if o.Gangs > 0 {
		if err := o.measureGangs(ctx, c, r); err != nil {
			return nil, err
		}
	}
	r.judge()
	return r, nil
}

func (o *options) measureDevices(ctx context.Context, c *cluster.Cluster, r *report) error {
	if err := c.CreateNodes(ctx, mixedNodes(o.Nodes)...); err != nil {
		return err
	}
	for _, ch := range choices {
		result := &devicesResult{Title: ch.title}
		for _, seed := range o.Seeds {
			if err := measureDevices(ctx, c, *o, seed, ch, result); err != nil {
				return err
			}
		}
		result.finish()
		r.Devices = append(r.Devices, result)
	}
	return nil
}

func (o *options) measureGangs(ctx context.Context, c *cluster.Cluster, r *report) error {
	if err := c.Reset(ctx); err != nil {
		return err
	}
	if err := c.CreateNodes(ctx, rackNodes()...); err != nil {
		return err
	}
	for _, ch := range []choice{{title: "Berth", berth: true}, {title: "stock"}} {
		result := &gangResult{Title: ch.title}
		for _, seed := range o.Seeds {
			if err := measureGangs(ctx, c, *o, seed, ch, result); err != nil {
				return err
			}
		}
		r.Gangs = append(r.Gangs, result)
	}
	return nil
}
