package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// Bounds of docs/benchmarks.md.
const (
	leastLocal  = 0.95 // local bytes over possible ones, with Berth
	leastTaken  = 0.80 // GPUs taken at the median decision
	longestWake = 1.0  // seconds, P99
)

// report is everything measured.
type report struct {
	Kubernetes string       `json:"kubernetes"`
	Seed       uint64       `json:"seed"`
	Jobs       int          `json:"jobs"`
	Berth      *armResult   `json:"berth"`
	Stock      *armResult   `json:"stock"`
	Wakes      []wakeResult `json:"wakes"`
	Missed     []string     `json:"missed"`
	OK         bool         `json:"ok"`
}

// judge compares with the bounds.
func (r *report) judge() {
	miss := func(format string, args ...any) { r.Missed = append(r.Missed, fmt.Sprintf(format, args...)) }
	if r.Berth.Local < leastLocal {
		miss("%.1f %% of the bytes that could be local are local with Berth, must be at least %.0f %%",
			100*r.Berth.Local, 100*leastLocal)
	}
	if r.Berth.Taken < leastTaken {
		miss("%.1f %% of the GPUs are taken at the median decision, must be at least %.0f %%", 100*r.Berth.Taken, 100*leastTaken)
	}
	if len(r.Berth.Withheld) > 0 {
		miss("%q waited with Berth while a node had enough free GPUs", r.Berth.Withheld)
	}
	for _, wake := range r.Wakes {
		if wake.P99 > longestWake {
			miss("woken by %s: P99 %.2f s, must be at most %.0f s", wake.What, wake.P99, longestWake)
		}
	}
	r.OK = len(r.Missed) == 0
}

// Met says whether every bound is.
func (r *report) Met() bool { return r.OK }

// WriteTable prints the figures.
func (r *report) WriteTable(w io.Writer) {
	fmt.Fprintf(w, "kube-scheduler %s, %d nodes of %d GPUs, %d datasets, %d jobs, seed %d\n\n",
		r.Kubernetes, nodeCount, machine.GPUs, datasetCount, r.Jobs, r.Seed)
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "scheduler\tlocal of possible bytes\tGPUs taken at the median decision\tjobs with data in reach\twaited for GPUs\twaited with a place free\tmean loading time\t")
	for _, row := range []struct {
		title string
		arm   *armResult
	}{{"Berth", r.Berth}, {"stock", r.Stock}} {
		fmt.Fprintf(table, "%s\t%.1f %%\t%.1f %%\t%d\t%d\t%d\t%.0f s\t\n", row.title, 100*row.arm.Local, 100*row.arm.Taken,
			row.arm.InReach, len(row.arm.Waited), len(row.arm.Withheld), row.arm.Loading)
	}
	table.Flush()
	fmt.Fprintln(w)
	for _, wake := range r.Wakes {
		fmt.Fprintf(w, "woken by %s, %d times: P50 %.3f s, P99 %.3f s\n", wake.What, len(wake.Seconds), wake.P50, wake.P99)
	}
	r.writeLosses(w)
	for _, text := range r.Missed {
		fmt.Fprintln(w, "MISSED:", text)
	}
}

// writeLosses names the decisions with Berth that left most bytes behind.
func (r *report) writeLosses(w io.Writer) {
	losses := slices.DeleteFunc(slices.Clone(r.Berth.Decisions), func(d decision) bool { return d.Local >= d.Possible })
	slices.SortFunc(losses, func(a, b decision) int { return int((b.Possible - b.Local - a.Possible + a.Local) / gib) })
	if len(losses) > 0 {
		fmt.Fprintf(w, "\n%d of %d jobs with Berth got another node than the one with most of their bytes:\n",
			len(losses), len(r.Berth.Decisions))
	}
	for _, d := range losses[:min(5, len(losses))] {
		fmt.Fprintf(w, "  %s, %d GPUs: %d GiB on %s, %d GiB on %s\n", d.Job, d.GPUs, d.Local/gib, d.Node, d.Possible/gib, d.Best)
		fmt.Fprintf(w, "    %s\n", d.Why)
	}
}
