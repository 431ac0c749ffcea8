package e2e

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/berth/testbed/tests/cluster"
)

func TestPodLandsOnANodeThatHoldsItsDataset(t *testing.T) {
	b := setUp(t, cluster.A100SXM.Nodes("node", 8)...)
	b.must(b.CacheDataset(b.ctx, "imagenet", true, "node-005"))
	// A node in use is what packing and the scheduler's own MostAllocated would take.
	if got := b.place(cluster.PodSpec{Name: "other", GPUs: 4, Node: "node-001"}); got != "node-001" {
		t.Fatalf("the pod with a node selector is on %s", got)
	}
	for _, spec := range (cluster.PodSpec{Name: "train", GPUs: 2, Datasets: []string{"imagenet"}}).Specs(4) {
		if got := b.place(spec); got != "node-005" {
			t.Errorf("%s is on %s, want node-005, which holds its data", spec.Name, got)
		}
		b.wantWinner(spec.Name)
	}
	b.wantSound()
}

func TestPodLandsElsewhereWhenTheNodeWithItsDatasetIsFull(t *testing.T) {
	b := setUp(t, cluster.A100SXM.Nodes("node", 4)...)
	b.must(b.CacheDataset(b.ctx, "imagenet", true, "node-002"))
	b.place(cluster.PodSpec{Name: "blocker", GPUs: 7, Node: "node-002"})
	got := b.place(cluster.PodSpec{Name: "train", GPUs: 2, Datasets: []string{"default/imagenet"}})
	if got == "node-002" {
		t.Errorf("train is on node-002, which has one GPU left")
	}
	b.wantWinner("train")
	b.wantSound()
}

func TestSchedulerTakesTheWinner500Of500(t *testing.T) {
	const pods = 500
	b := setUp(t, cluster.A100SXM.Nodes("node", 200)...)
	b.must(b.CreatePods(b.ctx, 4, cluster.PodSpec{Name: "train", GPUs: 1}.Specs(pods)...))
	b.must(b.pods.WaitBound(b.ctx, pods))
	agreed := 0
	for _, pod := range b.pods.Pods() {
		explanation, err := b.berth.Explain(b.ctx, pod.Name)
		b.must(err)
		if explanation.Winner == pod.Spec.NodeName {
			agreed++
		} else {
			t.Logf("pod %s is on %s, Berth chose %q", pod.Name, pod.Spec.NodeName, explanation.Winner)
		}
	}
	if agreed != pods {
		t.Errorf("the scheduler took Berth's winner for %d of %d pods", agreed, pods)
	}
	b.wantSound()
}

func TestClusterFillsToTheLastGPU(t *testing.T) {
	b := setUp(t, cluster.A100SXM.Nodes("node", 16)...)
	// Eight rounds of 4+2+1+1 fill eight nodes only if each round completes a node; a job for whole nodes then
	// finds the other eight untouched.
	var small, whole []cluster.PodSpec
	for _, round := range (cluster.PodSpec{Name: "small"}).Specs(8) {
		for _, part := range []struct {
			suffix string
			gpus   int
		}{{"-a", 4}, {"-b", 2}, {"-c", 1}, {"-d", 1}} {
			small = append(small, cluster.PodSpec{Name: round.Name + part.suffix, GPUs: part.gpus})
		}
	}
	whole = cluster.PodSpec{Name: "whole", GPUs: 8}.Specs(8)
	b.create(small...)
	b.create(whole...)
	b.must(b.pods.WaitBound(b.ctx, len(small)+len(whole)))
	free, err := b.FreeGPUs(b.ctx)
	b.must(err)
	if free != 0 {
		t.Errorf("%d GPUs are free, want 0", free)
	}
	b.wantSound()

	b.create(cluster.PodSpec{Name: "one-too-many", GPUs: 1})
	_, err = b.WaitEvent(b.ctx, "one-too-many", "FailedScheduling", "Insufficient nvidia.com/gpu")
	b.must(err)
	b.wantSound()
}

func TestSeveralPodsAtOnce(t *testing.T) {
	b := setUp(t, slices.Concat(cluster.H100SXM.Nodes("h100", 6), cluster.V100DGX1.Nodes("v100", 6),
		cluster.A100PCIe.Nodes("pcie", 8))...)
	var specs []cluster.PodSpec
	for gpus, count := range map[int]int{1: 24, 2: 16, 4: 8} { // 88 of 128 GPUs
		specs = append(specs, cluster.PodSpec{Name: "gpus-" + string(rune('0'+gpus)), GPUs: gpus}.Specs(count)...)
	}
	specs = append(specs, cluster.PodSpec{Name: "plain"}.Specs(16)...)
	b.must(b.CreatePods(b.ctx, 16, specs...))
	b.must(b.pods.WaitBound(b.ctx, len(specs)))
	for _, spec := range specs {
		if spec.GPUs > 0 {
			b.wantWinner(spec.Name)
		}
	}
	b.wantSound()
}

func TestReasonIsInTheEventOfAPodThatNoNodeMayTake(t *testing.T) {
	b := setUp(t, cluster.A100SXM.Nodes("node", 4)...)
	b.create(cluster.PodSpec{
		Name: "train", GPUs: 2, Datasets: []string{"imagenet"},
		Annotations: map[string]string{"berth.io/dataset-policy": "required"},
	})
	text, err := b.WaitEvent(b.ctx, "train", "FailedScheduling", "DATASET_UNKNOWN")
	b.must(err)
	if !strings.Contains(text, "4 DATASET_UNKNOWN") {
		t.Errorf("event is %q, want one reason for all 4 nodes", text)
	}
}

func TestFinishedJobGivesItsGPUsBack(t *testing.T) {
	b := setUp(t, cluster.A100SXM.Nodes("node", 1)...)
	job := cluster.PodSpec{Name: "finished", GPUs: 8, Labels: map[string]string{"run": "finished"}}
	_, err := b.Client.BatchV1().Jobs(cluster.Namespace).Create(b.ctx, job.Job(), metav1.CreateOptions{})
	b.must(err)
	b.must(b.pods.Wait(b.ctx, "the job's pod has succeeded", func(v *cluster.PodView) bool {
		return len(v.Pods()) == 1 && v.Pods()[0].Status.Phase == corev1.PodSucceeded
	}))
	b.place(cluster.PodSpec{Name: "next", GPUs: 8})
	b.wantWinner("next")
	b.wantSound()
}
