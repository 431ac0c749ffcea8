package cluster

import (
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func render(t *testing.T, settings SchedulerSettings) map[string]any {
	t.Helper()
	text, err := ShippedSchedulerConfig(settings.BindURL != "")
	if err != nil {
		t.Fatal(err)
	}
	c := &Cluster{Kubeconfig: "/some/kubeconfig"}
	if text, err = c.renderSchedulerConfig(text, settings); err != nil {
		t.Fatal(err)
	}
	config := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &config); err != nil {
		t.Fatal(err)
	}
	return config
}

func TestShippedProfileLetsOneLevelOfBerthOutvoteThePlugins(t *testing.T) {
	config := render(t, SchedulerSettings{ExtenderURL: "http://127.0.0.1:1234/"})
	if got := config["percentageOfNodesToScore"]; got != float64(100) {
		t.Errorf("percentageOfNodesToScore is %v, want 100", got)
	}
	extender := config["extenders"].([]any)[0].(map[string]any)
	// TaintToleration 3, NodeAffinity 2, PodTopologySpread 2, InterPodAffinity 2, NodeResourcesFit 1: 10 x 100 points.
	if level, plugins := extender["weight"].(float64)*10, 1000.0; level <= plugins {
		t.Errorf("one level of Berth is worth %v, which does not outvote %v", level, plugins)
	}
	if got := extender["urlPrefix"]; got != "http://127.0.0.1:1234" {
		t.Errorf("urlPrefix is %v", got)
	}
	if extender["nodeCacheCapable"] != true || extender["ignorable"] != false {
		t.Errorf("extender is %v", extender)
	}
	profile := config["profiles"].([]any)[0].(map[string]any)
	if profile["schedulerName"] != SchedulerName {
		t.Errorf("schedulerName is %v", profile["schedulerName"])
	}
}

// The two configurations are one but for the extender that binds.
func TestShippedProfileIsTheSameForThoseWhoHaveBerthBind(t *testing.T) {
	config := render(t, SchedulerSettings{ExtenderURL: "http://127.0.0.1:1234", BindURL: "http://127.0.0.1:1235"})
	extenders := config["extenders"].([]any)
	binder := extenders[1].(map[string]any)
	if binder["urlPrefix"] != "http://127.0.0.1:1235" || binder["bindVerb"] != "bind" || binder["ignorable"] != false {
		t.Errorf("the extender that binds is %v", binder)
	}
	config["extenders"] = extenders[:1]
	if plain := render(t, SchedulerSettings{ExtenderURL: "http://127.0.0.1:1234"}); !reflect.DeepEqual(config, plain) {
		t.Errorf("without it the configuration is %v, want %v", config, plain)
	}
}

func TestSchedulerConfigWithoutExtenderKeepsTheProfile(t *testing.T) {
	config := render(t, SchedulerSettings{DefaultSampling: true})
	for _, key := range []string{"extenders", "percentageOfNodesToScore"} {
		if value, found := config[key]; found {
			t.Errorf("%s is %v, want none", key, value)
		}
	}
	if len(config["profiles"].([]any)) != 1 {
		t.Errorf("profiles are %v", config["profiles"])
	}
	connection := config["clientConnection"].(map[string]any)
	if connection["kubeconfig"] != "/some/kubeconfig" {
		t.Errorf("clientConnection is %v", connection)
	}
}

func TestNodeHasTheLabelsOfGPUFeatureDiscovery(t *testing.T) {
	node := A100PCIe.Node("a")
	for key, want := range map[string]string{
		"nvidia.com/gpu.product": "NVIDIA-A100-PCIE-40GB", "nvidia.com/gpu.count": "4", "nvidia.com/gpu.memory": "40960",
	} {
		if got := node.Labels[key]; got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	for key := range NoGPU.Node("b").Labels {
		if strings.HasPrefix(key, "nvidia.com/") {
			t.Errorf("a node without GPUs has the label %s", key)
		}
	}
}
