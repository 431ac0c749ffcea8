package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"time"
)

// DatasetView is what tests read of Berth's answer to /api/v1/datasets?dataset=NAMESPACE/NAME.
type DatasetView struct {
	Name         string         `json:"name"`
	Aliases      []string       `json:"aliases"`
	Phase        string         `json:"phase"`
	Runtime      string         `json:"runtime"`
	TotalBytes   int64          `json:"totalBytes"`
	ReadyWorkers int            `json:"readyWorkers"`
	Readers      int            `json:"readers"`
	HoldingNodes int            `json:"holdingNodes"`
	Nodes        []NodeCoverage `json:"nodes"`
}

// NodeCoverage is how much of a dataset is on a node, and how Berth knows.
type NodeCoverage struct {
	Node       string  `json:"node"`
	Coverage   float64 `json:"coverage"`
	Source     string  `json:"source"`
	AgeSeconds *int64  `json:"ageSeconds"`
	Bytes      *int64  `json:"bytes"`
	Holds      bool    `json:"holds"`
	Readers    int     `json:"readers"`
}

// On is what is known of a node; the zero value, without a source, when nothing is.
func (v DatasetView) On(node string) NodeCoverage {
	for _, known := range v.Nodes {
		if known.Node == node {
			return known
		}
	}
	return NodeCoverage{}
}

// Dataset asks Berth what it knows of a dataset.
func (b *Berth) Dataset(ctx context.Context, name string) (DatasetView, error) {
	var view DatasetView
	body, err := b.Get(ctx, "/api/v1/datasets?dataset="+url.QueryEscape(name))
	if err == nil {
		if err = json.Unmarshal([]byte(body), &view); err != nil {
			err = fmt.Errorf("dataset %s: %w in %s", name, err, body)
		}
	}
	return view, err
}

// WaitDataset asks until done is true. A dataset that Berth does not know is the zero value.
func (b *Berth) WaitDataset(ctx context.Context, name, what string, done func(DatasetView) bool) error {
	ctx, cancel := context.WithTimeout(ctx, Deadline)
	defer cancel()
	ticker := time.NewTicker(probeEvery)
	defer ticker.Stop()
	var view DatasetView
	var err error
	for {
		if now, failure := b.Dataset(ctx, name); ctx.Err() == nil {
			view, err = now, failure
		}
		if ctx.Err() == nil && done(view) {
			return nil
		}
		select {
		case <-ctx.Done():
			seen, _ := json.Marshal(view)
			return fmt.Errorf("%s is not so of dataset %s after %s; last seen: %s (error: %v)", what, name, Deadline, seen, err)
		case <-ticker.C:
		}
	}
}
