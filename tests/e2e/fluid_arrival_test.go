package e2e

import (
	"testing"

	"berth.dev/berth/testbed/tests/cluster"
	"berth.dev/berth/testbed/tests/cluster/fluid"
)

func TestFluidComesToAClusterThatRunsWithoutIt(t *testing.T) {
	b := setUpFluidWithout(t, cluster.A100SXM.Nodes("node", 6)...)
	b.must(fluid.Remove(b.ctx, b.Cluster))
	b.must(b.CacheDataset(b.ctx, "imagenet", true, "node-003"))
	b.startBerth(cluster.BerthOptions{Config: quickConfig})
	b.startScheduler()
	b.wantNode("node-003", cluster.PodSpec{Name: "by-label", GPUs: 1, Datasets: []string{"imagenet"}})

	b.must(fluid.Install(b.ctx, b.Cluster))
	coco := b.dataset(fluid.Spec{Name: "coco", Bytes: 100 * gib, Cached: "100.0%", Workers: []string{"node-004"}})
	b.waitCoverage(coco, "node-004", 1, "uniform", true)
	b.wantNode("node-004", reader("by-claim", "coco"))
	// Now that Datasets are served, a label that none of them explains counts no more.
	if view, err := b.berth.Dataset(b.ctx, "default/imagenet"); err == nil && len(view.Nodes) > 0 {
		t.Errorf("a dataset that does not exist is known as %+v", view)
	}
	b.wantSound()
}
