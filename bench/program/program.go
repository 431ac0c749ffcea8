// Package program is what the programs of bench/ share: their options, exit codes and control plane.
package program

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"berth.dev/berth/testbed/tests/cluster"
)

// Report is what a bench has measured. It is printed as a table or, with its exported fields, as JSON.
type Report interface {
	WriteTable(io.Writer)
	Met() bool // all bounds
}

// Main reads the options, which define adds to --format and checks afterwards, measures, prints, and ends the program: with
// 2 for wrong options, and 1 if something failed or a bound is missed.
func Main[R Report](name string, define func(*flag.FlagSet) (check func() error), measure func(context.Context) (R, error)) {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	format := flags.String("format", "table", "table or json")
	check := define(flags)
	err := flags.Parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(0)
	}
	if err == nil && *format != "table" && *format != "json" {
		err = fmt.Errorf("--format %s: want table or json", *format)
	}
	if err == nil {
		err = check()
	}
	if err != nil {
		fail(name, err, 2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	report, err := measure(ctx)
	if err != nil {
		fail(name, err, 1)
	}
	if *format == "json" {
		encoder := json.NewEncoder(os.Stdout)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(report)
	} else {
		report.WriteTable(os.Stdout)
	}
	if err != nil || !report.Met() {
		os.Exit(1)
	}
}

func fail(name string, err error, code int) {
	fmt.Fprintf(os.Stderr, "bench/%s: %v\n", name, err)
	os.Exit(code)
}

// Progress says on standard error how far a bench is.
func Progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// OnCluster measures on a control plane of its own, in which nothing but kube-scheduler acts on pods. Its logs are kept
// when measure fails.
func OnCluster[R any](ctx context.Context, measure func(context.Context, *cluster.Cluster) (R, error)) (result R, err error) {
	if _, err := cluster.BerthBinary(); err != nil {
		return result, err
	}
	c, err := cluster.Start(ctx, cluster.Options{
		WithoutKubelets: true, WithoutController: true,
		Progress: func(what string) { Progress("starting %s", what) },
	})
	if err != nil {
		return result, err
	}
	defer func() {
		_ = c.Stop(err != nil)
		if err != nil {
			Progress("logs are kept in %s", c.Dir)
		}
	}()
	return measure(ctx, c)
}
