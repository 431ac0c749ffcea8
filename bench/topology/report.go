package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// leastBottleneck is the bound of docs/benchmarks.md for Berth with Bind: the mean, over jobs with several GPUs, of the
// bandwidth of their slowest pair over the best that their machine offers.
const leastBottleneck = 0.95

// report is everything measured.
type report struct {
	Kubernetes string           `json:"kubernetes"`
	Options    options          `json:"options"`
	Devices    []*devicesResult `json:"devices"` // by choices
	Gangs      []*gangResult    `json:"gangs"`   // Berth, stock
	Missed     []string         `json:"missed"`
	OK         bool             `json:"ok"`
}

// Met says whether every bound is.
func (r *report) Met() bool { return r.OK }

// judge compares with the bounds.
func (r *report) judge() {
	miss := func(format string, args ...any) { r.Missed = append(r.Missed, fmt.Sprintf(format, args...)) }
	for i, d := range r.Devices {
		if len(d.Withheld) > 0 && choices[i].berth {
			miss("%s: %q waited while a node had enough free GPUs", d.Title, d.Withheld)
		}
		for _, text := range d.Doubled {
			miss("%s: %s", d.Title, text)
		}
		// With an agent Berth knows as much as with Bind, and may do as well.
		if i > 0 && !choices[i].agent && d.Bottleneck >= r.Devices[0].Bottleneck {
			miss("mean bottleneck %.3f with %s, not below %.3f with %s", d.Bottleneck, d.Title, r.Devices[0].Bottleneck, r.Devices[0].Title)
		}
	}
	if len(r.Devices) > 0 && r.Devices[0].Bottleneck < leastBottleneck {
		miss("mean bottleneck %.3f with %s, must be at least %.2f", r.Devices[0].Bottleneck, r.Devices[0].Title, leastBottleneck)
	}
	if len(r.Gangs) == 2 && r.Gangs[0].oneRack() <= r.Gangs[1].oneRack() {
		miss("%.1f %% of the gangs inside one rack with Berth, not above %.1f %% of the stock scheduler",
			100*r.Gangs[0].oneRack(), 100*r.Gangs[1].oneRack())
	}
	r.OK = len(r.Missed) == 0
}

func (g *gangResult) oneRack() float64 { return share(g.AnyRack, g.Gangs) }

func share(part, all int) float64 {
	if all == 0 {
		return 0
	}
	return float64(part) / float64(all)
}

// WriteTable prints the figures.
func (r *report) WriteTable(w io.Writer) {
	fmt.Fprintf(w, "kube-scheduler %s, seeds %v\n", r.Kubernetes, r.Options.Seeds)
	if len(r.Devices) > 0 {
		fmt.Fprintf(w, "\n%d nodes of 8 GPUs, a quarter of each kind, %d jobs of 1 to 8 GPUs a seed, demand at %.0f %%\n\n",
			len(kinds)*r.Options.Nodes, r.Options.Jobs, 100*mostTaken)
		table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
		fmt.Fprintln(table, "node, devices\tjobs with several GPUs\tinside one island\twhere the machine has one so large\tmean bottleneck over the best\ttaken at the median\twaited for GPUs\t")
		for _, d := range r.Devices {
			fmt.Fprintf(table, "%s\t%d\t%.1f %%\t%.1f %%\t%.3f\t%.1f %%\t%d\t\n", d.Title, len(d.Placements), 100*d.Islands, 100*d.Kept, d.Bottleneck, 100*d.Taken, d.Waited)
		}
		table.Flush()
		r.writeBySize(w)
	}
	if len(r.Gangs) > 0 {
		fmt.Fprintf(w, "\n%d nodes of 8 GPUs in %d racks, %d gangs of %d whole nodes among other jobs a seed, demand at %.0f %%\n\n",
			racks*nodesPerRack, racks, r.Options.Gangs, gangSize, 100*gangTaken)
		table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
		fmt.Fprintln(table, "scheduler\tgangs\tinside one rack\twhere one had room\tracks a gang\tpods that waited\t")
		for _, g := range r.Gangs {
			fmt.Fprintf(table, "%s\t%d\t%.1f %%\t%d of %d\t%.2f\t%d\t\n", g.Title, g.Gangs, 100*g.oneRack(), g.Together, g.Possible, g.MeanRacks, g.Waited)
		}
		table.Flush()
	}
	fmt.Fprintln(w)
	for _, text := range r.Missed {
		fmt.Fprintln(w, "MISSED:", text)
	}
}

// writeBySize prints the mean bottleneck by number of GPUs and by kind of machine, with how many jobs it is of.
func (r *report) writeBySize(w io.Writer) {
	fmt.Fprintln(w, "\nmean bottleneck over the best, with the number of jobs")
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprint(table, "node, devices\t")
	var columns []func(placement) bool
	for gpus := 2; gpus <= gpusPerNode; gpus++ {
		fmt.Fprintf(table, "%d GPUs\t", gpus)
		columns = append(columns, func(p placement) bool { return len(p.GPUs) == gpus })
	}
	for _, k := range kinds {
		fmt.Fprintf(table, "%s\t", k.name)
		columns = append(columns, func(p placement) bool { return kindOf(p.Node) == k })
	}
	fmt.Fprintln(table)
	for _, d := range r.Devices {
		fmt.Fprintf(table, "%s\t", d.Title)
		for _, in := range columns {
			sum, n := 0.0, 0
			for _, p := range d.Placements {
				if in(p) {
					sum, n = sum+p.Bottleneck, n+1
				}
			}
			fmt.Fprintf(table, "%.2f (%d)\t", sum/float64(max(n, 1)), n)
		}
		fmt.Fprintln(table)
	}
	table.Flush()
}
