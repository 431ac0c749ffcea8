// kubelet's PodResources API: cmake/Agent.cmake takes its .proto from this module's source. A module of its own, in which
// nothing is compiled: no more than kubelet's archive is downloaded.
module berth.dev/berth/podresources

go 1.26.0

require k8s.io/kubelet v0.37.2
