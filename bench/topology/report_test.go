package main

import (
	"reflect"
	"testing"
)

func TestWorkloadsFollowFromTheSeed(t *testing.T) {
	jobs := makeJobs(1, 300)
	if !reflect.DeepEqual(jobs, makeJobs(1, 300)) || reflect.DeepEqual(jobs, makeJobs(2, 300)) {
		t.Error("jobs do not follow from the seed")
	}
	seen := map[int]bool{}
	for _, j := range jobs {
		seen[j.GPUs] = true
	}
	if len(seen) != gpusPerNode {
		t.Errorf("jobs ask for %v GPUs, want every number from 1 to 8", seen)
	}
	gangs := 0
	for _, group := range makeGroups(1, 40) {
		if len(group) == gangSize {
			gangs++
		}
	}
	if gangs != 40 {
		t.Errorf("%d gangs, want 40", gangs)
	}
}

func TestBoundsDecide(t *testing.T) {
	good := func() *report {
		return &report{
			Devices: []*devicesResult{
				{Bottleneck: 0.95}, {Bottleneck: 0.94}, {Bottleneck: 0.95}, {Bottleneck: 0.6},
			},
			Gangs: []*gangResult{{Gangs: 40, AnyRack: 30}, {Gangs: 40, AnyRack: 29}},
		}
	}
	for _, c := range []struct {
		name   string
		change func(*report)
		missed int
	}{
		{"all met", func(*report) {}, 0},
		{"only devices", func(r *report) { r.Gangs = nil }, 0},
		{"below the bound", func(r *report) { r.Devices[0].Bottleneck = 0.949 }, 1},
		{"no better than without Bind", func(r *report) { r.Devices[1].Bottleneck = 0.95 }, 1},
		{"no better than stock", func(r *report) { r.Devices[3].Bottleneck = 0.95 }, 1},
		{"a GPU given twice", func(r *report) { r.Devices[0].Doubled = []string{"job-1"} }, 1},
		{"withheld by Berth", func(r *report) { r.Devices[1].Withheld = []string{"job-1"} }, 1},
		{"gangs no better", func(r *report) { r.Gangs[0].AnyRack = 29 }, 1},
	} {
		r := good()
		c.change(r)
		r.judge()
		if len(r.Missed) != c.missed || r.Met() != (c.missed == 0) {
			t.Errorf("%s: missed %q", c.name, r.Missed)
		}
	}
}
