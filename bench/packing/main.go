// Command packing replays the openb trace with `berth simulate` and compares what Berth's policy allocates with what is
// published of others.
//
//	go run ./bench/packing [--trace DIR] [--seeds 1..10] [--only NAME,...] [--format table|json]
//
// The trace is the directory that BERTH_OPENB names, or shared/data/openb beside the repository: the node list and five
// task lists of the openb trace, and published_summary.csv with what its authors measured. The exit code is 1 when a bound
// of report.go is missed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"berth.dev/berth/testbed/bench/program"
	"berth.dev/berth/testbed/tests/cluster"
)

// What is measured, each on its own.
var parts = []string{"published", "berth", "learned", "islands", "time", "departures", "http"}

type options struct {
	Trace string `json:"-"`
	Seeds string `json:"seeds"`
	Only  []string
	quiet bool // no trace is no failure
}

func main() {
	var o options
	program.Main("packing", o.define, o.measure)
}

func (o *options) define(flags *flag.FlagSet) func() error {
	flags.StringVar(&o.Trace, "trace", defaultTrace(), "directory of the openb trace")
	flags.StringVar(&o.Seeds, "seeds", "1..10", "one run each")
	only := flags.String("only", strings.Join(parts, ","), "what to measure")
	flags.BoolVar(&o.quiet, "skip-without-trace", false, "measure nothing, and succeed, if the trace is not there")
	return func() error {
		o.Only = strings.Split(*only, ",")
		for _, part := range o.Only {
			if !slices.Contains(parts, part) {
				return fmt.Errorf("--only %s: there are %s", part, strings.Join(parts, ", "))
			}
		}
		return nil
	}
}

func defaultTrace() string {
	if named := os.Getenv("BERTH_OPENB"); named != "" {
		return named
	}
	here, err := os.Getwd()
	if err != nil {
		return ""
	}
	return filepath.Join(filepath.Dir(here), "shared", "data", "openb")
}

func (o *options) measure(ctx context.Context) (*report, error) {
	r := &report{Seeds: o.Seeds}
	if _, err := os.Stat(o.file("nodes")); errors.Is(err, os.ErrNotExist) {
		if o.quiet {
			r.Skipped = fmt.Sprintf("there is no openb trace in %s", o.Trace)
			return r, nil
		}
		return nil, fmt.Errorf("there is no openb trace in %s: name its directory with --trace", o.Trace)
	}
	berth, err := cluster.BerthBinary()
	if err != nil {
		return nil, err
	}
	s := &simulator{ctx: ctx, binary: berth, options: o}
	r.Published, err = readPublished(filepath.Join(o.Trace, "published_summary.csv"))
	if err != nil {
		return nil, err
	}
	for _, part := range o.Only {
		program.Progress("%s", part)
		if err := s.measure(part, r); err != nil {
			return nil, fmt.Errorf("%s: %w", part, err)
		}
	}
	return r, nil
}

// file is where a list of the trace is: "nodes", or a workload.
func (o *options) file(list string) string {
	name := "openb_pod_list_" + list + ".csv"
	if list == "nodes" {
		name = "openb_node_list_gpu_node.csv"
	}
	return filepath.Join(o.Trace, name)
}
