package e2e

import (
	"strings"
	"testing"

	"berth.dev/berth/testbed/tests/cluster"
	"berth.dev/berth/testbed/tests/cluster/fluid"
)

// What users report is named by the project and number of their issue.
func TestPodsGoWhereFluidKeepsTheirData(t *testing.T) {
	b := setUpFluid(t, quickConfig, cluster.A100SXM.Nodes("node", 8)...)

	b.run("by the claim that it mounts", func(b *bed) {
		d := b.dataset(fluid.Spec{Name: "claimed", Bytes: 100 * gib, Cached: "100.0%", Workers: []string{"node-005"}})
		b.waitCoverage(d, "node-005", 1, "uniform", true)
		b.wantNode("node-005", reader("train", "claimed"))
		b.wantWinner("train")
		b.wantSound()
	})

	b.run("by a reference dataset", func(b *bed) {
		d := b.dataset(fluid.Spec{Namespace: "data", Name: "physical", Bytes: 100 * gib, Cached: "100.0%",
			Workers: []string{"node-006"}})
		_, err := d.Refer(b.ctx, cluster.Namespace, "alias")
		b.must(err)
		b.must(b.berth.WaitDataset(b.ctx, "default/alias", "the physical dataset", func(v cluster.DatasetView) bool {
			return v.Name == "data/physical" && v.On("node-006").Holds
		}))
		b.wantNode("node-006", reader("train", "alias"))
		b.wantNode("node-006", requiring("strict", "alias"))
	})

	// Alluxio#13410: 24 GB on most workers, 298 MB on one. Alluxio/Community#637: bytes count, not presence.
	b.run("by measured bytes, which are uneven", func(b *bed) {
		master := b.master(map[string]int64{"node-001": 24 * gib, "node-002": gib / 4, "node-003": 60 * gib})
		d := b.dataset(fluid.Spec{Name: "uneven", Bytes: 100 * gib, Cached: "84.3%", Master: master.Address(),
			Workers: []string{"node-001", "node-002", "node-003", "node-004"}})
		b.waitCoverage(d, "node-003", 0.6, "measured", true)
		b.waitCoverage(d, "node-002", 0.0025, "measured", true)
		b.waitCoverage(d, "node-004", 0, "new-worker", true) // The master does not name it.
		b.wantNode("node-003", reader("train", "uneven"))
		spec := requiring("half", "uneven")
		spec.Annotations = map[string]string{"berth.io/dataset-policy": "required", "berth.io/min-coverage": "50"}
		b.wantNode("node-003", spec)
	})

	b.run("of JuiceFS enterprise edition by its workers", func(b *bed) {
		d := b.dataset(fluid.Spec{Name: "shared-cache", Runtime: fluid.JuiceFSEnterprise, Bytes: 100 * gib, Cached: "80.0%",
			Workers: []string{"node-001", "node-002"}})
		b.waitCoverage(d, "node-001", 0.4, "uniform", true)
		b.must(d.AddFuse(b.ctx, "node-003"))
		b.must(b.berth.WaitDataset(b.ctx, "default/shared-cache", "the client is a hint", func(v cluster.DatasetView) bool {
			return v.On("node-003").Source == "fuse" && !v.On("node-003").Holds
		}))
		if got := b.place(reader("train", "shared-cache")); got != "node-001" && got != "node-002" {
			b.t.Errorf("train is on %s, want a node with a worker", got)
		}
	})

	// fluid#1827: in the community edition each client has a cache of its own.
	b.run("of JuiceFS community edition by its clients", func(b *bed) {
		d := b.dataset(fluid.Spec{Name: "own-cache", Runtime: fluid.JuiceFSCommunity, Bytes: 100 * gib, Cached: "80.0%"})
		b.must(d.AddFuse(b.ctx, "node-004"))
		b.waitCoverage(d, "node-004", 0.8, "uniform", true)
		b.wantNode("node-004", reader("train", "own-cache"))
		b.wantNode("node-004", requiring("strict", "own-cache"))
	})

	b.run("by a ready worker rather than one that is not", func(b *bed) {
		d := b.dataset(fluid.Spec{Name: "unready", Bytes: 100 * gib, Cached: "100.0%",
			Workers: []string{"node-001", "node-002"}})
		b.waitCoverage(d, "node-001", 0.5, "uniform", true)
		b.must(d.SetWorkerReady(b.ctx, "node-001", false))
		// One ready worker is left: it has all, the other half of what it would have.
		b.must(b.berth.WaitDataset(b.ctx, "default/unready", "node-001 does not hold", func(v cluster.DatasetView) bool {
			return v.ReadyWorkers == 1 && !v.On("node-001").Holds && v.On("node-002").Holds
		}))
		b.wantNode("node-002", reader("train", "unready"))
		b.wantNode("node-002", requiring("strict", "unready"))
	})

	// Alluxio#13784: the cache is lost with the worker, and lost again.
	b.run("not by what a worker held before it was replaced", func(b *bed) {
		master := b.master(map[string]int64{"node-001": 90 * gib, "node-002": 40 * gib})
		d := b.dataset(fluid.Spec{Name: "replaced", Bytes: 100 * gib, Master: master.Address(),
			Workers: []string{"node-001", "node-002"}})
		b.waitCoverage(d, "node-001", 0.9, "measured", true)
		b.waitCoverage(d, "node-002", 0.4, "measured", true)
		master.Forget(cluster.HostIP("node-001"))
		b.must(d.ReplaceWorker(b.ctx, "node-001"))
		b.waitCoverage(d, "node-001", 0, "new-worker", true)
		b.wantNode("node-002", reader("train", "replaced"))
	})

	// fluid#704, #1169, #5362: names that make no label; since Fluid 1.0.5 the UID stands for them.
	b.run("when the names are too long for a label", func(b *bed) {
		d := b.dataset(fluid.Spec{Name: strings.Repeat("long", 12), Bytes: 100 * gib, Cached: "100.0%",
			Workers: []string{"node-007"}})
		if !strings.HasSuffix(d.WorkerLabel(), d.UID) {
			b.t.Fatalf("label %s does not have the UID", d.WorkerLabel())
		}
		b.waitCoverage(d, "node-007", 1, "uniform", true)
		b.wantNode("node-007", reader("train", d.Name))
		b.must(d.LabelNode(b.ctx, "node-002", true)) // and no worker there
		b.must(b.berth.WaitDataset(b.ctx, "default/"+d.Name, "the label counts", func(v cluster.DatasetView) bool {
			return v.On("node-002").Source == "label" && !v.On("node-002").Holds
		}))
		// fluid#5224: the CSI plugin says that it has labelled the node, and the node has no such label.
		b.must(d.AddFuse(b.ctx, "node-003"))
		b.must(d.LabelFuse(b.ctx, "node-003", false))
		b.must(b.berth.WaitDataset(b.ctx, "default/"+d.Name, "the client counts", func(v cluster.DatasetView) bool {
			return v.On("node-003").Source == "fuse" && !v.On("node-003").Holds
		}))
	})
}
