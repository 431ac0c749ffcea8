package e2e

import (
	"testing"

	"berth.dev/berth/testbed/tests/cluster"
)

// The scheduler alone takes the node of which more CPU is in use. Berth knows that nobody could use the eight free GPUs
// any more: while few pods were seen it reckons with jobs of eight GPUs and 32 CPUs, of which 33 are left.
func TestPodWithoutGPUKeepsTheCPUThatGPUsNeed(t *testing.T) {
	machine := cluster.A100SXM
	machine.CPU = "40"
	b := setUp(t, machine.Node("free"), machine.Node("taken"))
	b.place(cluster.PodSpec{Name: "service", CPU: "7", Node: "free"})
	b.place(cluster.PodSpec{Name: "train", GPUs: 8, CPU: "1", Node: "taken"})
	b.must(b.berth.WaitGPUsUsed(b.ctx, 8))
	if got := b.place(cluster.PodSpec{Name: "web", CPU: "2"}); got != "taken" {
		t.Errorf("web is on %s, where its CPU is needed for eight free GPUs", got)
	}
	b.wantSound()
}
