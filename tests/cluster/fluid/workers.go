package fluid

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/berth/testbed/tests/cluster"
)

// worker is a pod of the worker StatefulSet.
type worker struct {
	name    string
	node    string
	started time.Time
}

func (d *Dataset) start(ctx context.Context, pod *corev1.Pod, ip string, started time.Time, ready bool) error {
	pods := d.c.Client.CoreV1().Pods(d.Namespace)
	created, err := pods.Create(ctx, pod, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	created.Status = runningStatus(ip, started, ready)
	_, err = pods.UpdateStatus(ctx, created, metav1.UpdateOptions{})
	return err
}

// createMaster binds the master to the first worker's node, or to any.
func (d *Dataset) createMaster(ctx context.Context) error {
	nodes, err := d.c.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return err
	}
	if len(nodes.Items) == 0 {
		return fmt.Errorf("no node for the master of %s", d.Name)
	}
	pod, err := d.masterPod(nodes.Items[0].Name, d.Master)
	if err != nil {
		return err
	}
	return d.start(ctx, pod, loopback, time.Now(), true)
}

// AddWorkers adds a ready worker on each of the nodes, with the node's labels.
func (d *Dataset) AddWorkers(ctx context.Context, nodes ...string) error {
	first := len(d.workers)
	for i, node := range nodes {
		d.workers = append(d.workers, &worker{name: fmt.Sprintf("%s-worker-%d", d.Name, first+i), node: node})
	}
	return cluster.Parallel(ctx, 4, d.workers[first:], func(ctx context.Context, w *worker) error {
		if err := d.startWorker(ctx, w); err != nil {
			return err
		}
		return d.LabelNode(ctx, w.node, true)
	})
}

func (d *Dataset) startWorker(ctx context.Context, w *worker) error {
	w.started = time.Now()
	return d.start(ctx, d.pod("worker", w.name, w.node), cluster.HostIP(w.node), w.started, true)
}

func (d *Dataset) on(node string) (*worker, error) {
	for _, w := range d.workers {
		if w.node == node {
			return w, nil
		}
	}
	return nil, fmt.Errorf("dataset %s has no worker on %s", d.Name, node)
}

// SetWorkerReady changes the readiness of a worker. Its node keeps its labels, as with Fluid.
func (d *Dataset) SetWorkerReady(ctx context.Context, node string, ready bool) error {
	w, err := d.on(node)
	if err != nil {
		return err
	}
	pods := d.c.Client.CoreV1().Pods(d.Namespace)
	pod, err := pods.Get(ctx, w.name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	pod.Status = runningStatus(cluster.HostIP(node), w.started, ready)
	_, err = pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	return err
}

// ReplaceWorker deletes a worker and starts it again on the same node, by the same name.
func (d *Dataset) ReplaceWorker(ctx context.Context, node string) error {
	w, err := d.on(node)
	if err == nil {
		err = d.deletePod(ctx, w.name)
	}
	if err == nil {
		err = d.startWorker(ctx, w)
	}
	return err
}

// DeleteWorkers deletes workers. With labels the labels of their nodes go too; without, they stay as they do while
// Fluid's runtime controller fails or is down.
func (d *Dataset) DeleteWorkers(ctx context.Context, labels bool, nodes ...string) error {
	for _, node := range nodes {
		w, err := d.on(node)
		if err == nil {
			err = d.deletePod(ctx, w.name)
		}
		if err == nil && labels {
			err = d.LabelNode(ctx, node, false)
		}
		if err != nil {
			return err
		}
		w.node = ""
	}
	return nil
}

// AddFuse mounts a client of the dataset on a node: label and pod.
func (d *Dataset) AddFuse(ctx context.Context, node string) error {
	if err := d.LabelFuse(ctx, node, true); err != nil {
		return err
	}
	return d.start(ctx, d.pod("fuse", d.Name+"-fuse-"+node, node), cluster.HostIP(node), time.Now(), true)
}

func (d *Dataset) deletePod(ctx context.Context, name string) error {
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64)}
	return d.c.Client.CoreV1().Pods(d.Namespace).Delete(ctx, name, now)
}
