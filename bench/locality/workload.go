package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"berth.dev/berth/testbed/bench/arrivals"
	"berth.dev/berth/testbed/tests/cluster"
	"berth.dev/berth/testbed/tests/cluster/fluid"
)

const (
	nodePrefix   = "gpu"
	nodeCount    = 64
	datasetCount = 12
	totalGPUs    = nodeCount * 8
	mostTaken    = 0.90 // jobs finish before more of the GPUs would be taken
	startTaken   = 0.86
	gib          = int64(1) << 30
)

var machine = cluster.A100SXM

func newModel() *arrivals.Model {
	var nodes []string
	for i := range nodeCount {
		nodes = append(nodes, nodeName(i))
	}
	return arrivals.NewModel(nodes, machine.GPUs)
}

func nodeName(i int) string { return fmt.Sprintf("%s-%03d", nodePrefix, i) }

// dataset is one with its bytes on nodes.
type dataset struct {
	name  string
	bytes int64
	local map[string]int64 // by node
}

// job is one that reads datasets.
type job struct {
	arrivals.Job
	data []*dataset
}

// workload is all that the seed decides.
type workload struct {
	datasets []*dataset
	before   []arrivals.Job // run from the start
	jobs     []job          // arrive in this order
}

// patterns of jobs on a node that is in use.
var patterns = [][]int{{8}, {8}, {4, 4}, {4, 2, 2}, {4, 2, 1}, {4, 2, 1, 1}, {2, 2, 2, 1}, {2, 2, 1, 1, 1}}

// sizes of jobs by their share of them: 40 of 150 with one GPU, and so on.
var sizes = []struct{ gpus, share int }{{1, 40}, {2, 40}, {4, 40}, {8, 30}}

func makeWorkload(seed uint64, jobs int) *workload {
	random := rand.New(rand.NewPCG(seed, 0))
	w := &workload{}
	for i := range datasetCount {
		w.datasets = append(w.datasets, makeDataset(random, fmt.Sprintf("set-%02d", i)))
	}
	taken := 0
	for _, node := range random.Perm(nodeCount) {
		if float64(taken) >= startTaken*totalGPUs {
			break
		}
		for _, gpus := range patterns[random.IntN(len(patterns))] {
			name := fmt.Sprintf("before-%03d", len(w.before))
			w.before = append(w.before, arrivals.Job{Name: name, GPUs: gpus, Node: nodeName(node), Ends: random.Float64()})
			taken += gpus
		}
	}
	for i := range jobs {
		j := job{Job: arrivals.Job{Name: fmt.Sprintf("job-%03d", i), GPUs: pickSize(random)}}
		for _, set := range random.Perm(datasetCount)[:1+random.IntN(2)] {
			j.data = append(j.data, w.datasets[set])
		}
		// The later it arrives, the later it ends: about when a third of the jobs have come after it.
		j.Ends = 3*float64(i)/float64(jobs) + random.Float64()
		w.jobs = append(w.jobs, j)
	}
	return w
}

func pickSize(random *rand.Rand) int {
	total := 0
	for _, size := range sizes {
		total += size.share
	}
	at := random.IntN(total)
	for _, size := range sizes {
		if at -= size.share; at < 0 {
			return size.gpus
		}
	}
	return 1
}

// makeDataset spreads 0.9 to 1.3 copies of 100 GiB to 2 TiB unevenly over 3 to 6 nodes.
func makeDataset(random *rand.Rand, name string) *dataset {
	d := &dataset{name: name, bytes: int64(100*math.Pow(20, random.Float64())) * gib, local: map[string]int64{}}
	nodes := random.Perm(nodeCount)[:3+random.IntN(4)]
	weights := make([]float64, len(nodes))
	sum := 0.0
	for i := range nodes {
		weights[i] = 0.02 + math.Pow(random.Float64(), 2)
		sum += weights[i]
	}
	copies := 0.9 + 0.4*random.Float64()
	for i, node := range nodes {
		d.local[nodeName(node)] = int64(float64(d.bytes) * math.Min(1, copies*weights[i]/sum))
	}
	return d
}

// localBytes is what a node has of what a job reads.
func (j job) localBytes(node string) int64 {
	total := int64(0)
	for _, d := range j.data {
		total += d.local[node]
	}
	return total
}

// possible is the most that any node with enough free GPUs has of what a job reads, and that node.
func (j job) possible(m *arrivals.Model) (int64, string) {
	best, at := int64(-1), ""
	for i := range nodeCount {
		node := nodeName(i)
		if local := j.localBytes(node); m.Free(node) >= j.GPUs && local > best {
			best, at = local, node
		}
	}
	return max(best, 0), at
}

// Berth's defaults for the disk of a node, for other nodes, which are all in one zone, and for the storage behind the
// cache, in bytes a second.
const (
	localBandwidth  = 4 * float64(gib)
	zoneBandwidth   = 1 * float64(gib)
	remoteBandwidth = 0.25 * float64(gib)
)

// loadingSeconds is how long a job reads its data once, on a node.
func (j job) loadingSeconds(node string) float64 {
	total := 0.0
	for _, d := range j.data {
		cached := 0.0
		for _, bytes := range d.local {
			cached += float64(bytes)
		}
		local := float64(d.local[node])
		near := min(cached-local, float64(d.bytes)-local)
		total += local/localBandwidth + near/zoneBandwidth + (float64(d.bytes)-local-near)/remoteBandwidth
	}
	return total
}

type masters []*fluid.Master

func (m masters) Close() {
	for _, master := range m {
		master.Close()
	}
}

// createDatasets makes them as Fluid does, each with an Alluxio master that knows what its workers hold.
func (w *workload) createDatasets(ctx context.Context, c *cluster.Cluster) (masters, error) {
	var all masters
	for _, d := range w.datasets {
		master := fluid.NewMaster()
		all = append(all, master)
		spec := fluid.Spec{Name: d.name, Bytes: d.bytes, Shared: true, Master: master.Address()}
		for i := range nodeCount {
			node := nodeName(i)
			if bytes, found := d.local[node]; found {
				master.SetUsed(cluster.HostIP(node), bytes)
				spec.Workers = append(spec.Workers, node)
			}
		}
		if _, err := fluid.Create(ctx, c, spec); err != nil {
			return all, err
		}
	}
	return all, nil
}

// waitMeasured waits until Berth knows of every dataset how much each node has.
func (w *workload) waitMeasured(ctx context.Context, berth *cluster.Berth) error {
	for _, d := range w.datasets {
		what := fmt.Sprintf("%d nodes are measured", len(d.local))
		err := berth.WaitDataset(ctx, cluster.Namespace+"/"+d.name, what, func(v cluster.DatasetView) bool {
			measured := 0
			for _, known := range v.Nodes {
				if known.Source == "measured" {
					measured++
				}
			}
			return measured == len(d.local)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
