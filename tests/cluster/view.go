package cluster

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// PodView is a live copy of the pods with a label selector. It survives a restart of the API server.
type PodView struct {
	mutex   sync.Mutex
	pods    map[string]*corev1.Pod
	bound   map[types.UID]string    // first node seen
	boundAt map[types.UID]time.Time // when that was
	moved   []string                // pods that had a second node, which must never be
	changed chan struct{}           // closed and replaced at every change
	stop    context.CancelFunc
}

// WatchPods starts a view and waits for its first list.
func (c *Cluster) WatchPods(ctx context.Context, selector string) (*PodView, error) {
	ctx, cancel := context.WithCancel(ctx)
	v := &PodView{
		pods: map[string]*corev1.Pod{}, bound: map[types.UID]string{}, boundAt: map[types.UID]time.Time{},
		changed: make(chan struct{}), stop: cancel,
	}
	factory := informers.NewSharedInformerFactoryWithOptions(c.Client, 0, informers.WithNamespace(Namespace),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = selector }))
	informer := factory.Core().V1().Pods().Informer()
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { v.set(object.(*corev1.Pod)) },
		UpdateFunc: func(_, object any) { v.set(object.(*corev1.Pod)) },
		DeleteFunc: v.remove,
	})
	if err != nil {
		cancel()
		return nil, err
	}
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
		cancel()
		return nil, fmt.Errorf("watch pods: %w", ctx.Err())
	}
	return v, nil
}

// Stop ends the view; what it has seen can still be read.
func (v *PodView) Stop() { v.stop() }

func (v *PodView) set(pod *corev1.Pod) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.pods[pod.Name] = pod
	if node := pod.Spec.NodeName; node != "" {
		first, seen := v.bound[pod.UID]
		if !seen {
			v.bound[pod.UID], v.boundAt[pod.UID] = node, time.Now()
		} else if first != node {
			v.moved = append(v.moved, fmt.Sprintf("%s: %s, then %s", pod.Name, first, node))
		}
	}
	v.wake()
}

func (v *PodView) remove(object any) {
	if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = unknown.Obj
	}
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return
	}
	v.mutex.Lock()
	defer v.mutex.Unlock()
	delete(v.pods, pod.Name)
	v.wake()
}

func (v *PodView) wake() {
	close(v.changed)
	v.changed = make(chan struct{})
}

// Len is the number of pods.
func (v *PodView) Len() int {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	return len(v.pods)
}

// Pod is the latest state of a pod, nil when there is none of that name.
func (v *PodView) Pod(name string) *corev1.Pod {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	return v.pods[name]
}

// Pods are all pods, by name.
func (v *PodView) Pods() []*corev1.Pod {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	pods := make([]*corev1.Pod, 0, len(v.pods))
	for _, pod := range v.pods {
		pods = append(pods, pod)
	}
	sort.Slice(pods, func(i, j int) bool { return pods[i].Name < pods[j].Name })
	return pods
}

// Bound is how many different pods have ever had a node.
func (v *PodView) Bound() int {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	return len(v.bound)
}

// BoundAt is when a pod was first seen with a node; zero when it was not.
func (v *PodView) BoundAt(uid types.UID) time.Time {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	return v.boundAt[uid]
}

// Moved lists the pods that were seen on more than one node.
func (v *PodView) Moved() []string {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	return append([]string(nil), v.moved...)
}

// Wait waits until done is true. The deadline starts anew whenever another pod gets a node, so that a slow machine is
// no failure and a stuck cluster is.
func (v *PodView) Wait(ctx context.Context, what string, done func(*PodView) bool) error {
	timer := time.NewTimer(Deadline)
	defer timer.Stop()
	bound := v.Bound()
	for {
		v.mutex.Lock()
		changed := v.changed
		v.mutex.Unlock()
		if done(v) {
			return nil
		}
		if now := v.Bound(); now > bound {
			bound = now
			timer.Reset(Deadline)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("waiting until %s: %w", what, ctx.Err())
		case <-timer.C:
			return fmt.Errorf("nothing moved for %s while waiting until %s\n%s", Deadline, what, v.describe())
		}
	}
}

// WaitBound waits until n pods have a node.
func (v *PodView) WaitBound(ctx context.Context, n int) error {
	return v.Wait(ctx, fmt.Sprintf("%d pods have a node", n), func(v *PodView) bool { return v.Bound() >= n })
}

// describe tells what a person wants to know about pods that are stuck.
func (v *PodView) describe() string {
	var text strings.Builder
	pending := 0
	for _, pod := range v.Pods() {
		if pod.Spec.NodeName != "" {
			continue
		}
		if pending++; pending > 3 {
			continue
		}
		fmt.Fprintf(&text, "  %s has no node", pod.Name)
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodScheduled {
				fmt.Fprintf(&text, ": %s: %s", condition.Reason, condition.Message)
			}
		}
		text.WriteByte('\n')
	}
	fmt.Fprintf(&text, "  %d pods, %d without node", v.Len(), pending)
	return text.String()
}
