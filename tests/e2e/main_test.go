// Package e2e places pods through a real kube-scheduler that asks a real Berth.
//
//	tests/cluster/build.sh && go test -count=1 ./tests/e2e/...
//
// BERTH_BIN names another Berth than build/release/berth, BERTH_K8S_VERSION another Kubernetes than the default.
package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/testbed/tests/cluster"
)

// shared is the control plane of all tests here but those that need Fluid's API, which have withFluid(). Each test has
// nodes, a Berth and a scheduler of its own.
var shared *cluster.Cluster

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if _, err := cluster.BerthBinary(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var err error
	if shared, err = cluster.Start(context.Background(), cluster.Options{}); err != nil {
		fmt.Fprintln(os.Stderr, "start the control plane:", err)
		return 1
	}
	code := m.Run()
	for _, c := range []*cluster.Cluster{shared, fluidStarted} {
		if c == nil {
			continue
		}
		if err := c.Stop(code != 0); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
		if code != 0 {
			fmt.Fprintln(os.Stderr, "logs are kept in", c.Dir)
		}
	}
	return code
}

// bed is what one test works on.
type bed struct {
	*cluster.Cluster
	t     *testing.T
	ctx   context.Context
	dir   string
	berth *cluster.Berth
	pods  *cluster.PodView
}

// setUp makes the cluster consist of these nodes and starts Berth and the scheduler with the shipped profile.
func setUp(t *testing.T, nodes ...*corev1.Node) *bed {
	t.Helper()
	b := setUpWithout(t, nodes...)
	b.startBerth(cluster.BerthOptions{})
	b.startScheduler()
	return b
}

// setUpWithout makes the nodes only.
func setUpWithout(t *testing.T, nodes ...*corev1.Node) *bed {
	t.Helper()
	return setUpOn(t, shared, nodes...)
}

// setUpOn makes the nodes of a control plane, and nothing else in it.
func setUpOn(t *testing.T, c *cluster.Cluster, nodes ...*corev1.Node) *bed {
	t.Helper()
	b := &bed{Cluster: c, t: t, ctx: t.Context(), dir: filepath.Join(c.Dir, strings.ReplaceAll(t.Name(), "/", "_"))}
	b.must(os.MkdirAll(b.dir, 0o755))
	b.must(b.StopScheduler())
	b.must(b.Reset(b.ctx))
	b.must(b.CreateNodes(b.ctx, nodes...))
	var err error
	b.pods, err = b.WatchPods(b.ctx, "")
	b.must(err)
	t.Cleanup(b.tearDown)
	return b
}

func (b *bed) startBerth(options cluster.BerthOptions) {
	b.t.Helper()
	options.Dir = b.dir
	if options.Kubeconfig == "" {
		options.Kubeconfig = b.Kubeconfig
	}
	var err error
	b.berth, err = cluster.StartBerth(b.ctx, options)
	b.must(err)
}

// startScheduler starts one that has Berth bind if it does.
func (b *bed) startScheduler() {
	b.t.Helper()
	b.must(b.StartScheduler(b.ctx, cluster.SchedulerSettings{ExtenderURL: b.berth.URL(), BindURL: b.berth.BindURL()}))
}

// tearDown ends what the test started. Berth has to end as asked: in every test.
func (b *bed) tearDown() {
	b.pods.Stop()
	if err := b.StopScheduler(); err != nil {
		b.t.Error(err)
	}
	if b.berth == nil {
		return
	}
	if err := b.berth.Drain(); err != nil {
		b.t.Error(err)
	}
	if b.t.Failed() {
		b.t.Logf("end of Berth's log:\n%s", b.berth.Log(20))
	}
}

// undefine takes API groups away that a test has defined. Its own context has ended by then.
func (b *bed) undefine(groups ...string) {
	if err := b.Undefine(context.Background(), groups...); err != nil {
		b.t.Error(err)
	}
}

func (b *bed) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// create creates pods one after the other, so that the scheduler takes them up in this order.
func (b *bed) create(specs ...cluster.PodSpec) {
	b.t.Helper()
	b.must(b.CreatePods(b.ctx, 1, specs...))
}

// waitNode waits until a pod has a node.
func (b *bed) waitNode(pod string) string {
	b.t.Helper()
	node := ""
	b.must(b.pods.Wait(b.ctx, pod+" has a node", func(v *cluster.PodView) bool {
		if p := v.Pod(pod); p != nil {
			node = p.Spec.NodeName
		}
		return node != ""
	}))
	return node
}

// place creates a pod and returns its node.
func (b *bed) place(spec cluster.PodSpec) string {
	b.t.Helper()
	b.create(spec)
	return b.waitNode(spec.Name)
}

// wantSound checks what must hold of every placement: a pod keeps its node, and no GPU is given away twice.
func (b *bed) wantSound() {
	b.t.Helper()
	if moved := b.pods.Moved(); len(moved) > 0 {
		b.t.Errorf("pods with two nodes: %q", moved)
	}
	over, err := b.Overcommitted(b.ctx)
	b.must(err)
	if len(over) > 0 {
		b.t.Errorf("over-committed: %q", over)
	}
	if b.berth.Bind == "" {
		return
	}
	shared, err := b.SharedGPUs(b.ctx)
	b.must(err)
	if len(shared) > 0 {
		b.t.Errorf("GPUs given away twice or not at all: %q", shared)
	}
}

// wantWinner checks that the node of a pod is the one Berth chose.
func (b *bed) wantWinner(pod string) {
	b.t.Helper()
	explanation, err := b.berth.Explain(b.ctx, pod)
	b.must(err)
	if node := b.pods.Pod(pod).Spec.NodeName; explanation.Winner != node {
		b.t.Errorf("pod %s is on %s, Berth chose %q", pod, node, explanation.Winner)
	}
}
