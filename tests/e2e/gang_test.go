package e2e

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/testbed/tests/cluster"
)

const rackLabel = "topology.kubernetes.io/rack"

// inRacks are nodes called rack-R-N, so many in each of two racks.
func inRacks(m cluster.Machine, first, second int) []*corev1.Node {
	var nodes []*corev1.Node
	for rack, count := range []int{first, second} {
		for i := range count {
			node := m.Node(fmt.Sprintf("rack-%d-%d", rack, i))
			node.Labels[rackLabel] = fmt.Sprintf("rack-%d", rack)
			nodes = append(nodes, node)
		}
	}
	return nodes
}

func member(gang string, i int, topology string) cluster.PodSpec {
	return cluster.PodSpec{
		Name: fmt.Sprintf("%s-%d", gang, i), GPUs: 8,
		Labels:      map[string]string{"kueue.x-k8s.io/pod-group-name": gang},
		Annotations: map[string]string{"berth.io/gang-topology": topology},
	}
}

// KAI-Scheduler#1591: a gang's pods are pinned to a place that has no room for all, and wait there for ever.
func TestGangStaysInOneRack(t *testing.T) {
	b := setUp(t, inRacks(cluster.H100SXM, 2, 4)...)
	for i := range 4 {
		spec := member("gang", i, "required="+rackLabel)
		spec.Annotations["kueue.x-k8s.io/pod-group-total-count"] = "4"
		if got := b.place(spec); got[:6] != "rack-1" {
			t.Errorf("%s is on %s, want rack-1, the only one with room for all four", spec.Name, got)
		}
	}
	b.wantSound()
}

func TestMemberForWhomTheGangsRackHasNoRoomWaits(t *testing.T) {
	b := setUp(t, inRacks(cluster.H100SXM, 2, 2)...)
	first := b.place(member("gang", 0, "required="+rackLabel))
	second := b.place(member("gang", 1, "required="+rackLabel))
	if first[:6] != second[:6] {
		t.Errorf("the gang is on %s and %s, want one rack", first, second)
	}
	b.create(member("gang", 2, "required="+rackLabel))
	_, err := b.WaitEvent(b.ctx, "gang-2", "FailedScheduling", "GANG_TOPOLOGY")
	b.must(err)
	// Who only prefers it goes elsewhere.
	third := b.place(member("other", 0, "preferred="+rackLabel))
	if third[:6] == first[:6] {
		t.Errorf("other-0 is on %s, where no GPU is free", third)
	}
	b.wantSound()
}
