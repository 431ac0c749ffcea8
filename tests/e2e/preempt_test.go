package e2e

import (
	"context"
	"slices"
	"strings"
	"testing"

	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/berth/testbed/tests/cluster"
)

// volcano#5906, kubernetes#135486: preemption evicts more than it needs, or pods whose GPUs don't help.
func TestPreemptionFreesAConnectedSet(t *testing.T) {
	// Two quads, each behind a PCIe switch of its own.
	machine := cluster.A100PCIe
	machine.GPUs = 8
	b := setUpWithout(t, machine.Node("pcie"))
	classes := b.Client.SchedulingV1().PriorityClasses()
	_, err := classes.Create(b.ctx, &schedulingv1.PriorityClass{
		ObjectMeta: metav1.ObjectMeta{Name: "urgent"}, Value: 1000,
	}, metav1.CreateOptions{})
	b.must(err)
	t.Cleanup(func() { _ = classes.Delete(context.Background(), "urgent", metav1.DeleteOptions{}) })
	b.startBerth(cluster.BerthOptions{BindListen: cluster.AnyPort, Config: "preempt:\n  enabled: true\n"})
	b.must(b.StartScheduler(b.ctx, cluster.SchedulerSettings{
		ExtenderURL: b.berth.URL(), BindURL: b.berth.BindURL(), Preempt: true,
	}))
	specs := cluster.PodSpec{Name: "low", GPUs: 2}.Specs(4)
	for _, spec := range specs {
		b.place(spec)
	}
	// The scheduler would evict those that started last. One of each quad is made such.
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64)}
	b.must(b.Client.CoreV1().Pods(cluster.Namespace).Delete(b.ctx, "low-001", now))
	b.must(b.pods.Wait(b.ctx, "low-001 is gone", func(v *cluster.PodView) bool { return v.Pod("low-001") == nil }))
	b.place(cluster.PodSpec{Name: "late", GPUs: 2})
	held := map[string][]int{}
	for _, pod := range b.pods.Pods() {
		held[pod.Name] = b.gpus(pod.Name)
	}
	b.create(cluster.PodSpec{
		Name: "restricted", GPUs: 4, Priority: "urgent", Annotations: map[string]string{"berth.io/topology-policy": "restricted"},
	})
	b.waitNode("restricted")
	got := b.gpus("restricted")
	if !slices.Equal(got, []int{0, 1, 2, 3}) && !slices.Equal(got, []int{4, 5, 6, 7}) {
		t.Errorf("restricted has GPUs %v, want a quad", got)
	}
	var victims []string
	for name, gpus := range held {
		if b.pods.Pod(name) != nil {
			continue
		}
		victims = append(victims, name)
		for _, gpu := range gpus {
			if !slices.Contains(got, gpu) {
				t.Errorf("%s was evicted, whose GPUs %v are not among %v", name, gpus, got)
			}
		}
	}
	if len(victims) != 2 {
		t.Errorf("%d pods were evicted (%s), want 2", len(victims), strings.Join(victims, ", "))
	}
	b.wantSound()
}
