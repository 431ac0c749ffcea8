package e2e

import (
	"testing"

	"berth.dev/berth/testbed/tests/cluster"
	"berth.dev/berth/testbed/tests/cluster/fluid"
)

// Each is a state that users of Fluid report, named by the project and number of their issue.
func TestStatesThatUsersOfFluidReport(t *testing.T) {
	b := setUpFluid(t, quickConfig, cluster.A100SXM.Nodes("node", 6)...)
	full := func(name string, workers ...string) fluid.Spec {
		return fluid.Spec{Name: name, Bytes: 100 * gib, Cached: "100.0%", Workers: workers}
	}

	b.run("fluid#1043: the node with the data has no free GPU", func(b *bed) {
		d := b.dataset(full("no-gpu", "node-001"))
		b.waitCoverage(d, "node-001", 1, "uniform", true)
		b.place(cluster.PodSpec{Name: "blocker", GPUs: 8, Node: "node-001"})
		if got := b.place(reader("train", "no-gpu")); got == "node-001" {
			b.t.Error("train is on node-001, which has no free GPU")
		}
		b.wantSound()
	})

	b.run("fluid#1961: a label of Fluid's requires a dataset", func(b *bed) {
		d := b.dataset(full("by-label", "node-004"))
		b.waitCoverage(d, "node-004", 1, "uniform", true)
		spec := reader("train", "by-label")
		spec.Labels = map[string]string{"fluid.io/dataset.by-label.sched": "required"}
		spec.Node = "node-002"
		b.create(spec)
		_, err := b.WaitEvent(b.ctx, "train", "FailedScheduling", "DATASET_NOT_CACHED")
		b.must(err)
	})

	b.run("fluid#1729: where workers may run binds no pod that reads", func(b *bed) {
		spec := full("pinned", "node-003")
		spec.NodeAffinity = "node-003"
		d := b.dataset(spec)
		b.waitCoverage(d, "node-003", 1, "uniform", true)
		elsewhere := reader("train", "pinned")
		elsewhere.Node = "node-000"
		b.wantNode("node-000", elsewhere)
	})

	b.run("fluid#553: labels are left behind when a dataset is deleted", func(b *bed) {
		gone := b.dataset(full("gone", "node-001"))
		b.waitCoverage(gone, "node-001", 1, "uniform", true)
		b.must(gone.DeleteWorkers(b.ctx, false, "node-001"))
		b.must(gone.LabelFuse(b.ctx, "node-001", true))
		b.must(gone.Delete(b.ctx))
		b.must(b.berth.WaitDataset(b.ctx, "default/gone", "it is gone", func(v cluster.DatasetView) bool {
			return len(v.Nodes) == 0
		}))
	})

	b.run("fluid#1314: workers run and no node has a label", func(b *bed) {
		d := b.dataset(full("unlabelled", "node-004"))
		b.must(d.LabelNode(b.ctx, "node-004", false))
		b.waitCoverage(d, "node-004", 1, "uniform", true)
		b.wantNode("node-004", reader("train", "unlabelled"))
	})

	// And juicefs#4201: 0 although a worker has data. Alluxio#18577: more than 100 per cent.
	b.run("fluid#539: the cached percentage is wrong", func(b *bed) {
		d := b.dataset(full("odd", "node-002"))
		b.must(d.Update(b.ctx, func(s *fluid.Spec) { s.Cached = "250.0%" }))
		b.waitCoverage(d, "node-002", 1, "uniform", true)
		b.must(d.Update(b.ctx, func(s *fluid.Spec) { s.Cached = "0.0%" }))
		b.waitCoverage(d, "node-002", 0.5, "assumed", true)
		b.must(d.Update(b.ctx, func(s *fluid.Spec) { s.Cached, s.Bytes = "N/A", 0 }))
		b.waitCoverage(d, "node-002", 0.5, "assumed", true)
	})

	b.run("fluid#1460: a DataLoad is complete and nothing is cached", func(b *bed) {
		master := b.master(map[string]int64{"node-001": 0})
		d := b.dataset(fluid.Spec{Name: "unloaded", Bytes: 100 * gib, Master: master.Address(), Workers: []string{"node-001"}})
		b.must(d.Load(b.ctx, "warm-up", "Complete"))
		b.waitCoverage(d, "node-001", 0, "measured", false)
		b.create(requiring("train", "unloaded"))
		_, err := b.WaitEvent(b.ctx, "train", "FailedScheduling", "6 DATASET_NOT_CACHED")
		b.must(err)
	})

	b.run("Alluxio#9425: a worker that joins later is empty", func(b *bed) {
		master := b.master(map[string]int64{"node-001": 50 * gib})
		d := b.dataset(fluid.Spec{Name: "grown", Bytes: 100 * gib, Master: master.Address(), Workers: []string{"node-001"}})
		b.waitCoverage(d, "node-001", 0.5, "measured", true)
		b.must(d.AddWorkers(b.ctx, "node-002"))
		b.waitCoverage(d, "node-002", 0, "new-worker", true)
		master.SetUsed(cluster.HostIP("node-002"), 70*gib)
		b.waitCoverage(d, "node-002", 0.7, "measured", true)
		b.wantNode("node-002", reader("train", "grown"))
	})

	b.run("Alluxio#11540: a worker holds thrice what the dataset has", func(b *bed) {
		master := b.master(map[string]int64{"node-001": 300 * gib, "node-002": 90 * gib})
		d := b.dataset(fluid.Spec{Name: "tripled", Bytes: 100 * gib, Master: master.Address(),
			Workers: []string{"node-001", "node-002"}})
		b.waitCoverage(d, "node-001", 1, "measured", true)
		b.waitCoverage(d, "node-002", 0.9, "measured", true)
	})

	// And §3.3 of Fluid's docs: two required datasets are an "and", which its node selector terms are not.
	b.run("fluid#2150: several datasets in one pod", func(b *bed) {
		images := b.dataset(full("images", "node-001", "node-002"))
		b.waitCoverage(images, "node-002", 0.5, "uniform", true)
		texts := fluid.Spec{Name: "texts", Bytes: 100 * gib, Cached: "100.0%", Shared: true,
			Workers: []string{"node-002", "node-003"}}
		b.waitCoverage(b.dataset(texts), "node-003", 0.5, "uniform", true)
		b.waitCoverage(b.dataset(full("sounds", "node-005")), "node-005", 1, "uniform", true)
		b.wantNode("node-002", requiring("both", "images", "texts"))
		b.create(requiring("apart", "images", "sounds"))
		_, err := b.WaitEvent(b.ctx, "apart", "FailedScheduling", "6 DATASET_NOT_CACHED")
		b.must(err)
	})

	b.run("a name that is no dataset's is told on the pod", func(b *bed) {
		b.create(cluster.PodSpec{Name: "train", GPUs: 1, Datasets: []string{"imagnet"}, Annotations: required})
		_, err := b.WaitEvent(b.ctx, "train", "FailedScheduling", "6 DATASET_UNKNOWN")
		b.must(err)
		b.place(cluster.PodSpec{Name: "soft", GPUs: 1, Datasets: []string{"imagnet"}})
		_, err = b.WaitEvent(b.ctx, "soft", "", "imagnet")
		b.must(err)
	})
}

func TestLabelsWithoutWorkerCountForAWhileOnly(t *testing.T) {
	b := setUpFluid(t, "data:\n  labelGrace: 1s\n", cluster.A100SXM.Nodes("node", 4)...)
	// fluid#2389: the StatefulSet of the workers is deleted, the Dataset stays Bound and the nodes keep their labels.
	d := b.dataset(fluid.Spec{Name: "orphaned", Bytes: 100 * gib, Cached: "100.0%", Workers: []string{"node-001", "node-002"}})
	b.waitCoverage(d, "node-001", 0.5, "uniform", true)
	b.must(d.DeleteWorkers(b.ctx, false, "node-001"))
	b.waitCoverage(d, "node-001", 0, "", false)
	b.wantNode("node-002", reader("train", "orphaned"))
	b.must(d.DeleteWorkers(b.ctx, false, "node-002"))
	b.waitCoverage(d, "node-002", 0, "", false)
	b.create(requiring("strict", "orphaned"))
	_, err := b.WaitEvent(b.ctx, "strict", "FailedScheduling", "4 DATASET_NOT_CACHED")
	b.must(err)
	// fluid#1329: the label of a client stays for ever, also of one whose pod was killed; it is a hint while the Dataset is Bound.
	b.must(d.LabelFuse(b.ctx, "node-003", true))
	b.must(b.berth.WaitDataset(b.ctx, "default/orphaned", "a hint", func(v cluster.DatasetView) bool {
		return v.On("node-003").Source == "fuse" && !v.On("node-003").Holds
	}))
	b.must(d.Update(b.ctx, func(s *fluid.Spec) { s.Unbound = true }))
	b.waitCoverage(d, "node-003", 0, "", false)
}

func TestAFaultyAlluxioMasterCostsNothingButFreshness(t *testing.T) {
	b := setUpFluid(t, quickConfig, cluster.A100SXM.Nodes("node", 4)...)
	master := b.master(map[string]int64{"node-001": 30 * gib, "node-002": 80 * gib})
	d := b.dataset(fluid.Spec{Name: "imagenet", Bytes: 100 * gib, Master: master.Address(),
		Workers: []string{"node-001", "node-002"}})
	b.waitCoverage(d, "node-001", 0.3, "measured", true)
	for i, c := range []struct {
		name  string
		fault fluid.Fault
	}{
		{"unavailable", fluid.Unavailable}, {"garbage", fluid.Garbage}, {"huge", fluid.Huge}, {"negative", fluid.Negative},
		{"silent", fluid.Silent},
	} {
		b.t.Run(c.name, func(t *testing.T) {
			part := *b
			part.t, part.ctx = t, t.Context()
			failures, err := part.berth.Metric(part.ctx, "berth_probe_failures_total")
			part.must(err)
			master.SetFault(c.fault)
			part.must(part.berth.WaitMetric(part.ctx, "berth_probe_failures_total", failures+1))
			part.wantNode("node-002", reader("train-"+c.name, "imagenet"))
			known, err := part.berth.Dataset(part.ctx, "default/imagenet")
			part.must(err)
			if on := known.On("node-001"); on.Coverage != 0.3 || on.Source != "measured" {
				t.Errorf("of node-001 is known %+v, want the last figure", on)
			}
			master.SetFault(fluid.Sound) // Or Berth would ask less and less often.
			master.SetUsed(cluster.HostIP("node-002"), int64(81+i)*gib)
			part.waitCoverage(d, "node-002", float64(81+i)/100, "measured", true)
		})
	}
	master.SetUsed(cluster.HostIP("node-001"), 95*gib)
	b.waitCoverage(d, "node-001", 0.95, "measured", true)
	master.Close()
	b.wantNode("node-001", reader("after", "imagenet"))
	b.wantSound()
}
