package cluster

import (
	"context"
	"fmt"
	"hash/fnv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Machine is a shape of GPU node, with the product name that GPU-feature-discovery reads from the driver.
type Machine struct {
	Product   string
	Family    string
	GPUs      int
	MemoryMiB int // of one GPU
	CPU       string
	Memory    string
}

// Machines that tests and the demonstration use. The first three have NVLink between all or some of their GPUs.
var (
	H100SXM  = Machine{"NVIDIA-H100-80GB-HBM3", "hopper", 8, 81559, "192", "2Ti"}
	A100SXM  = Machine{"NVIDIA-A100-SXM4-80GB", "ampere", 8, 81920, "128", "1Ti"}
	V100DGX1 = Machine{"Tesla-V100-SXM2-32GB", "volta", 8, 32768, "80", "512Gi"}
	A100PCIe = Machine{"NVIDIA-A100-PCIE-40GB", "ampere", 4, 40960, "64", "512Gi"}
	NoGPU    = Machine{CPU: "32", Memory: "128Gi"}
)

// Node is a node object as a kubelet with the device plugin and GPU-feature-discovery would leave it.
func (m Machine) Node(name string) *corev1.Node {
	resources := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse(m.CPU),
		corev1.ResourceMemory: resource.MustParse(m.Memory),
		corev1.ResourcePods:   resource.MustParse("250"),
	}
	labels := map[string]string{corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64"}
	if m.GPUs > 0 {
		resources[GPUResource] = *resource.NewQuantity(int64(m.GPUs), resource.DecimalSI)
		labels["nvidia.com/gpu.present"] = "true"
		labels["nvidia.com/gpu.product"] = m.Product
		labels["nvidia.com/gpu.family"] = m.Family
		labels["nvidia.com/gpu.count"] = fmt.Sprint(m.GPUs)
		labels["nvidia.com/gpu.memory"] = fmt.Sprint(m.MemoryMiB)
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Status: corev1.NodeStatus{
			Capacity:    resources,
			Allocatable: resources,
			Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeInternalIP, Address: HostIP(name)}, {Type: corev1.NodeHostName, Address: name},
			},
			Conditions: []corev1.NodeCondition{{
				Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady",
				LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now(),
			}},
		},
	}
}

// HostIP is the address of a node, which follows from its name.
func HostIP(node string) string {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(node))
	sum := hash.Sum32()
	return fmt.Sprintf("10.%d.%d.%d", 1+sum>>16%254, sum>>8%256, 1+sum%254)
}

// Nodes are n nodes of this shape called prefix-000, prefix-001 and so on.
func (m Machine) Nodes(prefix string, n int) []*corev1.Node {
	nodes := make([]*corev1.Node, n)
	for i := range nodes {
		nodes[i] = m.Node(fmt.Sprintf("%s-%03d", prefix, i))
	}
	return nodes
}

// CreateNodes creates nodes, several at a time.
func (c *Cluster) CreateNodes(ctx context.Context, nodes ...*corev1.Node) error {
	return Parallel(ctx, 8, nodes, func(ctx context.Context, node *corev1.Node) error {
		_, err := c.Client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
		return err
	})
}

// Reset deletes all pods, jobs, events and nodes and waits until they are gone.
func (c *Cluster) Reset(ctx context.Context) error {
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64), PropagationPolicy: &background}
	all := metav1.ListOptions{}
	if err := c.Client.BatchV1().Jobs(Namespace).DeleteCollection(ctx, now, all); err != nil {
		return err
	}
	if err := c.DeletePods(ctx, ""); err != nil {
		return err
	}
	if err := c.Client.CoreV1().Events(Namespace).DeleteCollection(ctx, now, all); err != nil {
		return err
	}
	return c.Client.CoreV1().Nodes().DeleteCollection(ctx, now, all)
}

var background = metav1.DeletePropagationBackground

// DeletePods deletes the pods with a label selector at once, without a kubelet's consent, and waits until they are gone.
func (c *Cluster) DeletePods(ctx context.Context, selector string) error {
	view, err := c.WatchPods(ctx, selector)
	if err != nil {
		return err
	}
	defer view.Stop()
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64)}
	err = c.Client.CoreV1().Pods(Namespace).DeleteCollection(ctx, now, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return err
	}
	return view.Wait(ctx, "all pods are deleted", func(v *PodView) bool { return v.Len() == 0 })
}

// Parallel calls do for every item, workers at a time, and returns the first error. After an error the rest is left.
func Parallel[T any](ctx context.Context, workers int, items []T, do func(context.Context, T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := make(chan T)
	var group sync.WaitGroup
	for range min(workers, len(items)) {
		group.Go(func() {
			for item := range work {
				if err := do(ctx, item); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, item := range items {
		select {
		case work <- item:
		case <-ctx.Done():
		}
	}
	close(work)
	group.Wait()
	return context.Cause(ctx)
}

// ignoreExisting is for creating again after an answer was lost.
func ignoreExisting(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
