package main

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/testbed/tests/cluster"
)

const gpusPerNode = 8

// matrix holds what `nvidia-smi topo -m` prints for each pair of GPUs.
type matrix [gpusPerNode][gpusPerNode]string

// kind is a machine with eight GPUs, four on each socket.
type kind struct {
	name    string
	machine cluster.Machine
	links   matrix
	buses   matrix // the way over PCIe, beneath NVLink too
	// The NVLinks go to switches, which hides them from the device plugin: it looks for GPUs at their far ends.
	switched bool
}

// A set of GPUs has bit i for GPU i.
type set uint

const allGPUs = set(1)<<gpusPerNode - 1

func setOf(gpus ...int) set {
	s := set(0)
	for _, gpu := range gpus {
		s |= 1 << gpu
	}
	return s
}

func (s set) count() int { return bits.OnesCount(uint(s)) }

// gpus are the set's, ascending.
func (s set) gpus() []int {
	gpus := make([]int, 0, gpusPerNode)
	for gpu := range gpusPerNode {
		if s>>gpu&1 == 1 {
			gpus = append(gpus, gpu)
		}
	}
	return gpus
}

// kinds are those of the experiment; docs/gpu-topology.md names the sources of their links.
var kinds = []*kind{dgx1(), hgx(), bridged(), pcie()}

func dgx1() *kind {
	k := &kind{name: "dgx1", machine: cluster.V100DGX1, links: everywhere("SYS"), buses: sockets("NODE")}
	for gpu := 0; gpu < gpusPerNode; gpu += 2 { // two GPUs behind each PCIe switch
		k.buses.put(gpu, gpu+1, "PIX")
	}
	for _, pair := range [][2]int{{0, 3}, {0, 4}, {1, 2}, {1, 5}, {2, 3}, {4, 7}, {5, 6}, {6, 7}} {
		k.links.put(pair[0], pair[1], "NV2")
	}
	for _, pair := range [][2]int{{0, 1}, {0, 2}, {1, 3}, {2, 6}, {3, 7}, {4, 5}, {4, 6}, {5, 7}} {
		k.links.put(pair[0], pair[1], "NV1")
	}
	return k
}

func hgx() *kind {
	return &kind{name: "hgx", machine: cluster.H100SXM, links: everywhere("NV18"), buses: sockets("NODE"), switched: true}
}

func bridged() *kind {
	machine := cluster.A100PCIe
	machine.GPUs, machine.CPU = gpusPerNode, "128"
	k := &kind{name: "bridged", machine: machine, links: everywhere("SYS"), buses: everywhere("SYS")}
	for _, pair := range [][2]int{{0, 2}, {1, 3}, {4, 5}, {6, 7}} {
		k.links.put(pair[0], pair[1], "NV12")
	}
	return k
}

func pcie() *kind {
	machine := cluster.Machine{Product: "NVIDIA-GeForce-RTX-4090", Family: "ada-lovelace", GPUs: gpusPerNode, MemoryMiB: 24564,
		CPU: "128", Memory: "512Gi"}
	return &kind{name: "pcie", machine: machine, links: sockets("PIX"), buses: sockets("PIX")}
}

func everywhere(link string) matrix {
	var m matrix
	for a := range gpusPerNode {
		for b := a + 1; b < gpusPerNode; b++ {
			m.put(a, b, link)
		}
	}
	return m
}

// sockets has a link between any two GPUs of a socket, and none but the way between the sockets for the others.
func sockets(link string) matrix {
	m := everywhere("SYS")
	for a := range gpusPerNode {
		for b := a + 1; b < gpusPerNode; b++ {
			if socket(a) == socket(b) {
				m.put(a, b, link)
			}
		}
	}
	return m
}

func socket(gpu int) int { return gpu / (gpusPerNode / 2) }

func (m *matrix) put(a, b int, link string) { m[a][b], m[b][a] = link, link }

// nvlinks is the number of NVLinks in a bond, 0 for another link.
func nvlinks(link string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(link, "NV"))
	return n
}

// bandwidth of a link in GB/s per direction, as docs/gpu-topology.md has it.
func bandwidth(link string) int {
	if n := nvlinks(link); n > 0 {
		return 25 * n
	}
	return map[string]int{"PIX": 20, "PXB": 16, "PHB": 12, "NODE": 10, "SYS": 8}[link]
}

// bottleneck is the bandwidth of the slowest pair of a set of two GPUs or more.
func (k *kind) bottleneck(s set) int {
	slowest := 0
	gpus := s.gpus()
	for i, a := range gpus {
		for _, b := range gpus[i+1:] {
			if width := bandwidth(k.links[a][b]); slowest == 0 || width < slowest {
				slowest = width
			}
		}
	}
	return slowest
}

// best is the widest bottleneck of so many GPUs of an empty machine.
func (k *kind) best(count int) int {
	widest := 0
	for s := range allGPUs + 1 {
		if s.count() == count {
			widest = max(widest, k.bottleneck(s))
		}
	}
	return widest
}

// island says whether NVLinks connect a set, over GPUs of the set, or on a machine without them one PCIe switch does.
func (k *kind) island(s set) bool {
	near := func(a, b int) bool { return nvlinks(k.links[a][b]) > 0 }
	if k.links == k.buses {
		near = func(a, b int) bool { return k.links[a][b] == "PIX" }
	}
	reached := s & -s
	for {
		more := reached
		for _, a := range reached.gpus() {
			for _, b := range s.gpus() {
				if near(a, b) {
					more |= 1 << b
				}
			}
		}
		if more == reached {
			return reached == s
		}
		reached = more
	}
}

// hasIsland says whether any so many GPUs are one.
func (k *kind) hasIsland(count int) bool {
	for s := range allGPUs + 1 {
		if s.count() == count && k.island(s) {
			return true
		}
	}
	return false
}

// node is a node of this kind that carries what the agent would say of it.
func (k *kind) node(number int) *corev1.Node {
	type gpu struct {
		UUID    string `json:"uuid"`
		Product string `json:"product"`
		Memory  int    `json:"memoryMiB"`
		Healthy bool   `json:"healthy"`
		NUMA    int    `json:"numa"`
		PCIe    string `json:"pcie"`
	}
	topology := struct {
		Version int      `json:"version"`
		At      string   `json:"at"`
		GPUs    []gpu    `json:"gpus"`
		Links   [][3]any `json:"links"`
	}{Version: 1, At: "2026-01-01T00:00:00Z"}
	node := k.machine.Node(fmt.Sprintf("%s-%03d", k.name, number))
	for a := range gpusPerNode {
		topology.GPUs = append(topology.GPUs, gpu{
			UUID: fmt.Sprintf("GPU-%s-%d", node.Name, a), Product: k.machine.Product, Memory: k.machine.MemoryMiB,
			Healthy: true, NUMA: socket(a), PCIe: k.bus(a),
		})
		for b := a + 1; b < gpusPerNode; b++ {
			topology.Links = append(topology.Links, [3]any{a, b, k.links[a][b]})
		}
	}
	text, err := json.Marshal(topology)
	if err != nil {
		panic(err) // of strings and numbers it cannot be
	}
	node.Annotations = map[string]string{"berth.io/topology": string(text)}
	return node
}

// bus names the PCIe switch above a GPU, by the first GPU that is behind it.
func (k *kind) bus(gpu int) string {
	first := gpu
	for other := range gpu {
		if k.buses[other][gpu] == "PIX" {
			first = min(first, other)
		}
	}
	return fmt.Sprintf("switch-%d", first)
}
