// Package cluster runs a real Kubernetes control plane on loopback for tests and benches: etcd, kube-apiserver,
// kube-scheduler, kube-controller-manager, and kwok in the kubelets' place. It also runs Berth beside it, makes
// nodes, pods and datasets, and waits for what happens to them.
//
// tests/cluster/build.sh builds the programs. Nothing here sleeps: what takes time is watched, with a deadline.
package cluster

import "time"

// Deadline is how long anything may take to happen before a test calls it failed.
const Deadline = 30 * time.Second

// SchedulerName is the scheduler that deploy/examples/scheduler-config.yaml sets up and that test pods ask for.
const SchedulerName = "berth-scheduler"

// GPUResource is the extended resource that the NVIDIA device plugin offers.
const GPUResource = "nvidia.com/gpu"

// Namespace is where test pods and datasets live.
const Namespace = "default"
