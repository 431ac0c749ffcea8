package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Explanation is what tests and the demonstration read of Berth's answer to /api/v1/explain.
type Explanation struct {
	Winner         string      `json:"winner"`
	Error          string      `json:"error"`
	CandidateCount int         `json:"candidateCount"`
	Candidates     []Candidate `json:"candidates"` // best first
	Rejected       []struct {
		Reason string `json:"reason"`
		Count  int    `json:"count"`
	} `json:"rejected"`
}

// Candidate is a node that could take the pod, with the parts of its score, each from 0 to 1.
type Candidate struct {
	Node     string  `json:"node"`
	Score    int     `json:"score"` // as the scheduler got it
	Total    float64 `json:"total"`
	Locality float64 `json:"locality"`
	Topology float64 `json:"topology"`
	Packing  float64 `json:"packing"`
	Coverage float64 `json:"coverage"` // how much of the pod's data is there
	GPUsFree int     `json:"gpusFree"`
	GPUSet   []int   `json:"gpuSet"`
}

// Explain asks Berth about its last decision for a pod of the test namespace.
func (b *Berth) Explain(ctx context.Context, pod string) (Explanation, error) {
	var explanation Explanation
	body, err := b.Get(ctx, "/api/v1/explain?pod="+url.QueryEscape(Namespace+"/"+pod))
	if err == nil {
		if err = json.Unmarshal([]byte(body), &explanation); err != nil {
			err = fmt.Errorf("explain %s: %w in %s", pod, err, body)
		}
	}
	return explanation, err
}

// Get reads a page of the admin port. Anything but 200 is an error.
func (b *Berth) Get(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+b.Admin+path, nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s: %s", path, response.Status, strings.TrimSpace(string(body)))
	}
	return string(body), err
}

// Metric reads a metric from /metrics, by its name with its labels if it has any.
func (b *Berth) Metric(ctx context.Context, name string) (float64, error) {
	text, err := b.Get(ctx, "/metrics")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(text) {
		if value, found := strings.CutPrefix(line, name+" "); found {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, fmt.Errorf("there is no metric %s", name)
}

// WaitMetric asks until a metric is at least so much.
func (b *Berth) WaitMetric(ctx context.Context, name string, least float64) error {
	ctx, cancel := context.WithTimeout(ctx, Deadline)
	defer cancel()
	ticker := time.NewTicker(probeEvery)
	defer ticker.Stop()
	for {
		value, err := b.Metric(ctx, name)
		if err == nil && value >= least {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is %v after %s, want %v (error: %v)", name, value, Deadline, least, err)
		case <-ticker.C:
		}
	}
}

// summary is what tests read of Berth's answer to /api/v1/summary.
type summary struct {
	Nodes int `json:"nodes"`
	GPUs  struct {
		Used int `json:"used"`
	} `json:"gpus"`
}

// WaitNodes waits until Berth's view of the cluster has n nodes.
func (b *Berth) WaitNodes(ctx context.Context, n int) error {
	return b.waitSummary(ctx, fmt.Sprintf("%d nodes", n), func(s summary) bool { return s.Nodes == n })
}

// WaitGPUsUsed waits until pods hold n GPUs in Berth's view.
func (b *Berth) WaitGPUsUsed(ctx context.Context, n int) error {
	return b.waitSummary(ctx, fmt.Sprintf("%d GPUs in use", n), func(s summary) bool { return s.GPUs.Used == n })
}

func (b *Berth) waitSummary(ctx context.Context, what string, done func(summary) bool) error {
	ctx, cancel := context.WithTimeout(ctx, Deadline)
	defer cancel()
	ticker := time.NewTicker(probeEvery)
	defer ticker.Stop()
	var last string
	for {
		var s summary
		body, err := b.Get(ctx, "/api/v1/summary")
		if err == nil {
			if err = json.Unmarshal([]byte(body), &s); err == nil && done(s) {
				return nil
			}
		}
		if last = body; err != nil {
			last = err.Error()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("Berth does not see %s after %s; last answer: %s", what, Deadline, last)
		case <-ticker.C:
		}
	}
}
