package e2e

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"berth.dev/berth/testbed/tests/cluster"
	"berth.dev/berth/testbed/tests/cluster/fluid"
)

const (
	wakeKey       = "berth.io/wake"   // the annotation with which Berth has a pod tried again
	localityEvent = "DatasetLocality" // reason of the event on a pod that has a node
	pendingEvent  = "WaitingForPlace" // and of that on one that waits for long
)

// wait creates pods that have to wait, and returns when the scheduler has rejected them for a reason of Berth's.
func (b *bed) wait(reason string, specs ...cluster.PodSpec) {
	b.t.Helper()
	b.create(specs...)
	b.must(b.pods.Wait(b.ctx, "the pods are rejected with "+reason, func(v *cluster.PodView) bool {
		for _, spec := range specs {
			if !strings.Contains(scheduledMessage(v.Pod(spec.Name)), reason) {
				return false
			}
		}
		return true
	}))
}

// scheduledMessage is why a pod has no node.
func scheduledMessage(pod *corev1.Pod) string {
	if pod == nil {
		return ""
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return condition.Message
		}
	}
	return ""
}

// woken waits until a pod has a node and logs how long after a change that was. The bound is bench/locality's business.
func (b *bed) woken(pod string, changed time.Time) string {
	b.t.Helper()
	node := b.waitNode(pod)
	b.t.Logf("%s has a node %s after the change", pod, b.pods.BoundAt(b.pods.Pod(pod).UID).Sub(changed).Round(time.Millisecond))
	return node
}

func (b *bed) wantWokenOn(want, pod string, changed time.Time) {
	b.t.Helper()
	if got := b.woken(pod, changed); got != want {
		b.t.Errorf("%s is on %s, want %s", pod, got, want)
	}
}

func TestWaitingPodsAreWoken(t *testing.T) {
	b := setUpFluid(t, quickConfig, cluster.A100SXM.Nodes("node", 6)...)

	b.run("when a worker measured empty has data", func(b *bed) {
		master := b.master(map[string]int64{"node-003": 0})
		d := b.dataset(fluid.Spec{Name: "warmed", Bytes: 100 * gib, Master: master.Address(), Workers: []string{"node-003"}})
		b.waitCoverage(d, "node-003", 0, "measured", false)
		b.wait("DATASET_NOT_CACHED", requiring("train", "warmed"))
		changed := time.Now()
		master.SetUsed(cluster.HostIP("node-003"), 50*gib)
		b.wantWokenOn("node-003", "train", changed)
		if b.pods.Pod("train").Annotations[wakeKey] == "" {
			b.t.Errorf("train has no annotation %s", wakeKey)
		}
	})

	// kube-scheduler itself tries again when any pod or node changes. A Dataset it does not see.
	b.run("when a dataset becomes Bound, and not before they fit", func(b *bed) {
		first, second := b.unbound("first", "node-001"), b.unbound("second", "node-002")
		b.place(cluster.PodSpec{Name: "blocker", GPUs: 8, Node: "node-001"})
		b.wait("DATASET_NOT_CACHED", requiring("hopeless", "first"), requiring("hopeful", "second"))
		b.must(first.Update(b.ctx, func(s *fluid.Spec) { s.Unbound = false }))
		b.must(b.berth.WaitDataset(b.ctx, "default/first", "held", func(v cluster.DatasetView) bool {
			return v.On("node-001").Holds
		}))
		changed := time.Now()
		b.must(second.Update(b.ctx, func(s *fluid.Spec) { s.Unbound = false }))
		b.wantWokenOn("node-002", "hopeful", changed)
		// Berth has looked at what had changed for both; for this one there is no GPU where its data is.
		if value, found := b.pods.Pod("hopeless").Annotations[wakeKey]; found {
			b.t.Errorf("hopeless was woken at %s although it fits nowhere", value)
		}
	})

	b.run("when dataset-wait ends", func(b *bed) {
		d := b.dataset(fluid.Spec{Name: "cold", Bytes: 100 * gib, Cached: "100.0%", Workers: []string{"node-001"}})
		b.waitCoverage(d, "node-001", 1, "uniform", true)
		b.place(cluster.PodSpec{Name: "blocker", GPUs: 8, Node: "node-001"})
		spec := requiring("patient", "cold")
		spec.Annotations = map[string]string{"berth.io/dataset-policy": "required", "berth.io/dataset-wait": "5s"}
		b.wait("DATASET_NOT_CACHED", spec)
		until := b.pods.Pod("patient").CreationTimestamp.Add(5 * time.Second)
		if got := b.woken("patient", until); got == "node-001" {
			b.t.Errorf("patient is on %s, which has no free GPU", got)
		}
		if bound := b.pods.BoundAt(b.pods.Pod("patient").UID); bound.Before(until) {
			b.t.Errorf("patient has a node %s before its wait was over", until.Sub(bound))
		}
	})

	b.run("when their dataset comes to be", func(b *bed) {
		spec := cluster.PodSpec{Name: "early", GPUs: 1, Datasets: []string{"future"}, Annotations: required}
		b.wait("DATASET_UNKNOWN", spec)
		changed := time.Now()
		b.dataset(fluid.Spec{Name: "future", Bytes: 100 * gib, Cached: "100.0%", Workers: []string{"node-005"}})
		b.wantWokenOn("node-005", "early", changed)
	})

	b.run("by one annotation of a node when more than 50 wait", func(b *bed) {
		d := b.unbound("popular", nodeNames(6)...)
		const pods = 51
		spec := requiring("many", "popular")
		spec.GPUs = 0
		b.wait("DATASET_NOT_CACHED", spec.Specs(pods)...)
		b.waitQuiet()
		before := b.wokenNodes()
		changed := time.Now()
		b.must(d.Update(b.ctx, func(s *fluid.Spec) { s.Unbound = false }))
		for _, spec := range spec.Specs(pods) {
			b.waitNode(spec.Name)
		}
		b.t.Logf("all have a node %s after the change", time.Since(changed).Round(time.Millisecond))
		patched := 0
		for _, pod := range b.pods.Pods() {
			if _, found := pod.Annotations[wakeKey]; found {
				patched++
			}
		}
		if patched > 0 {
			b.t.Errorf("%d of %d pods have the annotation themselves, want it on a node", patched, pods)
		}
		if after := b.wokenNodes(); after == before {
			b.t.Errorf("no node has a new annotation %s", wakeKey)
		}
	})

	b.run("also by a Berth that has just started", func(b *bed) {
		d := b.unbound("kept", "node-002")
		b.wait("DATASET_NOT_CACHED", requiring("train", "kept"))
		b.waitQuiet() // A call that breaks off is retried on a clock of the scheduler's.
		b.berth.Kill()
		b.startBerth(cluster.BerthOptions{Listen: b.berth.Extender, Config: quickConfig})
		changed := time.Now()
		b.must(d.Update(b.ctx, func(s *fluid.Spec) { s.Unbound = false }))
		b.wantWokenOn("node-002", "train", changed)
		if b.pods.Pod("train").Annotations[wakeKey] == "" {
			b.t.Errorf("train has no annotation %s", wakeKey)
		}
	})
}

// unbound is a dataset with workers, of which nothing counts yet.
func (b *bed) unbound(name string, workers ...string) *fluid.Dataset {
	b.t.Helper()
	d := b.dataset(fluid.Spec{Name: name, Bytes: 100 * gib, Shared: true, Unbound: true, Workers: workers})
	b.must(b.berth.WaitDataset(b.ctx, "default/"+name, "pending", func(v cluster.DatasetView) bool {
		return v.Phase == "Pending" && v.HoldingNodes == 0
	}))
	return d
}

func nodeNames(n int) []string {
	var names []string
	for _, node := range cluster.A100SXM.Nodes("node", n) {
		names = append(names, node.Name)
	}
	return names
}

// waitQuiet waits until the scheduler has stopped trying pods: each rejection that it writes on one has it try all again.
func (b *bed) waitQuiet() {
	b.t.Helper()
	last := 0.0
	b.must(wait.PollUntilContextTimeout(b.ctx, time.Second, cluster.Deadline, false, func(ctx context.Context) (bool, error) {
		asked, err := b.berth.Metric(ctx, "berth_asked_nodes_total")
		quiet := err == nil && asked == last
		last = asked
		return quiet, err
	}))
}

// wokenNodes is what the nodes' annotations are, in one text.
func (b *bed) wokenNodes() string {
	nodes, err := b.Client.CoreV1().Nodes().List(b.ctx, metav1.ListOptions{})
	b.must(err)
	var text strings.Builder
	for _, node := range nodes.Items {
		text.WriteString(node.Name + "=" + node.Annotations[wakeKey] + " ")
	}
	return text.String()
}

func TestPodsAreToldWhatBecameOfTheirData(t *testing.T) {
	b := setUpFluid(t, quickConfig, cluster.A100SXM.Nodes("node", 4)...)
	d := b.dataset(fluid.Spec{Name: "imagenet", Bytes: 100 * gib, Cached: "100.0%", Workers: []string{"node-001", "node-002"}})
	b.waitCoverage(d, "node-001", 0.5, "uniform", true)

	b.place(reader("train", "imagenet"))
	text, err := b.WaitEvent(b.ctx, "train", localityEvent, "")
	b.must(err)
	node := b.waitNode("train")
	for _, word := range []string{node, "50", "uniform"} {
		if !strings.Contains(text, word) {
			t.Errorf("event is %q, want %q in it", text, word)
		}
	}

	for _, full := range []string{"node-001", "node-002"} {
		b.place(cluster.PodSpec{Name: "blocker-" + full, GPUs: 7, Node: full})
	}
	spec := requiring("stuck", "imagenet")
	spec.GPUs = 8
	b.create(spec)
	text, err = b.WaitEvent(b.ctx, "stuck", pendingEvent, "node-001")
	b.must(err)
	if !strings.Contains(text, "node-002") {
		t.Errorf("event is %q, want both nodes with the data in it", text)
	}
}
