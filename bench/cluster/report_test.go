package main

import "testing"

func TestQuantileIsNearestRank(t *testing.T) {
	values := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for _, c := range []struct{ q, want float64 }{{0.5, 5}, {0.99, 10}, {0.1, 1}, {0, 1}, {1, 10}} {
		if got := quantile(values, c.q); got != c.want {
			t.Errorf("quantile %v is %v, want %v", c.q, got, c.want)
		}
	}
}

func TestRatioIsTheMedianOfTheRounds(t *testing.T) {
	r := newReport("1.37.2", options{})
	size := r.addSize(1000)
	for _, pair := range [][2]float64{{100, 100}, {300, 100}, {90, 100}} {
		size.add(armBerth, measurement{PodsPerSecond: pair[0]})
		size.add(armNone, measurement{PodsPerSecond: pair[1]})
	}
	r.finish()
	if size.MedianRatio != 1 || !r.OK {
		t.Errorf("median ratio %v, ok %v; want 1 and true", size.MedianRatio, r.OK)
	}
	size.Ratios = nil
	size.add(armBerth, measurement{PodsPerSecond: 50})
	size.add(armNone, measurement{PodsPerSecond: 100})
	r.finish() // 0.5, 0.9, 1, 3
	if size.MedianRatio != 0.95 || r.OK {
		t.Errorf("median ratio %v, ok %v; want 0.95 and false", size.MedianRatio, r.OK)
	}
}
