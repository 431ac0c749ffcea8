package fluid

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/berth/testbed/tests/cluster"
)

// longest is what Fluid takes a label key, prefix and slash included, to have to stay below.
const longest = 63

// labelKey is prefix, namespace and name, or prefix and UID where that would be too long.
func labelKey(prefix, namespace, name, uid string) string {
	full := prefix + namespace + "-" + name
	if len(full) < longest || uid == "" {
		return full
	}
	return prefix + uid
}

// WorkerLabel is set on a node while a worker of the dataset is assigned to it, ready or not.
func (d *Dataset) WorkerLabel() string {
	return labelKey("fluid.io/s-", d.Namespace, d.Name, d.UID)
}

// FuseLabel is set on a node where a client of the dataset has been mounted.
func (d *Dataset) FuseLabel() string {
	return labelKey("fluid.io/f-", d.Namespace, d.Name, d.UID)
}

// nodeLabels are all labels of a node with a worker, but for dataset-num, which counts the datasets there.
func (d *Dataset) nodeLabels() map[string]string {
	runtime := d.Runtime.String()
	key := func(prefix string) string { return labelKey("fluid.io/"+prefix+"-", d.Namespace, d.Name, d.UID) }
	labels := map[string]string{d.WorkerLabel(): "true", key("s-" + runtime): "true"}
	quota := size(d.quota())
	labels[key("s-h-"+runtime+"-m")] = quota
	labels[key("s-h-"+runtime+"-d")] = "0B"
	labels[key("s-h-"+runtime+"-t")] = quota
	if !d.Shared {
		labels["fluid_exclusive"] = d.exclusiveValue()
	}
	return labels
}

func (d *Dataset) exclusiveValue() string {
	if value := d.Namespace + "_" + d.Name; len(value) < longest {
		return value
	}
	return d.UID
}

// id is the value of fluid.io/dataset and fluid.io/dataset-id.
func (d *Dataset) id() string { return labelKey("", d.Namespace, d.Name, d.UID) }

// LabelNode sets or removes the labels of a node with a worker. The worker itself stays as it is.
func (d *Dataset) LabelNode(ctx context.Context, node string, set bool) error {
	labels := map[string]any{}
	for key, value := range d.nodeLabels() {
		if labels[key] = value; !set {
			labels[key] = nil
		}
	}
	return PatchNode(ctx, d.c, node, map[string]any{"labels": labels})
}

// LabelFuse sets or removes the label that the CSI plugin sets where a client of the dataset is mounted.
func (d *Dataset) LabelFuse(ctx context.Context, node string, set bool) error {
	var value any = "true"
	if !set {
		value = nil
	}
	return PatchNode(ctx, d.c, node, map[string]any{"labels": map[string]any{d.FuseLabel(): value}})
}

// PatchNode merges something into the metadata of a node.
func PatchNode(ctx context.Context, c *cluster.Cluster, node string, metadata map[string]any) error {
	patch, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return err
	}
	_, err = c.Client.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// size is how Fluid writes bytes in status and labels.
func size(bytes int64) string {
	value := float64(bytes)
	for _, unit := range []string{"B", "KiB", "MiB", "GiB", "TiB"} {
		if value < 1024 {
			return fmt.Sprintf("%.2f%s", value, unit)
		}
		value /= 1024
	}
	return fmt.Sprintf("%.2fPiB", value)
}
