package fluid

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"berth.dev/berth/testbed/tests/cluster"
)

// served is one of Fluid's, by its plural.
func served(plural string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: "v1alpha1", Resource: plural}
}

// group is Fluid's API group.
const group = "data.fluid.io"

// Install defines Fluid's custom resources and waits until the API server serves them. What is there stays.
func Install(ctx context.Context, c *cluster.Cluster) error {
	directory, err := cluster.Tool("fluid")
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(directory, "*.yaml"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no definitions in %s: run tests/cluster/build.sh", directory)
	}
	var definitions []*cluster.Object
	for _, file := range files {
		definition, err := cluster.ReadObject(file)
		if err != nil {
			return err
		}
		definitions = append(definitions, definition)
	}
	return c.Define(ctx, definitions...)
}

// Remove takes the definitions away, and with them every object of theirs.
func Remove(ctx context.Context, c *cluster.Cluster) error { return c.Undefine(ctx, group) }

// kinds are the resources that this package creates, with the plural that the API server serves them under.
var kinds = map[string]string{
	"datasets": "Dataset", "alluxioruntimes": "AlluxioRuntime", "juicefsruntimes": "JuiceFSRuntime",
	"thinruntimes": "ThinRuntime", "dataloads": "DataLoad",
}

// Clear deletes what this package has created, but for the definitions, labels of nodes, and namespaces.
func Clear(ctx context.Context, c *cluster.Cluster) error {
	client, err := dynamic.NewForConfig(c.Config)
	if err != nil {
		return err
	}
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64)}
	namespaces, err := c.Client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, namespace := range namespaces.Items {
		if strings.HasPrefix(namespace.Name, "kube-") {
			continue
		}
		for plural := range kinds {
			err := client.Resource(served(plural)).Namespace(namespace.Name).DeleteCollection(ctx, now, metav1.ListOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				return err
			}
		}
		core := c.Client.CoreV1()
		if err := core.Pods(namespace.Name).DeleteCollection(ctx, now, metav1.ListOptions{LabelSelector: "release"}); err != nil {
			return err
		}
		if err := core.PersistentVolumeClaims(namespace.Name).DeleteCollection(ctx, now, metav1.ListOptions{}); err != nil {
			return err
		}
	}
	return c.Client.CoreV1().PersistentVolumes().DeleteCollection(ctx, now, metav1.ListOptions{})
}
