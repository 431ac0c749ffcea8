package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"berth.dev/berth/testbed/tests/cluster"
)

// definePolicies installs the definition that ships, for the time of a test.
func (b *bed) definePolicies() {
	b.t.Helper()
	definition, err := cluster.ReadObject(filepath.Join(cluster.Root(), "deploy", "crds", "schedulingpolicies.yaml"))
	b.must(err)
	b.must(b.Define(b.ctx, definition))
	b.t.Cleanup(func() { b.undefine("berth.io") })
}

// policy creates a SchedulingPolicy.
func (b *bed) policy(name string, spec map[string]any) error {
	return b.CreateObject(b.ctx, "schedulingpolicies", &cluster.Object{Object: map[string]any{
		"apiVersion": "berth.io/v1alpha1", "kind": "SchedulingPolicy",
		"metadata": map[string]any{"name": name, "namespace": cluster.Namespace}, "spec": spec,
	}})
}

func TestAPIServerRefusesAnInvalidPolicy(t *testing.T) {
	b := setUpWithout(t)
	b.definePolicies()
	b.must(b.policy("valid", map[string]any{
		"topologyPolicy": "restricted", "datasetPolicy": "required", "minGpuMemory": "40Gi",
		"gpuProducts": []any{"NVIDIA-A100-SXM4-80GB"}, "weights": map[string]any{"locality": 2, "packing": 0.5},
	}))
	b.must(b.policy("gibibytes", map[string]any{"minGpuMemory": 40}))
	for name, spec := range map[string]map[string]any{
		"topology":  {"topologyPolicy": "strict"},
		"dataset":   {"datasetPolicy": "always"},
		"memory":    {"minGpuMemory": "plenty"},
		"products":  {"gpuProducts": "NVIDIA-A100-SXM4-80GB"},
		"weights":   {"weights": map[string]any{"locality": -1}},
		"weightset": {"weights": map[string]any{"locality": "high"}},
	} {
		if err := b.policy(name, spec); !apierrors.IsInvalid(err) {
			t.Errorf("%s: %v is answered with %v, want invalid", name, spec, err)
		}
	}
}

func TestNamespacesDefaultPolicyIsObeyed(t *testing.T) {
	b := setUpWithout(t, append(cluster.H100SXM.Nodes("h100", 2), cluster.A100SXM.Node("a100"))...)
	b.definePolicies()
	b.must(b.policy("default", map[string]any{"gpuProducts": []any{cluster.A100SXM.Product}}))
	b.must(b.policy("hopper", map[string]any{"gpuProducts": []any{cluster.H100SXM.Product}}))
	b.startBerth(cluster.BerthOptions{})
	b.startScheduler()
	if got := b.place(cluster.PodSpec{Name: "train", GPUs: 8}); got != "a100" {
		t.Errorf("train is on %s, the policy allows a100 only", got)
	}
	// A policy that the pod names counts before that.
	named := map[string]string{"berth.io/scheduling-policy": "hopper"}
	if got := b.place(cluster.PodSpec{Name: "named", GPUs: 8, Annotations: named}); got == "a100" {
		t.Error("named is on a100, its policy allows the others only")
	}
	b.create(cluster.PodSpec{Name: "waits", GPUs: 1})
	_, err := b.WaitEvent(b.ctx, "waits", "FailedScheduling", "GPU_PRODUCT_MISMATCH")
	b.must(err)
}

// volcano#5252, HAMi#1931: a policy whose name is not known is ignored without a word.
func TestUnknownPolicyIsSaid(t *testing.T) {
	b := setUpWithout(t, cluster.A100SXM.Nodes("a100", 3)...)
	b.definePolicies()
	b.must(b.policy("gold", map[string]any{"topologyPolicy": "restricted"}))
	b.startBerth(cluster.BerthOptions{Config: quickConfig})
	b.startScheduler()
	b.create(cluster.PodSpec{Name: "train", GPUs: 1, Annotations: map[string]string{"berth.io/scheduling-policy": "gould"}})
	_, err := b.WaitEvent(b.ctx, "train", "FailedScheduling", "3 INVALID_POLICY")
	b.must(err)
	text, err := b.WaitEvent(b.ctx, "train", "InvalidPolicy", "gould")
	b.must(err)
	if !strings.Contains(text, "gold") {
		t.Errorf("event is %q, want it to guess what was meant", text)
	}
}
