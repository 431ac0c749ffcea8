package fluid

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"berth.dev/berth/testbed/tests/cluster"
)

var definitions = schema.GroupVersionResource{
	Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
}

// served is one of Fluid's, by its plural.
func served(plural string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "data.fluid.io", Version: "v1alpha1", Resource: plural}
}

// Install defines Fluid's custom resources and waits until the API server serves them. What is there stays.
func Install(ctx context.Context, c *cluster.Cluster) error {
	client, err := dynamic.NewForConfig(c.Config)
	if err != nil {
		return err
	}
	directory, err := cluster.Tool("fluid")
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(directory, "*.yaml"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no definitions in %s: run tests/cluster/build.sh", directory)
	}
	return cluster.Parallel(ctx, 4, files, func(ctx context.Context, file string) error {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		definition := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(text, &definition.Object); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		_, err = client.Resource(definitions).Create(ctx, definition, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
		return waitServed(ctx, client, definition.GetName())
	})
}

func waitServed(ctx context.Context, client dynamic.Interface, name string) error {
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, cluster.Deadline, true, func(ctx context.Context) (bool, error) {
		definition, err := client.Resource(definitions).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		status, _ := definition.Object["status"].(map[string]any)
		conditions, _ := status["conditions"].([]any) // null at first
		for _, item := range conditions {
			condition, _ := item.(map[string]any)
			if condition["type"] == "Established" && condition["status"] == "True" {
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil {
		return fmt.Errorf("definition %s is not established: %w", name, err)
	}
	return nil
}

// Remove takes the definitions away, and with them every object of theirs.
func Remove(ctx context.Context, c *cluster.Cluster) error {
	client, err := dynamic.NewForConfig(c.Config)
	if err != nil {
		return err
	}
	all, err := client.Resource(definitions).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, definition := range all.Items {
		if group, _, _ := unstructured.NestedString(definition.Object, "spec", "group"); group != "data.fluid.io" {
			continue
		}
		if err := client.Resource(definitions).Delete(ctx, definition.GetName(), metav1.DeleteOptions{}); err != nil {
			return err
		}
	}
	return wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, cluster.Deadline, true, func(ctx context.Context) (bool, error) {
		left, err := client.Resource(definitions).List(ctx, metav1.ListOptions{})
		return err == nil && len(left.Items) == 0, err
	})
}

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
