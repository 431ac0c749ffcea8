package main

import (
	"context"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/testbed/bench/arrivals"
	"berth.dev/berth/testbed/bench/program"
	"berth.dev/berth/testbed/tests/cluster"
)

const (
	rackLabel    = "topology.kubernetes.io/rack"
	racks        = 8
	nodesPerRack = 8
	gangSize     = 4    // nodes
	gangEvery    = 5    // arrivals
	gangTaken    = 0.70 // as mostTaken; gangs need whole nodes
)

// gangResult is one scheduler, over all seeds.
type gangResult struct {
	Title     string  `json:"title"`
	Gangs     int     `json:"gangs"`      // placed when none of the GPUs was left from the warm-up
	Possible  int     `json:"possible"`   // of them, those for which a rack had four free nodes
	Together  int     `json:"together"`   // of those, the ones inside one rack
	AnyRack   int     `json:"one_rack"`   // of all, likewise
	MeanRacks float64 `json:"mean_racks"` // that a gang is spread over
	Waited    int     `json:"waited"`     // pods for which there was no room
}

// gangs is one scheduler with one seed.
type gangs struct {
	arrivals.Flow
	rack   map[string]string // by node
	result *gangResult
}

func rackNodes() []*corev1.Node {
	nodes := cluster.H100SXM.Nodes("gpu", racks*nodesPerRack)
	for i, node := range nodes {
		node.Labels[rackLabel] = fmt.Sprintf("rack-%d", i/nodesPerRack)
	}
	return nodes
}

// measureGangs lets all gangs and jobs of a seed arrive. Afterwards their pods are gone.
func measureGangs(ctx context.Context, c *cluster.Cluster, o options, seed uint64, ch choice, result *gangResult) error {
	berth, stop, err := startArm(ctx, c, ch)
	defer stop()
	if err != nil {
		return err
	}
	view, err := c.WatchPods(ctx, "")
	if err != nil {
		return err
	}
	defer view.Stop()
	g := &gangs{rack: map[string]string{}, result: result}
	var names []string
	for _, node := range rackNodes() {
		names = append(names, node.Name)
		g.rack[node.Name] = node.Labels[rackLabel]
	}
	g.Flow = arrivals.Flow{Cluster: c, Model: arrivals.NewModel(names, gpusPerNode), View: view, Berth: berth, MostTaken: gangTaken}
	warm := false
	for _, group := range makeGroups(seed, o.Gangs) {
		gpus := 0
		for _, j := range group {
			gpus += j.GPUs
		}
		warm = warm || len(g.Model.Leaving(gpus, gangTaken)) > 0
		if err := g.arrive(ctx, group, warm); err != nil {
			return fmt.Errorf("%s, %s: %w", ch.title, group[0].Name, err)
		}
	}
	result.Waited += len(g.Waited) + len(g.Withheld)
	program.Progress("seed %d, %s: %d of %d gangs are inside one rack", seed, result.Title, result.AnyRack, result.Gangs)
	return c.DeletePods(ctx, "")
}

func (g *gangs) arrive(ctx context.Context, group []arrivals.Job, warm bool) error {
	gang := len(group) > 1
	var all []arrivals.Arrival
	for _, j := range group {
		a := arrivals.Arrival{Job: j}
		if gang {
			a.Spec.Labels = map[string]string{"kueue.x-k8s.io/pod-group-name": group[0].Name}
			a.Spec.Annotations = map[string]string{
				"kueue.x-k8s.io/pod-group-total-count": strconv.Itoa(gangSize),
				"berth.io/gang-topology":               "preferred=" + rackLabel,
			}
		}
		all = append(all, a)
	}
	possible := false
	got := map[string]bool{}
	placed := 0
	err := g.Arrive(ctx, all, func(j arrivals.Job, _ *corev1.Pod) {
		if placed == 0 {
			possible = g.fitsOneRack()
		}
		placed++
		got[g.rack[j.Node]] = true
	})
	if err != nil || !gang || !warm {
		return err
	}
	r := g.result
	r.MeanRacks = (r.MeanRacks*float64(r.Gangs) + float64(len(got))) / float64(r.Gangs+1)
	r.Gangs++
	if possible {
		r.Possible++
	}
	if len(got) == 1 {
		r.AnyRack++
		if possible {
			r.Together++
		}
	}
	return nil
}

// fitsOneRack says whether a rack has four free nodes.
func (g *gangs) fitsOneRack() bool {
	empty := map[string]int{}
	for node, rack := range g.rack {
		if g.Model.Free(node) == gpusPerNode {
			if empty[rack]++; empty[rack] == gangSize {
				return true
			}
		}
	}
	return false
}
