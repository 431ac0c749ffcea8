package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"

	"berth.dev/berth/testbed/tests/cluster"
)

// The agent runs with the rights of deploy/examples/agent.yaml, against kubelet's own API in Go.
func TestAgentWritesItsOwnNodeAndNoOther(t *testing.T) {
	b := setUpWithout(t, cluster.A100SXM.Nodes("node", 2)...)
	own, other := "node-000", "node-001"
	b.apply(filepath.Join(cluster.Root(), "deploy", "examples", "agent.yaml"))
	token := b.agentToken(own)
	b.waitPolicy(token, other)

	kubelet := startKubelet(t, filepath.Join(b.dir, "kubelet.sock"))
	kubelet.set("default", "train", "GPU-1")
	agent := b.startAgent(own, token)
	b.waitAnnotation(own, "berth.io/topology", `"GPU-1"`)
	b.waitAnnotation(own, "berth.io/gpu-holders", `"train"`)
	kubelet.set("default", "other", "GPU-0", "GPU-1")
	b.waitAnnotation(own, "berth.io/gpu-holders", `"other"`)
	b.must(agent.Process.Signal(syscall.SIGTERM))
	b.must(agent.Wait())

	command := b.agentCommand(other, token, "--once")
	output, err := command.CombinedOutput()
	if err == nil || !strings.Contains(string(output), "an agent may change its own node only") {
		t.Errorf("the agent of %s for %s: %v\n%s", own, other, err, output)
	}
	if strings.Contains(string(output), token) {
		t.Error("the agent prints its token")
	}
	if found := b.annotation(other, "berth.io/topology"); found != "" {
		t.Errorf("%s has %s", other, found)
	}
	b.wantOnlyOurAnnotations(own, token)
}

// wantOnlyOurAnnotations tries what whoever has taken over an agent might do to its node.
func (b *bed) wantOnlyOurAnnotations(node, token string) {
	b.t.Helper()
	patch := func(client kubernetes.Interface, text string) error {
		_, err := client.CoreV1().Nodes().Patch(b.ctx, node, types.MergePatchType, []byte(text), metav1.PatchOptions{})
		return err
	}
	b.must(patch(b.Client, `{"metadata":{"annotations":{"example.com/kept":"1"}}}`))
	config := rest.CopyConfig(b.Config)
	config.BearerToken = token
	client, err := kubernetes.NewForConfig(config)
	b.must(err)
	b.must(patch(client, `{"metadata":{"annotations":{"berth.io/gpu-holders":null}}}`))
	for _, text := range []string{
		`{"metadata":{"annotations":{"example.com/kept":"2"}}}`,
		`{"metadata":{"annotations":{"example.com/kept":null}}}`,
		`{"metadata":{"annotations":{"example.com/new":"1"}}}`,
		`{"metadata":{"labels":{"example.com/new":"1"}}}`,
		`{"metadata":{"finalizers":["example.com/new"]}}`,
		`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"none","uid":"none"}]}}`,
		`{"spec":{"unschedulable":true}}`,
	} {
		if err := patch(client, text); err == nil || !strings.Contains(err.Error(), "berth.io/... only") {
			b.t.Errorf("the agent's %s: %v", text, err)
		}
	}
}

// apply creates the objects of a file, and deletes them after the test.
func (b *bed) apply(path string) {
	b.t.Helper()
	text, err := os.ReadFile(path)
	b.must(err)
	decoder := scheme.Codecs.UniversalDeserializer()
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		object, _, err := decoder.Decode(document, nil, nil)
		b.must(err)
		b.createObject(object)
	}
}

func (b *bed) createObject(object runtime.Object) {
	b.t.Helper()
	ctx, create, remove := b.ctx, metav1.CreateOptions{}, metav1.DeleteOptions{}
	name := object.(metav1.Object).GetName()
	var err error
	var undo func(context.Context) error
	switch o := object.(type) {
	case *corev1.Namespace:
		// A namespace takes its time to go; the next test finds it.
		if _, err = b.Client.CoreV1().Namespaces().Create(ctx, o, create); apierrors.IsAlreadyExists(err) {
			err = nil
		}
	case *corev1.ServiceAccount:
		accounts := b.Client.CoreV1().ServiceAccounts(o.Namespace)
		_, err = accounts.Create(ctx, o, create)
		undo = func(ctx context.Context) error { return accounts.Delete(ctx, name, remove) }
	case *rbacv1.ClusterRole:
		_, err = b.Client.RbacV1().ClusterRoles().Create(ctx, o, create)
		undo = func(ctx context.Context) error { return b.Client.RbacV1().ClusterRoles().Delete(ctx, name, remove) }
	case *rbacv1.ClusterRoleBinding:
		_, err = b.Client.RbacV1().ClusterRoleBindings().Create(ctx, o, create)
		undo = func(ctx context.Context) error {
			return b.Client.RbacV1().ClusterRoleBindings().Delete(ctx, name, remove)
		}
	case *admissionv1.ValidatingAdmissionPolicy:
		policies := b.Client.AdmissionregistrationV1().ValidatingAdmissionPolicies()
		_, err = policies.Create(ctx, o, create)
		undo = func(ctx context.Context) error { return policies.Delete(ctx, name, remove) }
	case *admissionv1.ValidatingAdmissionPolicyBinding:
		bindings := b.Client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
		_, err = bindings.Create(ctx, o, create)
		undo = func(ctx context.Context) error { return bindings.Delete(ctx, name, remove) }
	case *appsv1.DaemonSet:
		sets := b.Client.AppsV1().DaemonSets(o.Namespace)
		_, err = sets.Create(ctx, o, create)
		undo = func(ctx context.Context) error { return sets.Delete(ctx, name, remove) }
	default:
		b.t.Fatalf("what to do with a %T?", object)
	}
	b.must(err)
	if undo != nil {
		b.t.Cleanup(func() {
			if err := undo(context.Background()); err != nil {
				b.t.Error(err)
			}
		})
	}
}

// agentToken is the token that a pod of the agent has on a node.
func (b *bed) agentToken(node string) string {
	b.t.Helper()
	const ns, account = "berth", "berth-agent"
	pod, err := b.Client.CoreV1().Pods(ns).Create(b.ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "berth-agent", Namespace: ns},
		Spec: corev1.PodSpec{
			NodeName: node, ServiceAccountName: account, Containers: []corev1.Container{{Name: "agent", Image: "agent"}},
		},
	}, metav1.CreateOptions{})
	b.must(err)
	b.t.Cleanup(func() {
		now := int64(0)
		_ = b.Client.CoreV1().Pods(ns).Delete(context.Background(), pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &now})
	})
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		BoundObjectRef: &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: pod.Name, UID: pod.UID},
	}}
	answer, err := b.Client.CoreV1().ServiceAccounts(ns).CreateToken(b.ctx, account, request, metav1.CreateOptions{})
	b.must(err)
	return answer.Status.Token
}

// waitPolicy waits until the API server keeps the agent to its own node, which it takes up a moment after it is told.
func (b *bed) waitPolicy(token, other string) {
	b.t.Helper()
	config := rest.CopyConfig(b.Config)
	config.BearerToken = token
	client, err := kubernetes.NewForConfig(config)
	b.must(err)
	patch := []byte(`{"metadata":{"annotations":{"berth.io/topology":"{}"}}}`)
	deadline, ticker := time.After(cluster.Deadline), time.NewTicker(50*time.Millisecond)
	defer ticker.Stop()
	for {
		_, err := client.CoreV1().Nodes().Patch(b.ctx, other, types.MergePatchType, patch,
			metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil && strings.Contains(err.Error(), "its own node only") {
			return
		}
		select {
		case <-deadline:
			b.t.Fatalf("the policy is not enforced: %v", err)
		case <-ticker.C:
		}
	}
}

func (b *bed) agentCommand(node, token string, more ...string) *exec.Cmd {
	b.t.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["test"] = &clientcmdapi.Cluster{Server: b.URL(), CertificateAuthority: b.Config.CAFile}
	config.AuthInfos["agent"] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "agent"}
	config.CurrentContext = "test"
	kubeconfig := filepath.Join(b.dir, "agent-"+node)
	b.must(clientcmd.WriteToFile(*config, kubeconfig))
	smi := filepath.Join(b.dir, "nvidia-smi")
	b.must(os.WriteFile(smi, []byte(fakeNvidiaSmi), 0o755))
	binary, err := cluster.BerthBinary()
	b.must(err)
	return exec.CommandContext(b.ctx, binary, append([]string{"agent", "--node-name", node, "--kubeconfig", kubeconfig,
		"--nvidia-smi", smi, "--pod-resources", "unix://" + filepath.Join(b.dir, "kubelet.sock"), "--interval", "1s"}, more...)...)
}

func (b *bed) startAgent(node, token string) *exec.Cmd {
	b.t.Helper()
	command := b.agentCommand(node, token)
	log, err := os.Create(filepath.Join(b.dir, "agent.log"))
	b.must(err)
	b.t.Cleanup(func() { log.Close() })
	command.Stderr = log
	b.must(command.Start())
	return command
}

const fakeNvidiaSmi = `#!/bin/sh
case "$*" in
  --query-gpu=*) printf '%s\n' '0, GPU-0, NVIDIA A100-SXM4-40GB, 40960, 00000000:10:00.0' \
                               '1, GPU-1, NVIDIA A100-SXM4-40GB, 40960, 00000000:11:00.0' ;;
  -q) printf 'GPU 00000000:%s:00.0\n    Minor Number : %s\n' 10 0 11 1 ;;
  'topo -m') printf '\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV12\t0-31\t0\nGPU1\tNV12\t X \t0-31\t0\n' ;;
esac
`

func (b *bed) annotation(node, key string) string {
	b.t.Helper()
	found, err := b.Client.CoreV1().Nodes().Get(b.ctx, node, metav1.GetOptions{})
	b.must(err)
	return found.Annotations[key]
}

// waitAnnotation waits until an annotation is JSON that holds the words.
func (b *bed) waitAnnotation(node, key, words string) {
	b.t.Helper()
	watch, err := b.Client.CoreV1().Nodes().Watch(b.ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + node})
	b.must(err)
	defer watch.Stop()
	deadline := time.After(cluster.Deadline)
	for {
		select {
		case event := <-watch.ResultChan():
			if found, ok := event.Object.(*corev1.Node); ok && strings.Contains(found.Annotations[key], words) {
				if !json.Valid([]byte(found.Annotations[key])) {
					b.t.Errorf("%s is no JSON: %s", key, found.Annotations[key])
				}
				return
			}
		case <-deadline:
			b.t.Fatalf("%s of %s never had %s; it is %q", key, node, words, b.annotation(node, key))
		}
	}
}

// kubelet serves the PodResources API as a kubelet does.
type kubelet struct {
	podresources.UnimplementedPodResourcesListerServer
	mutex  sync.Mutex
	answer *podresources.ListPodResourcesResponse
}

func startKubelet(t *testing.T, socket string) *kubelet {
	t.Helper()
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	k := &kubelet{answer: &podresources.ListPodResourcesResponse{}}
	server := grpc.NewServer()
	podresources.RegisterPodResourcesListerServer(server, k)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return k
}

// set makes one pod hold these devices, and nobody else any.
func (k *kubelet) set(namespace, pod string, devices ...string) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.answer = &podresources.ListPodResourcesResponse{PodResources: []*podresources.PodResources{{
		Name: pod, Namespace: namespace, Containers: []*podresources.ContainerResources{{
			Name: "main", Devices: []*podresources.ContainerDevices{{ResourceName: "nvidia.com/gpu", DeviceIds: devices}},
		}},
	}}}
}

func (k *kubelet) List(context.Context, *podresources.ListPodResourcesRequest) (*podresources.ListPodResourcesResponse, error) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return k.answer, nil
}
