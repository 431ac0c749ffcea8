package e2e

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/testbed/tests/cluster"
	"berth.dev/berth/testbed/tests/cluster/fluid"
)

// fluidStarted is what withFluid has started.
var fluidStarted *cluster.Cluster

// withFluid is the control plane for Fluid's API. It starts without it.
var withFluid = sync.OnceValues(func() (*cluster.Cluster, error) {
	c, err := cluster.Start(context.Background(), cluster.Options{})
	fluidStarted = c
	return c, err
})

// quickConfig makes Berth look and tell sooner than it does by default.
const quickConfig = "data:\n  probeInterval: 1s\nevents:\n  pendingAfter: 10s\n"

// setUpFluid is setUp with Fluid's API.
func setUpFluid(t *testing.T, config string, nodes ...*corev1.Node) *bed {
	t.Helper()
	b := setUpFluidWithout(t, nodes...)
	b.must(fluid.Install(b.ctx, b.Cluster))
	b.startBerth(cluster.BerthOptions{Config: config})
	b.startScheduler()
	return b
}

// setUpFluidWithout makes the nodes only.
func setUpFluidWithout(t *testing.T, nodes ...*corev1.Node) *bed {
	t.Helper()
	c, err := withFluid()
	if err == nil {
		err = fluid.Clear(t.Context(), c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return setUpOn(t, c, nodes...)
}

// run is a subtest on the same nodes with the same Berth. Its pods and datasets are gone at its end; labels of nodes stay.
func (b *bed) run(name string, test func(*bed)) {
	b.t.Run(name, func(t *testing.T) {
		part := *b
		part.t, part.ctx = t, t.Context()
		defer func() {
			b.berth = part.berth // It may have been started again.
			if err := errors.Join(b.DeletePods(b.ctx, "!release"), fluid.Clear(b.ctx, b.Cluster)); err != nil {
				t.Error(err)
			}
		}()
		test(&part)
	})
}

// dataset makes a dataset. What is cached of it is in its status when Berth has seen the workers, as with Fluid, which
// works that out again and again.
func (b *bed) dataset(spec fluid.Spec) *fluid.Dataset {
	b.t.Helper()
	cached := spec.Cached
	spec.Cached = ""
	d, err := fluid.Create(b.ctx, b.Cluster, spec)
	b.must(err)
	if cached == "" {
		return d
	}
	b.must(b.berth.WaitDataset(b.ctx, d.Namespace+"/"+d.Name, "its workers are ready", func(v cluster.DatasetView) bool {
		return v.Phase == "Bound" && v.ReadyWorkers == len(spec.Workers)
	}))
	b.must(d.Update(b.ctx, func(s *fluid.Spec) { s.Cached = cached }))
	return d
}

// master is an Alluxio master that knows workers on nodes, with so many bytes.
func (b *bed) master(used map[string]int64) *fluid.Master {
	m := fluid.NewMaster()
	b.t.Cleanup(m.Close)
	for node, bytes := range used {
		m.SetUsed(cluster.HostIP(node), bytes)
	}
	return m
}

// waitCoverage waits until Berth knows this of a dataset on a node. An empty source: nothing at all.
func (b *bed) waitCoverage(d *fluid.Dataset, node string, coverage float64, source string, holds bool) cluster.NodeCoverage {
	b.t.Helper()
	var known cluster.NodeCoverage
	name := d.Namespace + "/" + d.Name
	what := fmt.Sprintf("%s has %v (%s, holds %v)", node, coverage, source, holds)
	b.must(b.berth.WaitDataset(b.ctx, name, what, func(v cluster.DatasetView) bool {
		known = v.On(node)
		return math.Abs(known.Coverage-coverage) < 0.001 && known.Source == source && known.Holds == holds
	}))
	if source != "" && known.AgeSeconds == nil {
		b.t.Errorf("coverage of %s on %s has no age", name, node)
	}
	return known
}

// wantNode creates a pod and checks where it lands.
func (b *bed) wantNode(want string, spec cluster.PodSpec) {
	b.t.Helper()
	if got := b.place(spec); got != want {
		explanation, _ := b.berth.Explain(b.ctx, spec.Name)
		b.t.Errorf("%s is on %s, want %s; decided: %+v", spec.Name, got, want, explanation)
	}
}

// required are the annotations of a pod that only goes where its datasets are.
var required = map[string]string{"berth.io/dataset-policy": "required"}

// reader is a pod that mounts claims.
func reader(name string, claims ...string) cluster.PodSpec {
	return cluster.PodSpec{Name: name, GPUs: 1, Claims: claims}
}

// requiring is one that only goes where their data is.
func requiring(name string, claims ...string) cluster.PodSpec {
	spec := reader(name, claims...)
	spec.Annotations = required
	return spec
}

const gib = int64(1) << 30
