package e2e

import (
	"fmt"
	"testing"

	"berth.dev/berth/testbed/tests/cluster"
)

// koordinatorDevice is what Koordinator's agent writes of a node: GPUs in pairs, each behind a PCIe switch and on a NUMA
// node of its own.
func koordinatorDevice(node, model string, gpus int) *cluster.Object {
	var devices []any
	for i := range gpus {
		devices = append(devices, map[string]any{
			"type": "gpu", "id": fmt.Sprintf("GPU-%s-%d", node, i), "minor": int64(i), "health": true,
			"resources": map[string]any{
				"koordinator.sh/gpu-core": "100", "koordinator.sh/gpu-memory": "40Gi", "koordinator.sh/gpu-memory-ratio": "100",
			},
			"topology": map[string]any{
				"socketID": int64(i / 2), "nodeID": int64(i / 2), "pcieID": fmt.Sprint(i / 2), "busID": fmt.Sprintf("0000:%02x:00.0", i),
			},
		})
	}
	return &cluster.Object{Object: map[string]any{
		"apiVersion": "scheduling.koordinator.sh/v1alpha1", "kind": "Device",
		"metadata": map[string]any{"name": node, "labels": map[string]any{"node.koordinator.sh/gpu-model": model}},
		"spec":     map[string]any{"devices": devices},
	}}
}

// scheduler-plugins#967: topology objects that are created after the scheduler started are not seen.
func TestTopologyThatIsToldLaterCounts(t *testing.T) {
	node := cluster.A100PCIe.Node("node")
	for _, label := range []string{"product", "memory", "family"} { // GPU-feature-discovery is not installed
		delete(node.Labels, "nvidia.com/gpu."+label)
	}
	b := setUp(t, node)
	b.place(cluster.PodSpec{Name: "one", GPUs: 1})
	b.must(b.berth.WaitGPUsUsed(b.ctx, 1)) // The scheduler may know the binding before Berth does.
	// Nobody knows which GPUs belong together, and the node is not free as a whole.
	restricted := cluster.PodSpec{
		Name: "pair", GPUs: 2, Annotations: map[string]string{"berth.io/topology-policy": "restricted"},
	}
	b.wait("TOPOLOGY_RESTRICTED", restricted)

	const group = "scheduling.koordinator.sh"
	t.Cleanup(func() { b.undefine(group) })
	b.must(b.Define(b.ctx, cluster.LooseDefinition(group, "v1alpha1", "Device", "devices")))
	b.must(b.CreateObject(b.ctx, "devices", koordinatorDevice("node", cluster.A100PCIe.Product, 4)))
	b.waitNode("pair") // Berth sees it and has the scheduler try again.
	explanation, err := b.berth.Explain(b.ctx, "pair")
	b.must(err)
	if len(explanation.Candidates) != 1 || fmt.Sprint(explanation.Candidates[0].GPUSet) != "[2 3]" {
		t.Errorf("candidates are %+v, want GPUs 2 and 3: one has 0, as the device plugin hands out", explanation.Candidates)
	}
	b.wantSound()
}
