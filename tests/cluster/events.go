package cluster

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// WaitEvent waits for an event about a pod that has a reason, or any if it is empty, and whose text holds some words, and
// returns its text.
func (c *Cluster) WaitEvent(ctx context.Context, pod, reason, words string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, Deadline)
	defer cancel()
	selector := fields.OneTermEqualSelector("involvedObject.name", pod)
	events := cache.NewListWatchFromClient(c.Client.CoreV1().RESTClient(), "events", Namespace, selector)
	var seen []string
	last, err := watchtools.UntilWithSync(ctx, events, &corev1.Event{}, nil, func(change watch.Event) (bool, error) {
		event, ok := change.Object.(*corev1.Event)
		if !ok || change.Type == watch.Deleted {
			return false, nil
		}
		seen = append(seen, event.Reason+": "+event.Message)
		return (reason == "" || event.Reason == reason) && strings.Contains(event.Message, words), nil
	})
	if err != nil {
		return "", fmt.Errorf("no %s event with %q for pod %s (%w); seen: %q", reason, words, pod, err, seen)
	}
	return last.Object.(*corev1.Event).Message, nil
}

// Overcommitted lists the nodes that have more GPUs given away than they have, and pods on nodes that don't exist.
func (c *Cluster) Overcommitted(ctx context.Context) ([]string, error) {
	used, nodes, err := c.gpuUse(ctx)
	if err != nil {
		return nil, err
	}
	var found []string
	for node, count := range used {
		if have := nodes[node]; count > have {
			found = append(found, fmt.Sprintf("%s: %d of %d GPUs", node, count, have))
		}
	}
	return found, nil
}

// SharedGPUs lists where Berth gave pods GPUs with their nodes, but not as many as they ask for, or one to two of them.
func (c *Cluster) SharedGPUs(ctx context.Context) ([]string, error) {
	pods, err := c.Client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var found []string
	holder := map[string]string{} // by node and GPU
	for i := range pods.Items {
		pod := &pods.Items[i]
		ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
		if pod.Spec.NodeName == "" || ended || GPURequest(pod) == 0 {
			continue
		}
		gpus, err := AssignedGPUs(pod)
		if err != nil || int64(len(gpus)) != GPURequest(pod) {
			found = append(found, fmt.Sprintf("%s asks for %d GPUs and has %v (%v)", pod.Name, GPURequest(pod), gpus, err))
		}
		for _, gpu := range gpus {
			key := fmt.Sprintf("GPU %d of %s", gpu, pod.Spec.NodeName)
			if other, taken := holder[key]; taken {
				found = append(found, fmt.Sprintf("%s and %s both have %s", other, pod.Name, key))
			}
			holder[key] = pod.Name
		}
	}
	return found, nil
}

// FreeGPUs is how many GPUs no pod has.
func (c *Cluster) FreeGPUs(ctx context.Context) (int64, error) {
	used, nodes, err := c.gpuUse(ctx)
	free := int64(0)
	for node, have := range nodes {
		free += have - used[node]
	}
	return free, err
}

func (c *Cluster) gpuUse(ctx context.Context) (used, have map[string]int64, err error) {
	pods, err := c.Client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, err
	}
	nodes, err := c.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, err
	}
	used, have = map[string]int64{}, map[string]int64{}
	for _, node := range nodes.Items {
		quantity := node.Status.Allocatable[GPUResource]
		have[node.Name] = quantity.Value()
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.Spec.NodeName != "" && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			used[pod.Spec.NodeName] += GPURequest(pod)
		}
	}
	return used, have, nil
}
