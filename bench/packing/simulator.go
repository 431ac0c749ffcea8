package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

var workloads = []string{"default", "gpushare40", "multigpu20", "gpuspec10", "cpu050"}

// published names, by ours.
var publishedNames = map[string]string{
	"random": "01-Random", "dotprod": "02-DotProd", "clustering": "03-GpuClustering", "packing": "04-GpuPacking",
	"bestfit": "05-BestFit", "fgd": "06-FGD",
}
var publishedPolicies = []string{"random", "dotprod", "clustering", "packing", "bestfit", "fgd"}

// replays is what `berth simulate --format json` prints of a policy, as far as it is used here.
type replays struct {
	Policy  string `json:"policy"`
	Cluster struct {
		EmptyFragmentation float64 `json:"empty_fragmentation_milli"`
	} `json:"cluster"`
	Runs []struct {
		Islands map[string]struct{ Tasks, Inside int } `json:"islands"`
	} `json:"runs"`
	Mean struct {
		Allocation map[string]float64            `json:"allocation"`
		Failures   map[string]map[string]float64 `json:"failures"`
	} `json:"mean"`
	SD struct {
		Allocation map[string]float64 `json:"allocation"`
	} `json:"sd"`
}

type departures struct {
	Policies []struct {
		Policy string `json:"policy"`
		Mean   struct {
			Wait map[string]float64 `json:"mean_wait_seconds"`
		} `json:"mean"`
	} `json:"policies"`
	Differences []difference `json:"differences"`
}

type difference struct {
	Policy   string     `json:"policy"`
	Against  string     `json:"against"`
	Size     string     `json:"size"`
	Seconds  float64    `json:"seconds"`
	Interval [2]float64 `json:"interval"`
}

// spread is a published figure.
type spread struct{ Mean, SD float64 }

// readPublished reads means and standard deviations by workload, policy and per cent of demand arrived.
func readPublished(path string) (map[string]map[string]map[string]spread, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	found := map[string]map[string]map[string]spread{}
	for _, row := range rows[1:] {
		workload, policy, metric := strings.TrimPrefix(row[0], "openb_pod_list_"), row[1], row[3]
		for column := 4; column < len(row); column++ {
			value, err := strconv.ParseFloat(row[column], 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			percent := strings.TrimPrefix(rows[0][column], "arrived_")
			if found[workload] == nil {
				found[workload] = map[string]map[string]spread{}
			}
			if found[workload][policy] == nil {
				found[workload][policy] = map[string]spread{}
			}
			figure := found[workload][policy][percent]
			if metric == "alloc_sd" {
				figure.SD = value
			} else {
				figure.Mean = value
			}
			found[workload][policy][percent] = figure
		}
	}
	return found, nil
}

// Through HTTP a run takes a minute.
const httpSeeds = "1..3"

type simulator struct {
	ctx     context.Context
	binary  string
	options *options
}

// run gives the processor time that it took.
func (s *simulator) run(into any, workload string, args ...string) (time.Duration, error) {
	args = append([]string{"simulate", "--nodes", s.options.file("nodes"), "--tasks", s.options.file(workload), "--format", "json"}, args...)
	command := exec.CommandContext(s.ctx, s.binary, args...)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return 0, fmt.Errorf("berth %s: %w", strings.Join(args, " "), err)
	}
	return command.ProcessState.UserTime() + command.ProcessState.SystemTime(), json.Unmarshal(out, into)
}

// replay runs several policies on a workload.
func (s *simulator) replay(workload string, policies []string, args ...string) (map[string]replays, error) {
	var told struct {
		replays
		Policies []replays `json:"policies"`
	}
	args = append([]string{"--seeds", s.options.Seeds, "--policy", strings.Join(policies, ",")}, args...)
	if _, err := s.run(&told, workload, args...); err != nil {
		return nil, err
	}
	found := map[string]replays{told.Policy: told.replays}
	for _, one := range told.Policies {
		found[one.Policy] = one
	}
	return found, nil
}

func (s *simulator) measure(part string, r *report) error {
	switch part {
	case "time":
		var told replays
		took, err := s.run(&told, "default", "--seeds", "1", "--jobs", "1")
		r.judgeTime(took)
		return err
	case "islands":
		told, err := s.replay("multigpu20", []string{"fgd", "berth"}, "--islands")
		if err == nil {
			r.judgeIslands(told["fgd"], told["berth"])
		}
		return err
	case "http":
		var fgd, berth replays
		if _, err := s.run(&fgd, "default", "--seeds", httpSeeds, "--policy", "fgd"); err != nil {
			return err
		}
		_, err := s.run(&berth, "default", "--seeds", httpSeeds, "--through-http")
		if err == nil {
			r.judgeBerth("default", "berth through HTTP", fgd, berth)
		}
		return err
	case "departures":
		var told departures
		_, err := s.run(&told, "default", "--seeds", s.options.Seeds, "--policy", "bestfit,fgd,berth", "--departures")
		if err == nil {
			r.judgeDepartures(&told)
		}
		return err
	}
	for _, workload := range workloads {
		var err error
		var told map[string]replays
		switch part {
		case "published":
			if told, err = s.replay(workload, publishedPolicies); err == nil {
				r.judgePublished(workload, told)
			}
		case "berth":
			if told, err = s.replay(workload, []string{"fgd", "berth"}); err == nil {
				r.judgeBerth(workload, "berth", told["fgd"], told["berth"])
			}
		case "learned":
			if told, err = s.replay(workload, []string{"berth"}, "--mix-from", "0.2"); err == nil {
				r.judgeLearned(workload, told["berth"])
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
