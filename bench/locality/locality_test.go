package main

import (
	"reflect"
	"testing"

	"berth.dev/berth/testbed/bench/arrivals"
)

func TestWorkloadFollowsFromTheSeedAndFits(t *testing.T) {
	w := makeWorkload(1, 150)
	if !reflect.DeepEqual(w, makeWorkload(1, 150)) {
		t.Error("two workloads of one seed differ")
	}
	m := newModel()
	for _, j := range w.before {
		m.Place(j, j.Node)
		if m.Free(j.Node) < 0 {
			t.Fatalf("%s has more than its GPUs taken", j.Node)
		}
	}
	if taken := float64(m.Taken()) / totalGPUs; taken < startTaken || taken > mostTaken {
		t.Errorf("%v of the GPUs are taken at the start", taken)
	}
	for _, d := range w.datasets {
		if n := len(d.local); n < 3 || n > 6 {
			t.Errorf("%s is on %d nodes", d.name, n)
		}
	}
}

func TestPossibleIsTheMostThatANodeWithEnoughFreeGPUsHas(t *testing.T) {
	a := &dataset{name: "a", bytes: 100, local: map[string]int64{"gpu-001": 60, "gpu-002": 30}}
	b := &dataset{name: "b", bytes: 100, local: map[string]int64{"gpu-002": 20}}
	j := job{arrivals.Job{Name: "j", GPUs: 4}, []*dataset{a, b}}
	m := newModel()
	for _, c := range []struct {
		taken string
		want  int64
		node  string
	}{{"", 60, "gpu-001"}, {"gpu-001", 50, "gpu-002"}, {"gpu-002", 0, "gpu-000"}} {
		if c.taken != "" {
			m.Place(arrivals.Job{Name: c.taken, GPUs: 5}, c.taken)
		}
		if got, node := j.possible(m); got != c.want || node != c.node {
			t.Errorf("with %q taken %d on %s is possible, want %d on %s", c.taken, got, node, c.want, c.node)
		}
	}
}

func TestBoundsDecide(t *testing.T) {
	good := func() *report {
		return &report{
			Berth: &armResult{Local: 0.95, Taken: 0.80, Waited: []string{"a"}},
			Stock: &armResult{},
			Wakes: []wakeResult{{P99: 1}},
		}
	}
	for _, c := range []struct {
		name   string
		change func(*report)
		missed int
	}{
		{"all met", func(*report) {}, 0},
		{"locality", func(r *report) { r.Berth.Local = 0.949 }, 1},
		{"too empty", func(r *report) { r.Berth.Taken = 0.79 }, 1},
		{"withheld", func(r *report) { r.Berth.Withheld = []string{"c"} }, 1},
		{"woken late", func(r *report) { r.Wakes[0].P99 = 1.01 }, 1},
	} {
		r := good()
		c.change(r)
		r.judge()
		if len(r.Missed) != c.missed || r.OK != (c.missed == 0) {
			t.Errorf("%s: missed %q", c.name, r.Missed)
		}
	}
}
