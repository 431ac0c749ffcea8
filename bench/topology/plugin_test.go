package main

import (
	"reflect"
	"testing"
)

// Scores worked out by hand from the weights of plugin.go.
func TestDevicePluginHandsOut(t *testing.T) {
	for _, c := range []struct {
		name  string
		kind  *kind
		free  set
		count int
		want  []int
	}{
		{"a single GPU: the first", dgx1(), setOf(3, 5, 7), 1, []int{3}},
		// On double links only: 0-3, 1-2, 4-7, 5-6 at 220 each, or 0-4, 1-5 at 210 and 2-3, 6-7 behind one switch at 250.
		{"pairs of an empty DGX-1", dgx1(), allGPUs, 2, []int{2, 3}},
		// Both boards whole: nine links and six ways over PCIe each.
		{"four of an empty DGX-1", dgx1(), allGPUs, 4, []int{0, 1, 2, 3}},
		// 0-4 has a double link, 210; 1-2 220; together more than any other division.
		{"not greedy but fair", dgx1(), setOf(0, 1, 2, 4), 2, []int{1, 2}},
		// 0-3 (220) leaves 2-4 (10): 230. 0-4 (210) leaves 2-3 (220): 430.
		{"the best pair that leaves a good one", dgx1(), setOf(0, 2, 3, 4), 2, []int{2, 3}},
		// Pairs (0,2)(1,3)(4,5)(6,7) score 1,210 each.
		{"a bridged pair", bridged(), setOf(1, 2, 3, 4), 2, []int{1, 3}},
		{"four on two bridges", bridged(), allGPUs, 4, []int{0, 1, 2, 3}},
		// Three of five: the other two fill up with one of padding. A bridge in each set: 1,230 and 1,210.
		{"three with padding", bridged(), setOf(0, 2, 4, 5, 6), 3, []int{0, 2, 6}},
		// NVSwitch hides its links: 20 within a socket is what counts.
		{"two on NVSwitch", hgx(), setOf(0, 4, 5), 2, []int{4, 5}},
		{"four on NVSwitch", hgx(), setOf(0, 1, 4, 5, 6, 7), 4, []int{4, 5, 6, 7}},
		{"a quad behind one switch", pcie(), setOf(1, 4, 5, 6, 7), 4, []int{4, 5, 6, 7}},
		{"more than are free", pcie(), setOf(1, 4), 3, []int{}},
	} {
		if got := c.kind.handedOut(c.free, c.count).gpus(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestBottleneckOverTheBest(t *testing.T) {
	for _, c := range []struct {
		kind       *kind
		gpus       set
		bottleneck int
		best       int
		island     bool
	}{
		{dgx1(), setOf(0, 3), 50, 50, true},
		{dgx1(), setOf(0, 1), 25, 50, true},
		{dgx1(), setOf(0, 5), 8, 50, false},
		{dgx1(), setOf(0, 1, 2, 3), 25, 25, true},
		{dgx1(), setOf(0, 3, 4, 7), 8, 25, true}, // a ring but for 0-7 and 3-4
		{dgx1(), setOf(0, 1, 2, 3, 4), 8, 8, true},
		{hgx(), setOf(0, 3, 5), 450, 450, true},
		{bridged(), setOf(4, 5), 300, 300, true},
		{bridged(), setOf(5, 6), 8, 300, false},
		{bridged(), setOf(0, 2, 4, 5), 8, 8, false},
		{pcie(), setOf(0, 1, 2), 20, 20, true},
		{pcie(), setOf(3, 4), 8, 20, false},
		{pcie(), setOf(0, 1, 2, 3, 4), 8, 8, false},
	} {
		if got := c.kind.bottleneck(c.gpus); got != c.bottleneck {
			t.Errorf("%s %v: bottleneck %d, want %d", c.kind.name, c.gpus.gpus(), got, c.bottleneck)
		}
		if got := c.kind.best(c.gpus.count()); got != c.best {
			t.Errorf("%s: the best of %d is %d, want %d", c.kind.name, c.gpus.count(), got, c.best)
		}
		if got := c.kind.island(c.gpus); got != c.island {
			t.Errorf("%s %v: one island is %v, want %v", c.kind.name, c.gpus.gpus(), got, c.island)
		}
	}
}
