package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"berth.dev/berth/testbed/tests/cluster"
)

// setUpBind is setUp with a Berth that binds.
func setUpBind(t *testing.T, nodes ...*corev1.Node) *bed {
	t.Helper()
	b := setUpWithout(t, nodes...)
	b.startBerth(cluster.BerthOptions{BindListen: cluster.AnyPort})
	b.startScheduler()
	return b
}

// restartBerth kills Berth and starts it again on the same ports.
func (b *bed) restartBerth() {
	b.t.Helper()
	b.berth.Kill()
	b.startBerth(cluster.BerthOptions{Listen: b.berth.Extender, BindListen: b.berth.Bind})
}

// gpus are those that Berth gave a pod.
func (b *bed) gpus(pod string) []int {
	b.t.Helper()
	gpus, err := cluster.AssignedGPUs(b.pods.Pod(pod))
	b.must(err)
	return gpus
}

func (b *bed) wantGPUs(pod string, want ...int) {
	b.t.Helper()
	if got := b.gpus(pod); !slices.Equal(got, want) {
		b.t.Errorf("%s has GPUs %v, want %v", pod, got, want)
	}
}

func TestBindWritesTheGPUsInTheUpdateThatSetsTheNode(t *testing.T) {
	b := setUpBind(t, cluster.V100DGX1.Nodes("dgx", 2)...)
	ctx, cancel := context.WithTimeout(b.ctx, cluster.Deadline)
	defer cancel()
	changes, err := b.Client.CoreV1().Pods(cluster.Namespace).Watch(ctx, metav1.ListOptions{})
	b.must(err)
	defer changes.Stop()
	b.create(cluster.PodSpec{Name: "train", GPUs: 4})
	for change := range changes.ResultChan() {
		pod, ok := change.Object.(*corev1.Pod)
		if !ok || pod.Spec.NodeName == "" {
			continue
		}
		// The first change with a node; the boards of a DGX-1 are the only fours with links between any two.
		gpus, err := cluster.AssignedGPUs(pod)
		if err != nil || !slices.Equal(gpus, []int{0, 1, 2, 3}) {
			t.Errorf("the change that sets the node has GPUs %v (%v), want 0 to 3", gpus, err)
		}
		b.wantSound()
		return
	}
	t.Fatal("the pod got no node")
}

// HAMi#2232, KAI-Scheduler#2153, volcano#3616: the same GPU given twice to pods that come together.
func TestThirtyPodsAtOnceGetEveryGPUOnce(t *testing.T) {
	b := setUpBind(t, cluster.V100DGX1.Nodes("dgx", 4)...)
	specs := cluster.PodSpec{Name: "one", GPUs: 1}.Specs(28)
	specs = append(specs, cluster.PodSpec{Name: "two", GPUs: 2}.Specs(2)...)
	b.must(b.CreatePods(b.ctx, 16, specs...))
	b.must(b.pods.WaitBound(b.ctx, len(specs)))
	b.wantSound()
	given := 0
	for _, spec := range specs {
		given += len(b.gpus(spec.Name))
	}
	if given != 32 {
		t.Errorf("%d GPUs are given, want all 32", given)
	}
}

// A scheduler that dies may have asked for a binding whose answer it never saw, and asks again.
func TestSchedulerRestartsWhileBerthBinds(t *testing.T) {
	const pods = 60
	b := setUpBind(t, cluster.V100DGX1.Nodes("dgx", 8)...)
	created := make(chan error, 1)
	go func() { created <- b.CreatePods(b.ctx, 4, cluster.PodSpec{Name: "train", GPUs: 1}.Specs(pods)...) }()
	b.must(b.pods.WaitBound(b.ctx, 15))
	b.must(b.RestartScheduler(b.ctx))
	b.must(<-created)
	b.must(b.pods.WaitBound(b.ctx, pods))
	b.wantSound()
}

// bind asks Berth as the scheduler does, and returns the error of the answer.
func (b *bed) bind(pod *corev1.Pod, node string) string {
	b.t.Helper()
	body, err := json.Marshal(extenderv1.ExtenderBindingArgs{
		PodName: pod.Name, PodNamespace: pod.Namespace, PodUID: pod.UID, Node: node,
	})
	b.must(err)
	request, err := http.NewRequestWithContext(b.ctx, http.MethodPost, b.berth.BindURL()+"/bind", bytes.NewReader(body))
	b.must(err)
	response, err := http.DefaultClient.Do(request)
	b.must(err)
	defer response.Body.Close()
	var result extenderv1.ExtenderBindingResult
	b.must(json.NewDecoder(response.Body).Decode(&result))
	if response.StatusCode != http.StatusOK {
		b.t.Errorf("bind %s to %s: %s", pod.Name, node, response.Status)
	}
	return result.Error
}

func TestBindingAgainToTheSameNodeIsNoError(t *testing.T) {
	b := setUpBind(t, cluster.V100DGX1.Nodes("dgx", 2)...)
	node := b.place(cluster.PodSpec{Name: "train", GPUs: 2})
	gpus := b.gpus("train")
	pod := b.pods.Pod("train")
	if text := b.bind(pod, node); text != "" {
		t.Errorf("binding to its node again: %s", text)
	}
	other := map[string]string{"dgx-000": "dgx-001", "dgx-001": "dgx-000"}[node]
	if text := b.bind(pod, other); text == "" {
		t.Errorf("binding to %s a pod that is on %s was no error", other, node)
	}
	// Nothing that was tried holds GPUs: another pod gets the whole other node.
	if got := b.place(cluster.PodSpec{Name: "whole", GPUs: 8}); got != other {
		t.Errorf("whole is on %s, want %s", got, other)
	}
	b.wantGPUs("train", gpus...)
	b.wantSound()
}

// HAMi#812, HAMi#1557: what pods hold is lost, or held for ever, when the scheduler or the node starts again.
func TestGPUsArePlannedFromAnnotationsAfterARestart(t *testing.T) {
	b := setUpBind(t, cluster.V100DGX1.Node("dgx"))
	specs := cluster.PodSpec{Name: "two", GPUs: 2}.Specs(4)
	for _, spec := range specs {
		b.place(spec)
	}
	b.wantSound()
	freed := b.gpus("two-001")
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64)}
	b.must(b.Client.CoreV1().Pods(cluster.Namespace).Delete(b.ctx, "two-001", now))
	b.must(b.pods.Wait(b.ctx, "two-001 is gone", func(v *cluster.PodView) bool { return v.Pod("two-001") == nil }))
	b.restartBerth()
	b.place(cluster.PodSpec{Name: "next", GPUs: 2})
	b.wantGPUs("next", freed...)
	b.wantSound()
}

func TestBerthRestartsWhileItBinds(t *testing.T) {
	const pods = 60
	b := setUpBind(t, cluster.V100DGX1.Nodes("dgx", 8)...)
	created := make(chan error, 1)
	go func() { created <- b.CreatePods(b.ctx, 4, cluster.PodSpec{Name: "train", GPUs: 1}.Specs(pods)...) }()
	b.must(b.pods.WaitBound(b.ctx, 15))
	b.restartBerth()
	b.must(<-created)
	b.must(b.pods.WaitBound(b.ctx, pods))
	b.wantSound()
}
