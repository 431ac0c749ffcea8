package cluster

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// PodSpec says what a test pod asks for.
type PodSpec struct {
	Name        string
	GPUs        int
	CPU         string            // a quantity; 100m if empty
	Datasets    []string          // name or namespace/name, by Berth's annotation
	Claims      []string          // persistent volume claims that it mounts
	Annotations map[string]string // further ones, with their whole key
	Labels      map[string]string
	Node        string // the only node it may go to, by node selector
	Priority    string // name of its priority class
}

// Pod is the pod object.
func (s PodSpec) Pod() *corev1.Pod {
	annotations := map[string]string{}
	for key, value := range s.Annotations {
		annotations[key] = value
	}
	if len(s.Datasets) > 0 {
		annotations["berth.io/datasets"] = strings.Join(s.Datasets, ",")
	}
	requests := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse(cmp.Or(s.CPU, "100m")),
		corev1.ResourceMemory: resource.MustParse("128Mi"),
	}
	limits := corev1.ResourceList{}
	if s.GPUs > 0 {
		count := *resource.NewQuantity(int64(s.GPUs), resource.DecimalSI)
		requests[GPUResource], limits[GPUResource] = count, count
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: s.Name, Namespace: Namespace, Labels: s.Labels, Annotations: annotations},
		Spec: corev1.PodSpec{
			SchedulerName:                 SchedulerName,
			PriorityClassName:             s.Priority,
			RestartPolicy:                 corev1.RestartPolicyNever,
			TerminationGracePeriodSeconds: new(int64),
			Containers: []corev1.Container{{
				Name:      "train",
				Image:     "registry.example/train:1",
				Resources: corev1.ResourceRequirements{Requests: requests, Limits: limits},
			}},
		},
	}
	for _, claim := range s.Claims {
		source := corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: claim, VolumeSource: source})
		container := &pod.Spec.Containers[0]
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: claim, MountPath: "/data/" + claim})
	}
	if s.Node != "" {
		pod.Spec.NodeSelector = map[string]string{corev1.LabelHostname: s.Node}
	}
	return pod
}

// Job is a job of one pod like that, which the fake kubelet runs to completion at once.
func (s PodSpec) Job() *batchv1.Job {
	pod := s.Pod()
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: s.Name, Namespace: Namespace},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: pod.Labels, Annotations: pod.Annotations},
			Spec:       pod.Spec,
		}},
	}
}

// Specs are n copies of a spec called NAME-000, NAME-001 and so on.
func (s PodSpec) Specs(n int) []PodSpec {
	specs := make([]PodSpec, n)
	for i := range specs {
		specs[i] = s
		specs[i].Name = fmt.Sprintf("%s-%03d", s.Name, i)
	}
	return specs
}

// CreatePods creates pods from several clients at once. It tries again while the API server does not answer.
func (c *Cluster) CreatePods(ctx context.Context, clients int, specs ...PodSpec) error {
	return Parallel(ctx, clients, specs, func(ctx context.Context, spec PodSpec) error {
		var last error
		err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, Deadline, true, func(ctx context.Context) (bool, error) {
			_, err := c.Client.CoreV1().Pods(Namespace).Create(ctx, spec.Pod(), metav1.CreateOptions{})
			last = ignoreExisting(err)
			return last == nil, nil
		})
		if err != nil && last != nil {
			return fmt.Errorf("create pod %s: %w", spec.Name, last)
		}
		return err
	})
}

// AssignedGPUs are those that Berth gave a pod with its node, ascending.
func AssignedGPUs(pod *corev1.Pod) ([]int, error) {
	text := pod.Annotations["berth.io/gpus"]
	var gpus []int
	for _, number := range strings.Split(text, ",") {
		gpu, err := strconv.Atoi(number)
		if err != nil || gpu < 0 || (len(gpus) > 0 && gpu <= gpus[len(gpus)-1]) {
			return nil, fmt.Errorf("pod %s: annotation berth.io/gpus is %q", pod.Name, text)
		}
		gpus = append(gpus, gpu)
	}
	return gpus, nil
}

// GPURequest is how many GPUs a pod asks for, by its ordinary containers.
func GPURequest(pod *corev1.Pod) int64 {
	total := int64(0)
	for _, container := range pod.Spec.Containers {
		quantity := container.Resources.Requests[GPUResource]
		total += quantity.Value()
	}
	return total
}
