package cluster

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"
)

// Object is one of a kind that client-go has no type for.
type Object = unstructured.Unstructured

var definitions = schema.GroupVersionResource{
	Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
}

// ReadObject reads an object from a YAML file.
func ReadObject(file string) (*Object, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	object := &Object{}
	if err := yaml.Unmarshal(text, &object.Object); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return object, nil
}

// LooseDefinition defines a kind without namespace whose objects may hold anything: for the resources of others, of which
// a test needs no more than that they are served.
func LooseDefinition(group, version, kind, plural string) *Object {
	anything := map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	return &Object{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{
			"name": plural + "." + group,
			// Without it the API server refuses definitions in groups of Kubernetes' own.
			"annotations": map[string]any{"api-approved.kubernetes.io": "unapproved, a test's"},
		},
		"spec": map[string]any{
			"group": group, "scope": "Cluster",
			"names": map[string]any{"kind": kind, "plural": plural, "singular": strings.ToLower(kind), "listKind": kind + "List"},
			"versions": []any{map[string]any{
				"name": version, "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": anything},
			}},
		},
	}}
}

// Define creates custom resource definitions and waits until the API server serves them. What is there stays.
func (c *Cluster) Define(ctx context.Context, objects ...*Object) error {
	client, err := dynamic.NewForConfig(c.Config)
	if err != nil {
		return err
	}
	return Parallel(ctx, 4, objects, func(ctx context.Context, definition *Object) error {
		_, err := client.Resource(definitions).Create(ctx, definition, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
		return waitServed(ctx, client, definition.GetName())
	})
}

func waitServed(ctx context.Context, client dynamic.Interface, name string) error {
	err := wait.PollUntilContextTimeout(ctx, probeEvery, Deadline, true, func(ctx context.Context) (bool, error) {
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

// Undefine takes the definitions of API groups away, and with them every object of theirs, and waits until they are gone.
func (c *Cluster) Undefine(ctx context.Context, groups ...string) error {
	client, err := dynamic.NewForConfig(c.Config)
	if err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, probeEvery, Deadline, true, func(ctx context.Context) (bool, error) {
		all, err := client.Resource(definitions).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		gone := true
		for _, definition := range all.Items {
			group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
			if !slices.Contains(groups, group) {
				continue
			}
			gone = false
			if definition.GetDeletionTimestamp() != nil {
				continue
			}
			err := client.Resource(definitions).Delete(ctx, definition.GetName(), metav1.DeleteOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				return false, err
			}
		}
		return gone, nil
	})
}

// CreateObject creates an object, under the plural of its kind; one that says no namespace has none. The API server may
// not have the kind at once after its definition is established.
func (c *Cluster) CreateObject(ctx context.Context, plural string, object *Object) error {
	client, err := dynamic.NewForConfig(c.Config)
	if err != nil {
		return err
	}
	var objects dynamic.ResourceInterface = client.Resource(object.GroupVersionKind().GroupVersion().WithResource(plural))
	if namespace := object.GetNamespace(); namespace != "" {
		objects = client.Resource(object.GroupVersionKind().GroupVersion().WithResource(plural)).Namespace(namespace)
	}
	return wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, Deadline, true, func(ctx context.Context) (bool, error) {
		_, err := objects.Create(ctx, object, metav1.CreateOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
}
