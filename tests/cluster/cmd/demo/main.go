// Command demo shows Berth at work: a real control plane with 16 fake GPU nodes, whose kube-scheduler asks Berth, and
// a few jobs. It prints where each landed and why, and stays up until Ctrl-C; with --once it ends after the report.
// scripts/cluster-demo builds what it needs and starts it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"berth.dev/berth/testbed/tests/cluster"
)

func main() {
	once := flag.Bool("once", false, "end after the report instead of staying up until Ctrl-C")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *once); err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return
		}
		fmt.Fprintln(os.Stderr, "cluster-demo:", err)
		os.Exit(1)
	}
}

func progress(what string) { fmt.Printf("starting %s\n", what) }

// place is which nodes hold a dataset.
type place struct {
	dataset string
	nodes   []string
}

// The nodes that hold each dataset at the start.
var placement = []place{
	{"corpus", []string{"h100-000", "h100-001"}},
	{"imagenet", []string{"a100-002", "a100-003"}},
	{"librispeech", []string{"v100-001"}},
}

// The jobs, in the order in which they come.
var jobs = []cluster.PodSpec{
	{Name: "pretrain-llm", GPUs: 8, Datasets: []string{"corpus"}},
	{Name: "finetune-llm", GPUs: 4, Datasets: []string{"corpus"}},
	{Name: "train-resnet", GPUs: 2, Datasets: []string{"imagenet"}},
	{Name: "train-vit", GPUs: 4, Datasets: []string{"imagenet"}},
	{Name: "train-asr", GPUs: 2, Datasets: []string{"librispeech"}},
	{Name: "align-llm", GPUs: 8, Datasets: []string{"corpus"}}, // both nodes with its data are in use by now
	{Name: "nvlink-only", GPUs: 4, Annotations: map[string]string{"berth.io/topology-policy": "restricted"}},
	{Name: "big-memory", GPUs: 1, Annotations: map[string]string{"berth.io/min-gpu-memory": "60Gi"}},
	{Name: "notebook", GPUs: 1},
	{Name: "dashboard"},
	{Name: "secret-data", GPUs: 1, Datasets: []string{"librispeech", "imagenet"},
		Annotations: map[string]string{"berth.io/dataset-policy": "required"}},
}

func run(ctx context.Context, once bool) (err error) {
	if _, err := cluster.BerthBinary(); err != nil {
		return err
	}
	c, err := cluster.Start(ctx, cluster.Options{Progress: progress})
	if err != nil {
		return err
	}
	defer func() {
		failed := err != nil && ctx.Err() == nil
		if failed {
			fmt.Fprintln(os.Stderr, "logs are kept in", c.Dir)
		}
		_ = c.Stop(failed)
	}()
	if err := createCluster(ctx, c); err != nil {
		return err
	}
	progress("Berth")
	berth, err := cluster.StartBerth(ctx, cluster.BerthOptions{Kubeconfig: c.Kubeconfig, Dir: c.Dir})
	if err != nil {
		return err
	}
	defer berth.Stop(cluster.Deadline)
	progress("kube-scheduler, which asks Berth")
	if err := c.StartScheduler(ctx, cluster.SchedulerSettings{ExtenderURL: berth.URL()}); err != nil {
		return err
	}
	fmt.Printf("submitting %d jobs\n\n", len(jobs))
	rows, err := submit(ctx, c, berth)
	if err != nil {
		return err
	}
	writeReport(os.Stdout, rows)
	if once {
		return nil
	}
	binary, err := cluster.BerthBinary()
	if err != nil {
		return err
	}
	fmt.Printf(`
Ask Berth about a pod:       %s explain default/%s --server http://%s
Look at or add to the cluster (pods need schedulerName: %s):
                             kubectl --kubeconfig %s get pods -o wide
Berth's log:                 %s
Ctrl-C ends everything.
`, binary, jobs[0].Name, berth.Admin, cluster.SchedulerName, c.Kubeconfig, berth.LogPath)
	select {
	case <-ctx.Done():
		fmt.Println("\nstopping")
		return nil
	case <-berth.Exited():
		return fmt.Errorf("berth ended by itself: %s\n%s", berth.State(), berth.Log(15))
	}
}

func createCluster(ctx context.Context, c *cluster.Cluster) error {
	nodes := slices.Concat(cluster.H100SXM.Nodes("h100", 4), cluster.A100SXM.Nodes("a100", 4),
		cluster.V100DGX1.Nodes("v100", 4), cluster.A100PCIe.Nodes("pcie", 4))
	if err := c.CreateNodes(ctx, nodes...); err != nil {
		return err
	}
	fmt.Println("created 16 nodes: 4 of 8 H100 (h100-*), 4 of 8 A100 (a100-*), 4 of 8 V100 (v100-*), 4 of 4 A100 PCIe (pcie-*)")
	for _, p := range placement {
		if err := c.CacheDataset(ctx, p.dataset, true, p.nodes...); err != nil {
			return err
		}
		fmt.Printf("cached dataset %s on %v\n", p.dataset, p.nodes)
	}
	return nil
}
