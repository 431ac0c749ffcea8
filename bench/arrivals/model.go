// Package arrivals lets jobs arrive at a scheduler one after the other while others finish, so that any scheduler meets
// the same jobs in the same order on a cluster that stays as full.
package arrivals

import (
	"cmp"
	"slices"
)

// Job is a pod that holds GPUs while it runs.
type Job struct {
	Name string
	GPUs int
	Node string  // where it runs; empty: it is to be placed
	Ends float64 // of all that run, the one with the least finishes first
}

// Model is what a bench itself knows of who runs where.
type Model struct {
	nodes   []string // all of one size
	total   int
	free    map[string]int
	running map[string]Job // by name, with their nodes
}

// NewModel is of empty nodes with so many GPUs each.
func NewModel(nodes []string, gpus int) *Model {
	m := &Model{nodes: nodes, total: len(nodes) * gpus, free: map[string]int{}, running: map[string]Job{}}
	for _, node := range nodes {
		m.free[node] = gpus
	}
	return m
}

// Place lets a job run on a node.
func (m *Model) Place(j Job, node string) {
	j.Node = node
	m.free[node] -= j.GPUs
	m.running[j.Name] = j
}

// Finish ends a job, and returns its node.
func (m *Model) Finish(name string) string {
	j := m.running[name]
	m.free[j.Node] += j.GPUs
	delete(m.running, name)
	return j.Node
}

// Total is the number of GPUs, Taken how many of them jobs hold, and Free how many of a node's none does.
func (m *Model) Total() int           { return m.total }
func (m *Model) Free(node string) int { return m.free[node] }
func (m *Model) Taken() int {
	taken := m.total
	for _, free := range m.free {
		taken -= free
	}
	return taken
}

// Fits says whether any node has so many free GPUs: all that the stock scheduler asks of a node here.
func (m *Model) Fits(gpus int) bool {
	return slices.ContainsFunc(m.nodes, func(node string) bool { return m.free[node] >= gpus })
}

// Leaving are the jobs that finish so that others with so many GPUs arrive at no more than the given share taken.
func (m *Model) Leaving(gpus int, most float64) []string {
	var names []string
	taken := m.Taken()
	for _, next := range m.On("") {
		if float64(taken+gpus) <= most*float64(m.total) {
			break
		}
		names = append(names, next.Name)
		taken -= next.GPUs
	}
	return names
}

// MakingRoom are the jobs that finish so that one fits that fits nowhere: on the node that lacks least, the first by name.
func (m *Model) MakingRoom(gpus int) []string {
	node := m.nodes[0]
	for _, other := range m.nodes {
		if m.free[other] > m.free[node] {
			node = other
		}
	}
	var names []string
	free := m.free[node]
	for _, next := range m.On(node) {
		if free >= gpus {
			break
		}
		names = append(names, next.Name)
		free += next.GPUs
	}
	return names
}

// On are the jobs of a node, or of all for "", in the order in which they finish.
func (m *Model) On(node string) []Job {
	var jobs []Job
	for _, j := range m.running {
		if node == "" || j.Node == node {
			jobs = append(jobs, j)
		}
	}
	slices.SortFunc(jobs, func(a, b Job) int {
		return cmp.Or(cmp.Compare(a.Ends, b.Ends), cmp.Compare(a.Name, b.Name))
	})
	return jobs
}
