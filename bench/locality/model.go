package main

import (
	"slices"
)

// model is what the bench itself knows of who runs where.
type model struct {
	free    map[string]int
	running map[string]job // by name, with their nodes
}

func newModel() *model {
	m := &model{free: map[string]int{}, running: map[string]job{}}
	for i := range nodeCount {
		m.free[nodeName(i)] = machine.GPUs
	}
	return m
}

func (m *model) place(j job, node string) {
	j.node = node
	m.free[node] -= j.gpus
	m.running[j.name] = j
}

func (m *model) finish(name string) {
	j := m.running[name]
	m.free[j.node] += j.gpus
	delete(m.running, name)
}

func (m *model) taken() int {
	taken := totalGPUs
	for _, free := range m.free {
		taken -= free
	}
	return taken
}

// fits says whether any node has enough free GPUs: all that the stock scheduler asks of a node here.
func (m *model) fits(j job) bool {
	for _, free := range m.free {
		if free >= j.gpus {
			return true
		}
	}
	return false
}

// possible is the most that any node with enough free GPUs has of what a job reads, and that node.
func (m *model) possible(j job) (int64, string) {
	best, at := int64(-1), ""
	for i := range nodeCount {
		node := nodeName(i)
		if local := j.localBytes(node); m.free[node] >= j.gpus && local > best {
			best, at = local, node
		}
	}
	return max(best, 0), at
}

// leaving are the jobs that finish so that another arrives at no more than mostTaken.
func (m *model) leaving(j job) []string {
	var names []string
	taken := m.taken()
	for _, next := range m.byEnd("") {
		if float64(taken+j.gpus) <= mostTaken*totalGPUs {
			break
		}
		names = append(names, next.name)
		taken -= next.gpus
	}
	return names
}

// makingRoom are the jobs that finish so that one fits that fits nowhere: on the node that lacks least, the first by name.
func (m *model) makingRoom(j job) []string {
	node := nodeName(0)
	for i := range nodeCount {
		if m.free[nodeName(i)] > m.free[node] {
			node = nodeName(i)
		}
	}
	var names []string
	free := m.free[node]
	for _, next := range m.byEnd(node) {
		if free >= j.gpus {
			break
		}
		names = append(names, next.name)
		free += next.gpus
	}
	return names
}

// byEnd are the jobs of a node, or of all, in the order in which they finish.
func (m *model) byEnd(node string) []job {
	var jobs []job
	for _, j := range m.running {
		if node == "" || j.node == node {
			jobs = append(jobs, j)
		}
	}
	slices.SortFunc(jobs, func(a, b job) int {
		if a.ends != b.ends {
			if a.ends < b.ends {
				return -1
			}
			return 1
		}
		return map[bool]int{true: -1, false: 1}[a.name < b.name]
	})
	return jobs
}
