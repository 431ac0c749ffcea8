// Package crds tests the definitions in deploy/crds as the API server would apply them, without one.
package crds

import (
	"context"
	"os"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	apiservervalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

// definition reads the CRD as the API server does, its defaults filled in.
func definition(t *testing.T) *apiextensions.CustomResourceDefinition {
	t.Helper()
	text, err := os.ReadFile("../../deploy/crds/schedulingpolicies.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var written v1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &written); err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	install.Install(scheme)
	scheme.Default(&written)
	internal := &apiextensions.CustomResourceDefinition{}
	if err := scheme.Convert(&written, internal, nil); err != nil {
		t.Fatal(err)
	}
	return internal
}

func TestDefinitionIsAccepted(t *testing.T) {
	crd := definition(t)
	crd.Status.StoredVersions = []string{"v1alpha1"}
	if errs := validation.ValidateCustomResourceDefinition(context.Background(), crd); len(errs) > 0 {
		t.Error(errs.ToAggregate())
	}
}

func TestValuesOfAPolicy(t *testing.T) {
	crd := definition(t)
	// A definition with one version keeps its schema at the top.
	validations := crd.Spec.Validation
	if validations == nil {
		validations = crd.Spec.Versions[0].Schema
	}
	structural, err := schema.NewStructural(validations.OpenAPIV3Schema)
	if err != nil {
		t.Fatal(err)
	}
	rules := cel.NewValidator(structural, true, celconfig.PerCallLimit)
	values, _, err := apiservervalidation.NewSchemaValidator(validations.OpenAPIV3Schema)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, spec, wrong string }{
		{"nothing", "{}", ""},
		{"everything", "{topologyPolicy: restricted, datasetPolicy: required, minGpuMemory: 80Gi, gpuProducts: [H800], weights: {locality: 1, topology: 2.5, packing: 0, proximity: 1000}}", ""},
		{"memory in GiB", "{minGpuMemory: 80}", ""},
		{"memory in GiB as text", "{minGpuMemory: '80'}", ""},
		{"one weight of 0", "{weights: {locality: 0}}", ""},
		{"topology", "{topologyPolicy: best}", "spec.topologyPolicy"},
		{"datasets", "{datasetPolicy: maybe}", "spec.datasetPolicy"},
		{"memory", "{minGpuMemory: big}", "spec.minGpuMemory"},
		{"negative memory", "{minGpuMemory: -1}", "spec.minGpuMemory"},
		{"negative quantity", "{minGpuMemory: -1Gi}", "spec.minGpuMemory"},
		{"memory of another type", "{minGpuMemory: true}", "spec.minGpuMemory"},
		{"empty product", "{gpuProducts: ['']}", "spec.gpuProducts"},
		{"weight", "{weights: {packing: 1001}}", "spec.weights.packing"},
		{"negative weight", "{weights: {proximity: -0.5}}", "spec.weights.proximity"},
		{"all weights 0", "{weights: {locality: 0, topology: 0, packing: 0}}", "spec.weights"},
		{"no spec", "null", "spec"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var object map[string]any
			text := "{apiVersion: berth.io/v1alpha1, kind: SchedulingPolicy, metadata: {name: a}, spec: " + c.spec + "}"
			asJSON, err := yaml.YAMLToJSON([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			// Whole numbers as such, as the API server has them.
			if err := utiljson.Unmarshal(asJSON, &object); err != nil {
				t.Fatal(err)
			}
			if c.spec == "null" {
				delete(object, "spec")
			}
			errs := apiservervalidation.ValidateCustomResource(nil, object, values)
			if len(errs) == 0 {
				more, _ := rules.Validate(context.Background(), field.NewPath(""), structural, object, nil, celconfig.RuntimeCELCostBudget)
				errs = more
			}
			if (len(errs) > 0) != (c.wrong != "") {
				t.Fatalf("errors %v, want one of %q", errs, c.wrong)
			}
			if c.wrong != "" && !strings.Contains(errs.ToAggregate().Error(), c.wrong) {
				t.Errorf("errors %v name no %q", errs, c.wrong)
			}
		})
	}
}
