package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"text/tabwriter"
)

// report is everything measured.
type report struct {
	Kubernetes string        `json:"kubernetes"`
	CPUs       int           `json:"cpus"`
	Pods       int           `json:"pods"`
	Clients    int           `json:"clients"`
	Sizes      []*sizeResult `json:"sizes"`
	OK         bool          `json:"ok"`
}

// sizeResult is all rounds with one number of nodes.
type sizeResult struct {
	Nodes int          `json:"nodes"`
	Arms  []*armResult `json:"arms"`
	// Berth over the unbatched scheduler without extender: per round, and the median of these.
	Ratios      []float64 `json:"ratios"`
	MedianRatio float64   `json:"median_ratio"`
}

type armResult struct {
	Name   string        `json:"name"`
	Median measurement   `json:"median"`
	Rounds []measurement `json:"rounds"`
}

func newReport(version string, o options) *report {
	return &report{Kubernetes: version, CPUs: runtime.NumCPU(), Pods: o.pods, Clients: o.clients}
}

func (r *report) addSize(nodes int) *sizeResult {
	size := &sizeResult{Nodes: nodes}
	for _, a := range arms {
		size.Arms = append(size.Arms, &armResult{Name: a.name})
	}
	r.Sizes = append(r.Sizes, size)
	return size
}

func (s *sizeResult) add(arm int, m measurement) { s.Arms[arm].Rounds = append(s.Arms[arm].Rounds, m) }

// finish works out medians and ratios. A number of nodes without a round, for want of time, is not OK.
func (r *report) finish() {
	r.OK = true
	for _, size := range r.Sizes {
		for _, a := range size.Arms {
			a.Median = measurement{
				PodsPerSecond: median(a.Rounds, func(m measurement) float64 { return m.PodsPerSecond }),
				P50:           median(a.Rounds, func(m measurement) float64 { return m.P50 }),
				P99:           median(a.Rounds, func(m measurement) float64 { return m.P99 }),
				SchedulerCPU:  median(a.Rounds, func(m measurement) float64 { return m.SchedulerCPU }),
				BerthCPU:      median(a.Rounds, func(m measurement) float64 { return m.BerthCPU }),
			}
		}
		for i, m := range size.Arms[armBerth].Rounds {
			size.Ratios = append(size.Ratios, m.PodsPerSecond/size.Arms[armNone].Rounds[i].PodsPerSecond)
		}
		size.MedianRatio = median(size.Ratios, func(x float64) float64 { return x })
		r.OK = r.OK && size.MedianRatio >= 1
	}
}

// median of a value of the items; the mean of the middle two when their number is even, 0 when there are none.
func median[T any](items []T, value func(T) float64) float64 {
	if len(items) == 0 {
		return 0
	}
	values := make([]float64, len(items))
	for i, item := range items {
		values[i] = value(item)
	}
	slices.Sort(values)
	middle := len(values) / 2
	if len(values)%2 == 1 {
		return values[middle]
	}
	return (values[middle-1] + values[middle]) / 2
}

// Met says whether every bound is.
func (r *report) Met() bool { return r.OK }

// WriteTable prints the figures.
func (r *report) WriteTable(w io.Writer) {
	fmt.Fprintf(w, "kube-scheduler %s, %d CPUs, bursts of %d one-GPU pods from %d clients; medians over the rounds, CPU is a pod's\n\n",
		r.Kubernetes, r.CPUs, r.Pods, r.Clients)
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "nodes\trounds\tscheduler\tpods/s\tlowest\thighest\tpod P50\tpod P99\tscheduler CPU\tBerth CPU\t")
	for _, size := range r.Sizes {
		for i, a := range size.Arms {
			if len(a.Rounds) == 0 {
				fmt.Fprintf(table, "%d\t0\t%s\tno time left\t\n", size.Nodes, arms[i].title)
				continue
			}
			lowest, highest := a.Rounds[0].PodsPerSecond, a.Rounds[0].PodsPerSecond
			for _, m := range a.Rounds {
				lowest, highest = min(lowest, m.PodsPerSecond), max(highest, m.PodsPerSecond)
			}
			fmt.Fprintf(table, "%d\t%d\t%s\t%.1f\t%.1f\t%.1f\t%.2f s\t%.2f s\t%.1f ms\t%.1f ms\t\n", size.Nodes, len(a.Rounds), arms[i].title,
				a.Median.PodsPerSecond, lowest, highest, a.Median.P50, a.Median.P99,
				a.Median.SchedulerCPU, a.Median.BerthCPU)
		}
	}
	table.Flush()
	fmt.Fprintln(w)
	for _, size := range r.Sizes {
		verdict := "ok"
		if size.MedianRatio < 1 {
			verdict = "MISSED, must be at least 1.00"
		}
		fmt.Fprintf(w, "%d nodes: Berth over no extender, unbatched: %.2f (median of %d rounds: %.2f) %s\n",
			size.Nodes, size.MedianRatio, len(size.Ratios), size.Ratios, verdict)
	}
}
