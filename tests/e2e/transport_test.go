package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"testing"

	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"berth.dev/berth/testbed/tests/cluster"
)

// The client is built like the scheduler's: Go's, which reads one JSON value of the answer and closes it.
func TestFiftyFilterCallsUseOneConnection(t *testing.T) {
	const nodes, calls = 200, 50
	b := setUpWithout(t, cluster.A100SXM.Nodes("node", nodes)...)
	b.startBerth(cluster.BerthOptions{})
	names := make([]string, nodes)
	for i := range names {
		names[i] = fmt.Sprintf("node-%03d", i)
	}
	body, err := json.Marshal(extenderv1.ExtenderArgs{
		Pod: cluster.PodSpec{Name: "train", GPUs: 2}.Pod(), NodeNames: &names,
	})
	b.must(err)

	connections := 0
	trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		if !info.Reused {
			connections++
		}
	}}
	client := &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone(), Timeout: cluster.Deadline}
	defer client.CloseIdleConnections()
	for range calls {
		request, err := http.NewRequestWithContext(httptrace.WithClientTrace(b.ctx, trace), http.MethodPost,
			b.berth.URL()+"/filter", bytes.NewReader(body))
		b.must(err)
		request.Header.Set("Content-Type", "application/json")
		response, err := client.Do(request)
		b.must(err)
		var result extenderv1.ExtenderFilterResult
		err = json.NewDecoder(response.Body).Decode(&result)
		response.Body.Close()
		b.must(err)
		if response.StatusCode != http.StatusOK || result.Error != "" {
			t.Fatalf("answer %d with error %q", response.StatusCode, result.Error)
		}
		if result.NodeNames == nil || len(*result.NodeNames) == 0 {
			t.Fatal("no node is a candidate")
		}
	}
	if connections != 1 {
		t.Errorf("%d calls used %d connections, want 1", calls, connections)
	}
}
