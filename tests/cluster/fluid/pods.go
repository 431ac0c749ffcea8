package fluid

import (
	"fmt"
	"maps"
	"net"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// labels are those of a pod of the runtime's chart; part is master, worker or fuse.
func (d *Dataset) labels(part string) map[string]string {
	runtime := d.Runtime.String()
	chart := map[Runtime]string{Alluxio: "alluxio-0.9.14"}[d.Runtime]
	if chart == "" {
		chart = "juicefs-0.2.16"
	}
	labels := map[string]string{
		"app": runtime, "chart": chart, "release": d.Name, "heritage": "Helm", "role": runtime + "-" + part,
		"sidecar.istio.io/inject": "false",
		"app.kubernetes.io/name":  runtime, "app.kubernetes.io/instance": d.Name, "app.kubernetes.io/managed-by": "Helm",
		"fluid.io/managed-by": "fluid", "fluid.io/dataset-id": d.id(),
	}
	switch part {
	case "master":
		labels["name"] = d.Name + "-master"
	case "worker":
		labels["fluid.io/dataset"] = d.id()
		labels["fluid.io/dataset-placement"] = d.placement()
	case "fuse":
		if d.Runtime != Alluxio {
			labels["fuse.runtime.fluid.io/generation"] = "1"
		}
	}
	return labels
}

// pod is a pod of the runtime, bound to a node, on the host's network, with the main container of its part.
func (d *Dataset) pod(part, name, node string) *corev1.Pod {
	runtime := d.Runtime.String()
	container := corev1.Container{Name: runtime + "-" + part, Image: "registry.example/" + runtime + ":1"}
	fieldEnv := func(name, path string) corev1.EnvVar {
		source := &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
		return corev1.EnvVar{Name: name, ValueFrom: source}
	}
	secretEnv := func(name, key string) corev1.EnvVar {
		reference := corev1.LocalObjectReference{Name: d.Name + "-secret"}
		source := &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: reference, Key: key}}
		return corev1.EnvVar{Name: name, ValueFrom: source}
	}
	switch {
	case d.Runtime == JuiceFSCommunity:
		container.Env = append(container.Env, secretEnv("METAURL", "metaurl"))
		container.Ports = append(container.Ports, corev1.ContainerPort{Name: "metrics", ContainerPort: 9567})
	case d.Runtime == JuiceFSEnterprise:
		container.Env = append(container.Env, secretEnv("TOKEN", "token"))
	case part == "worker":
		container.Env = append(container.Env, fieldEnv("ALLUXIO_WORKER_HOSTNAME", "status.hostIP"))
	case part == "master":
		container.Env = append(container.Env, fieldEnv("ALLUXIO_MASTER_HOSTNAME", "status.podIP"))
	case part == "fuse":
		container.Env = append(container.Env, fieldEnv("ALLUXIO_CLIENT_HOSTNAME", "status.hostIP"))
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: name, Labels: maps.Clone(d.labels(part))},
		Spec: corev1.PodSpec{
			NodeName: node, HostNetwork: true, DNSPolicy: corev1.DNSClusterFirstWithHostNet,
			TerminationGracePeriodSeconds: new(int64), Containers: []corev1.Container{container},
		},
	}
}

// masterPod is Alluxio's master with the web port of an address.
func (d *Dataset) masterPod(node, address string) (*corev1.Pod, error) {
	_, text, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("master %s: %w", address, err)
	}
	pod := d.pod("master", d.Name+"-master-0", node)
	pod.Spec.Containers[0].Ports = []corev1.ContainerPort{
		{Name: "rpc", ContainerPort: 19998}, {Name: "web", ContainerPort: int32(port)},
	}
	job := corev1.Container{Name: "alluxio-job-master", Image: pod.Spec.Containers[0].Image, Ports: []corev1.ContainerPort{
		{Name: "job-rpc", ContainerPort: 20001}, {Name: "job-web", ContainerPort: 20002},
	}}
	pod.Spec.Containers = append(pod.Spec.Containers, job)
	return pod, nil
}

// runningStatus is what a kubelet says of a pod on the host's network.
func runningStatus(ip string, started time.Time, ready bool) corev1.PodStatus {
	state := corev1.ConditionFalse
	if ready {
		state = corev1.ConditionTrue
	}
	start := metav1.NewTime(started)
	status := corev1.PodStatus{
		Phase: corev1.PodRunning, HostIP: ip, HostIPs: []corev1.HostIP{{IP: ip}}, PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}},
		StartTime: &start,
	}
	for kind, value := range map[corev1.PodConditionType]corev1.ConditionStatus{
		corev1.PodScheduled: corev1.ConditionTrue, corev1.PodInitialized: corev1.ConditionTrue,
		corev1.ContainersReady: state, corev1.PodReady: state,
	} {
		status.Conditions = append(status.Conditions, corev1.PodCondition{
			Type: kind, Status: value, LastTransitionTime: metav1.Now(),
		})
	}
	return status
}

// loopback is where a test's own server listens that plays an Alluxio master.
const loopback = "127.0.0.1"
