package cluster

import (
	"context"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// DatasetLabels are the labels that Fluid's runtime controller puts on a node that holds a dataset in Alluxio.
func DatasetLabels(namespace, name string) map[string]string {
	return map[string]string{
		"fluid.io/s-" + namespace + "-" + name:         "true",
		"fluid.io/s-alluxio-" + namespace + "-" + name: "true",
	}
}

// CacheDataset marks nodes as holding a dataset of the test namespace, or as holding it no longer.
func (c *Cluster) CacheDataset(ctx context.Context, name string, cached bool, nodes ...string) error {
	labels := map[string]any{}
	for key, value := range DatasetLabels(Namespace, name) {
		if labels[key] = value; !cached {
			labels[key] = nil
		}
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": labels}})
	if err != nil {
		return err
	}
	return Parallel(ctx, 8, nodes, func(ctx context.Context, node string) error {
		_, err := c.Client.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	})
}
