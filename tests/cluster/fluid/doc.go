// Package fluid leaves in a test cluster what Fluid 1.0.8 leaves there: its custom resources, with the definitions of its
// own source; the pods of its runtimes, bound, with the status that a kubelet gives them; node labels; claims and
// volumes. Charts and controllers do not run: each change here is one that they would make.
//
// Where it comes from: charts/alluxio, charts/juicefs, pkg/utils/label.go, pkg/utils/dataset and pkg/ddc of
// github.com/fluid-cloudnative/fluid.
//
// kwok leaves pods with a label "release" alone (cluster.startKubelets), as Fluid's all have it: their status is set
// here. A worker's host IP is its node's, as with hostNetwork, Fluid's default. An Alluxio master's is 127.0.0.1, so that
// it can be an HTTP server of the test's (Master); Berth takes address and port from the pod.
package fluid
