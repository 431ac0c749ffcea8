package main

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"
)

// figure is one thing measured, beside what it must be.
type figure struct {
	What     string  `json:"what"`
	Measured float64 `json:"measured"`
	Bound    string  `json:"bound"`
	OK       bool    `json:"ok"`
	Beside   string  `json:"beside,omitempty"` // what else there is to know
}

type report struct {
	Seeds     string                                  `json:"seeds"`
	Skipped   string                                  `json:"skipped,omitempty"`
	Published map[string]map[string]map[string]spread `json:"-"`
	Figures   []figure                                `json:"figures"`
}

// Met says whether every bound is.
func (r *report) Met() bool {
	for _, f := range r.Figures {
		if !f.OK {
			return false
		}
	}
	return true
}

// WriteTable prints the figures.
func (r *report) WriteTable(w io.Writer) {
	if r.Skipped != "" {
		fmt.Fprintln(w, "skipped:", r.Skipped)
		return
	}
	fmt.Fprintf(w, "openb trace, seeds %s; allocation in per cent of the GPUs, at so many per cent of demand arrived\n\n", r.Seeds)
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "what\tmeasured\tmust be\t\tbeside")
	missed := 0
	for _, f := range r.Figures {
		verdict := "ok"
		if !f.OK {
			verdict = "MISSED"
			missed++
		}
		fmt.Fprintf(table, "%s\t%.2f\t%s\t%s\t%s\n", f.What, f.Measured, f.Bound, verdict, f.Beside)
	}
	table.Flush()
	fmt.Fprintf(w, "\n%d of %d bounds met\n", len(r.Figures)-missed, len(r.Figures))
}

func (r *report) add(what string, measured float64, ok bool, beside string, bound string, args ...any) {
	r.Figures = append(r.Figures, figure{what, measured, fmt.Sprintf(bound, args...), ok, beside})
}

func (r *report) atLeast(what string, measured, bound float64, beside string) {
	r.add(what, measured, measured >= bound, beside, ">= %.2f", bound)
}

func (r *report) atMost(what string, measured, bound float64, beside string) {
	r.add(what, measured, measured <= bound, beside, "<= %.2f", bound)
}

// What the authors of the trace measured must come out again: within three standard errors of the difference between two
// means of ten runs, and not asked for more closely than 0.2.
const (
	closestPublished   = 0.2
	errorsOfPublished  = 3
	runsOfPublished    = 10
	emptyFragmentation = 866_232.6 // thousandths of GPUs, by FGD's formulas, independently of Berth
	emptyTolerance     = 0.001
)

func (r *report) judgePublished(workload string, told map[string]replays) {
	if workload == "default" {
		empty := told["fgd"].Cluster.EmptyFragmentation
		r.add("empty cluster, fragmented milli", empty, math.Abs(empty/emptyFragmentation-1) <= emptyTolerance, "",
			"%.1f ± 0.1 %%", emptyFragmentation)
	}
	for _, policy := range publishedPolicies {
		of := r.Published[workload][publishedNames[policy]]["100"]
		within := max(closestPublished, errorsOfPublished*of.SD*math.Sqrt(2.0/runsOfPublished))
		mean := told[policy].Mean.Allocation["100"]
		r.add(fmt.Sprintf("%s, %s at 100 %%", workload, policy), mean, math.Abs(mean-of.Mean) <= within,
			fmt.Sprintf("sd %.2f, published %.2f", told[policy].SD.Allocation["100"], of.SD), "%.2f ± %.2f", of.Mean, within)
	}
}

// Above FGD as published.
const (
	gainOnDefault = 0.4
	gainElsewhere = 0.3
)

func (r *report) judgeBerth(workload, who string, fgd, berth replays) {
	published := r.Published[workload][publishedNames["fgd"]]
	gain := gainElsewhere
	if workload == "default" {
		gain = gainOnDefault
	}
	name := func(what string) string { return fmt.Sprintf("%s, %s %s", workload, who, what) }
	r.atLeast(name("at 100 %"), berth.Mean.Allocation["100"], published["100"].Mean+gain,
		fmt.Sprintf("sd %.2f; fgd here %.2f", berth.SD.Allocation["100"], fgd.Mean.Allocation["100"]))
	r.atLeast(name("at 95 %"), berth.Mean.Allocation["95"], max(published["95"].Mean, fgd.Mean.Allocation["95"]), "")
	failed := func(of replays, size string) float64 { return of.Mean.Failures["100"][size] }
	r.atMost(name("8-GPU tasks failed at 100 %"), failed(berth, "8"), failed(fgd, "8"),
		fmt.Sprintf("berth cpu %.1f, shared %.1f, 1: %.1f, 2: %.1f, 4: %.1f; fgd cpu %.1f, shared %.1f, 1: %.1f, 2: %.1f, 4: %.1f",
			failed(berth, "cpu"), failed(berth, "shared"), failed(berth, "1"), failed(berth, "2"), failed(berth, "4"),
			failed(fgd, "cpu"), failed(fgd, "shared"), failed(fgd, "1"), failed(fgd, "2"), failed(fgd, "4")))
}

func (r *report) judgeLearned(workload string, berth replays) {
	r.atLeast(workload+", berth, mix of the first fifth, at 100 %", berth.Mean.Allocation["100"],
		r.Published[workload][publishedNames["fgd"]]["100"].Mean, "fgd as published, knowing the list")
}

func (r *report) judgeIslands(fgd, berth replays) {
	inside := func(of replays) (tasks, inside float64) {
		for _, run := range of.Runs {
			at := run.Islands["100"]
			tasks += float64(at.Tasks) / float64(len(of.Runs))
			inside += float64(at.Inside) / float64(len(of.Runs))
		}
		return tasks, inside
	}
	_, theirs := inside(fgd)
	tasks, ours := inside(berth)
	r.atLeast("multigpu20, islands, berth: 2- and 4-GPU tasks inside one", ours, theirs, fmt.Sprintf("of %.1f placed", tasks))
	r.atLeast("multigpu20, islands, berth at 100 %", berth.Mean.Allocation["100"], fgd.Mean.Allocation["100"], "fgd with the same choice of devices")
}

const mostSeconds = 10

func (r *report) judgeTime(took time.Duration) {
	r.atMost("one run of berth, processor seconds", took.Seconds(), mostSeconds, "")
}

func (r *report) judgeDepartures(told *departures) {
	waits := map[string]float64{}
	for _, one := range told.Policies {
		waits[one.Policy] = one.Mean.Wait["8"]
	}
	r.atMost("departures, 8-GPU tasks wait under berth, s", waits["berth"], waits["bestfit"]/2,
		fmt.Sprintf("bestfit %.0f, fgd %.0f", waits["bestfit"], waits["fgd"]))
	for _, d := range told.Differences {
		if d.Size == "8" {
			r.add(fmt.Sprintf("departures, 8-GPU tasks wait, berth - %s, s", d.Against), d.Seconds, d.Interval[1] < 0,
				fmt.Sprintf("95 %% interval %.0f to %.0f", d.Interval[0], d.Interval[1]), "< 0, all of the interval")
		}
	}
}
