package e2e

import (
	"maps"
	"testing"

	"berth.dev/berth/testbed/tests/cluster"
)

// inTheMiddle creates 200 pods for 256 GPUs and calls act when 50 of them are placed; then all must be placed soundly.
func inTheMiddle(t *testing.T, act func(*bed)) *bed {
	t.Helper()
	const pods = 200
	b := setUp(t, cluster.A100SXM.Nodes("node", 32)...)
	created := make(chan error, 1)
	go func() { created <- b.CreatePods(b.ctx, 4, cluster.PodSpec{Name: "train", GPUs: 1}.Specs(pods)...) }()
	b.must(b.pods.WaitBound(b.ctx, 50))
	act(b)
	b.must(<-created)
	b.must(b.pods.WaitBound(b.ctx, pods))
	if seen := b.pods.Bound(); seen != pods {
		t.Errorf("%d pods were placed, want %d", seen, pods)
	}
	b.wantSound()
	return b
}

func TestBerthRestartsInTheMiddle(t *testing.T) {
	b := inTheMiddle(t, func(b *bed) {
		b.berth.Kill()
		if placed := b.pods.Bound(); placed == 200 {
			b.t.Fatal("Berth was killed too late to show anything")
		}
		b.startBerth(cluster.BerthOptions{Listen: b.berth.Extender})
	})
	b.place(cluster.PodSpec{Name: "after", GPUs: 8})
	b.wantWinner("after")
}

func TestAPIServerRestartsInTheMiddle(t *testing.T) {
	b := inTheMiddle(t, func(b *bed) {
		b.must(b.StopAPIServer())
		if placed := b.pods.Bound(); placed == 200 {
			b.t.Fatal("the API server was stopped too late to show anything")
		}
		b.must(b.StartAPIServer(b.ctx))
	})
	b.wantBerthFollows()
}

// A crash loses answers: a pod may be bound without the scheduler knowing, and its GPUs look free for a moment.
func TestAPIServerCrashesInTheMiddle(t *testing.T) {
	b := inTheMiddle(t, func(b *bed) {
		b.KillAPIServer()
		if placed := b.pods.Bound(); placed == 200 {
			b.t.Fatal("the API server was killed too late to show anything")
		}
		b.must(b.StartAPIServer(b.ctx))
	})
	b.wantBerthFollows()
}

// wantBerthFollows checks that Berth sees what changes after a restart of the API server.
func (b *bed) wantBerthFollows() {
	b.t.Helper()
	late := cluster.H100SXM.Node("late")
	maps.Copy(late.Labels, cluster.DatasetLabels(cluster.Namespace, "imagenet"))
	b.must(b.CreateNodes(b.ctx, late))
	b.must(b.berth.WaitNodes(b.ctx, 33))
	// Required, so that the pod waits while the scheduler has not seen the node.
	got := b.place(cluster.PodSpec{
		Name: "after", GPUs: 8, Datasets: []string{"imagenet"},
		Annotations: map[string]string{"berth.io/dataset-policy": "required"},
	})
	if got != "late" {
		b.t.Errorf("after is on %s, want the node that came after the restart with its data", got)
	}
}

func TestPodWithoutGPUPassesWhileBerthIsNotReady(t *testing.T) {
	b := setUpWithout(t, cluster.A100SXM.Nodes("node", 4)...)
	// Nobody listens on port 1, so Berth never sees the cluster.
	nowhere := b.dir + "/nowhere.kubeconfig"
	b.must(b.WriteKubeconfig(nowhere, "https://127.0.0.1:1"))
	b.startBerth(cluster.BerthOptions{Kubeconfig: nowhere, NotReady: true})
	b.startScheduler()
	if text, err := b.berth.Get(b.ctx, "/readyz"); err == nil {
		t.Errorf("Berth says it is ready: %s", text)
	}
	b.place(cluster.PodSpec{Name: "plain"})

	// A GPU pod waits, and its event says what for. Retries are on a clock of the scheduler's.
	b.create(cluster.PodSpec{Name: "train", GPUs: 1})
	text, err := b.WaitEvent(b.ctx, "train", "FailedScheduling", "")
	b.must(err)
	t.Logf("event of the waiting pod: %s", text)
	if pod := b.pods.Pod("train"); pod != nil && pod.Spec.NodeName != "" {
		t.Errorf("train was placed on %s while Berth knew nothing", pod.Spec.NodeName)
	}
	b.must(b.berth.Drain())
	b.startBerth(cluster.BerthOptions{Listen: b.berth.Extender})
	b.waitNode("train")
}
