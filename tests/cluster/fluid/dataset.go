package fluid

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"berth.dev/berth/testbed/tests/cluster"
)

// Runtime is what caches a dataset.
type Runtime int

const (
	Alluxio           Runtime = iota
	JuiceFSCommunity          // a cache of its own in every client
	JuiceFSEnterprise         // workers share their caches
)

// String is the runtime as labels and status have it.
func (r Runtime) String() string {
	if r == Alluxio {
		return "alluxio"
	}
	return "juicefs"
}

// Spec says what dataset to create.
type Spec struct {
	Namespace string // empty: cluster.Namespace
	Name      string
	Runtime   Runtime
	Bytes     int64    // status.ufsTotal; 0: not worked out yet
	Cached    string   // status.cacheStates.cachedPercentage, such as "50.0%"; empty: none
	Quota     int64    // of one worker; 0: as much as the dataset has
	Workers   []string // nodes that have a ready worker from the start
	Master    string   // host:port of Alluxio's REST API; empty: no master pod
	Shared    bool     // placement Shared: other datasets may be on the same nodes
	Unbound   bool     // phase Pending instead of Bound
	// The node that spec.nodeAffinity names; empty: none.
	NodeAffinity string
}

// Dataset is a Dataset with its runtime.
type Dataset struct {
	Spec
	UID string

	c       *cluster.Cluster
	client  dynamic.Interface
	workers []*worker
}

// Create makes a dataset, its runtime, master and workers, the labels of their nodes, claim and volume.
func Create(ctx context.Context, c *cluster.Cluster, spec Spec) (*Dataset, error) {
	if spec.Namespace == "" {
		spec.Namespace = cluster.Namespace
	}
	client, err := dynamic.NewForConfig(c.Config)
	if err != nil {
		return nil, err
	}
	d := &Dataset{Spec: spec, c: c, client: client}
	d.Workers = nil
	if err := EnsureNamespace(ctx, c, d.Namespace); err != nil {
		return nil, err
	}
	if err := d.createObjects(ctx); err != nil {
		return nil, fmt.Errorf("dataset %s/%s: %w", d.Namespace, d.Name, err)
	}
	if d.Master != "" {
		if err := d.createMaster(ctx); err != nil {
			return nil, err
		}
	}
	if err := d.AddWorkers(ctx, spec.Workers...); err != nil {
		return nil, err
	}
	return d, d.createVolume(ctx, nil)
}

// EnsureNamespace creates a namespace that may be there already.
func EnsureNamespace(ctx context.Context, c *cluster.Cluster, name string) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err := c.Client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func (d *Dataset) createObjects(ctx context.Context) error {
	mount := map[string]any{"mountPoint": "s3://bucket/" + d.Name, "name": d.Name}
	if d.Runtime != Alluxio {
		secret := "token"
		if d.Runtime == JuiceFSCommunity {
			secret = "metaurl"
		}
		mount["mountPoint"] = "juicefs:///"
		mount["encryptOptions"] = []any{map[string]any{
			"name":      secret,
			"valueFrom": map[string]any{"secretKeyRef": map[string]any{"name": d.Name + "-secret", "key": secret}},
		}}
	}
	spec := map[string]any{"mounts": []any{mount}, "placement": d.placement()}
	if d.NodeAffinity != "" {
		spec["nodeAffinity"] = map[string]any{"required": map[string]any{"nodeSelectorTerms": []any{map[string]any{
			"matchExpressions": []any{map[string]any{
				"key": "kubernetes.io/hostname", "operator": "In", "values": []any{d.NodeAffinity},
			}},
		}}}}
	}
	created, err := d.create(ctx, "datasets", d.Name, spec, d.status())
	if err != nil {
		return err
	}
	d.UID = string(created.GetUID())
	_, err = d.create(ctx, d.runtimePlural(), d.Name, map[string]any{
		"replicas": int64(1),
		"tieredstore": map[string]any{"levels": []any{map[string]any{
			"mediumtype": "MEM", "path": "/dev/shm", "quota": fmt.Sprint(d.quota()),
		}}},
	}, d.runtimeStatus())
	return err
}

// create makes an object with its status, which the API server takes by a request of its own.
func (d *Dataset) create(ctx context.Context, plural, name string, spec, status map[string]any) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "data.fluid.io/v1alpha1", "kind": kinds[plural],
		"metadata": map[string]any{"namespace": d.Namespace, "name": name}, "spec": spec,
	}}
	client := d.client.Resource(served(plural)).Namespace(d.Namespace)
	created, err := client.Create(ctx, object, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	created.Object["status"] = status
	return client.UpdateStatus(ctx, created, metav1.UpdateOptions{})
}

func (d *Dataset) runtimePlural() string {
	if d.Runtime == Alluxio {
		return "alluxioruntimes"
	}
	return "juicefsruntimes"
}

func (d *Dataset) placement() string {
	if d.Shared {
		return "Shared"
	}
	return "Exclusive"
}

func (d *Dataset) quota() int64 {
	if d.Quota > 0 {
		return d.Quota
	}
	return d.Bytes
}

func (d *Dataset) status() map[string]any {
	total := "[Calculating]"
	if d.Bytes > 0 {
		total = size(d.Bytes)
	}
	states := map[string]any{"cacheCapacity": size(d.quota() * int64(len(d.workers))), "cached": "0.00B"}
	if d.Cached != "" {
		states["cachedPercentage"] = d.Cached
	}
	status := map[string]any{"phase": "Pending", "conditions": []any{}, "ufsTotal": total, "cacheStates": states}
	if !d.Unbound {
		status["phase"] = "Bound"
		status["conditions"] = []any{map[string]any{
			"type": "Ready", "status": "True", "reason": "DatasetReady", "message": "The ddc runtime is ready.",
		}}
		status["runtimes"] = []any{map[string]any{
			"name": d.Name, "namespace": d.Namespace, "category": "Accelerate", "type": d.Runtime.String(),
			"masterReplicas": int64(1),
		}}
	}
	return status
}

func (d *Dataset) runtimeStatus() map[string]any {
	workers := int64(len(d.workers))
	return map[string]any{
		"currentMasterNumberScheduled": int64(1), "desiredMasterNumberScheduled": int64(1), "masterNumberReady": int64(1),
		"currentWorkerNumberScheduled": workers, "desiredWorkerNumberScheduled": workers, "workerNumberReady": workers,
		"currentFuseNumberScheduled": int64(0), "desiredFuseNumberScheduled": int64(0), "fuseNumberReady": int64(0),
		"masterPhase": "Ready", "workerPhase": "Ready", "fusePhase": "Ready",
		"valueFile": d.Name + "-" + d.Runtime.String() + "-values",
	}
}

// Update changes the dataset and then writes its status: Bytes, Cached and Unbound may change.
func (d *Dataset) Update(ctx context.Context, change func(*Spec)) error {
	change(&d.Spec)
	client := d.client.Resource(served("datasets")).Namespace(d.Namespace)
	object, err := client.Get(ctx, d.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	object.Object["status"] = d.status()
	_, err = client.UpdateStatus(ctx, object, metav1.UpdateOptions{})
	return err
}

// Delete deletes the Dataset and its runtime alone, as a user does when Fluid's controllers are down.
func (d *Dataset) Delete(ctx context.Context) error {
	for _, plural := range []string{"datasets", d.runtimePlural()} {
		err := d.client.Resource(served(plural)).Namespace(d.Namespace).Delete(ctx, d.Name, metav1.DeleteOptions{})
		if err != nil {
			return err
		}
	}
	return nil
}

// Load creates a DataLoad of the dataset in a phase such as "Executing" or "Complete".
func (d *Dataset) Load(ctx context.Context, name, phase string) error {
	_, err := d.create(ctx, "dataloads", name, map[string]any{
		"dataset": map[string]any{"name": d.Name, "namespace": d.Namespace}, "loadMetadata": true,
	}, map[string]any{"phase": phase, "conditions": []any{}, "duration": "3s"})
	return err
}
