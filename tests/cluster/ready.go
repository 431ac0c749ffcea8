package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// prober asks programs that have just been started whether they are ready.
type prober struct {
	authority string // file with the API server's certificate; it may not exist yet
}

func newProber(authority string) *prober { return &prober{authority: authority} }

const (
	// startDeadline is longer than Deadline: four programs of 100 MB start at once on what may be a busy machine.
	startDeadline = 90 * time.Second
	probeEvery    = 50 * time.Millisecond
)

// wait asks url until it answers 200. It gives up when the process ends or the deadline passes.
func (p *prober) wait(ctx context.Context, process *Process, url string) error {
	ctx, cancel := context.WithTimeout(ctx, startDeadline)
	defer cancel()
	ticker := time.NewTicker(probeEvery)
	defer ticker.Stop()
	last := "no answer"
	for {
		select {
		case <-process.Exited():
			return process.exitError()
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready after %s: %s\n%s", process.Name, startDeadline, last, process.Log(15))
		case <-ticker.C:
			var ready bool
			if ready, last = p.ask(ctx, url); ready {
				return nil
			}
		}
	}
}

func (p *prober) ask(ctx context.Context, url string) (ready bool, answer string) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	client, err := p.client(url)
	if err != nil {
		return false, err.Error()
	}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false, err.Error()
	}
	request.Header.Set("Authorization", "Bearer "+adminToken)
	response, err := client.Do(request)
	if err != nil {
		return false, err.Error()
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(response.Body, 4096))
	return response.StatusCode == http.StatusOK, fmt.Sprintf("%s: %s", response.Status, strings.TrimSpace(string(body)))
}

func (p *prober) client(url string) (*http.Client, error) {
	transport := &http.Transport{}
	if strings.HasPrefix(url, "https:") {
		pool := x509.NewCertPool()
		certificate, err := os.ReadFile(p.authority)
		if err != nil {
			return nil, err
		}
		pool.AppendCertsFromPEM(certificate)
		transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	return &http.Client{Transport: transport}, nil
}
