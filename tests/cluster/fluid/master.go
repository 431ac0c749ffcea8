package fluid

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// Fault is what is wrong with an Alluxio master.
type Fault int

const (
	Sound       Fault = iota
	Unavailable       // answers 500
	Garbage           // answers what is no JSON
	Huge              // answers without end
	Negative          // answers negative and absurd numbers of bytes
	Silent            // takes the request and never answers
)

// Master plays the REST API of an Alluxio master on a port of loopback, with the fields of GET /api/v1/master/info that
// Alluxio's WorkerInfo has. It is written from these names, not from a recorded answer.
type Master struct {
	server *httptest.Server

	mutex  sync.Mutex
	used   map[string]int64 // by address.host, which with Fluid is the node's IP
	fault  Fault
	closed chan struct{}
	close  sync.Once
}

// NewMaster starts a master that knows no worker.
func NewMaster() *Master {
	m := &Master{used: map[string]int64{}, closed: make(chan struct{})}
	m.server = httptest.NewServer(m)
	return m
}

// Address is host:port.
func (m *Master) Address() string { return strings.TrimPrefix(m.server.URL, "http://") }

// Close ends the master; its port refuses connections afterwards.
func (m *Master) Close() {
	m.close.Do(func() {
		close(m.closed)
		m.server.CloseClientConnections()
		m.server.Close()
	})
}

// SetUsed makes a worker known by its host with so many bytes.
func (m *Master) SetUsed(host string, bytes int64) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.used[host] = bytes
}

// Forget makes workers unknown.
func (m *Master) Forget(hosts ...string) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for _, host := range hosts {
		delete(m.used, host)
	}
}

// SetFault changes what is wrong.
func (m *Master) SetFault(fault Fault) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.fault = fault
}

func (m *Master) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mutex.Lock()
	fault, used := m.fault, maps.Clone(m.used)
	m.mutex.Unlock()

	if r.URL.Path != "/api/v1/master/info" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	switch fault {
	case Unavailable:
		http.Error(w, "no leader", http.StatusInternalServerError)
	case Garbage:
		_, _ = io.WriteString(w, `{"workers":[{"address":{"host":`)
	case Huge:
		filler := strings.Repeat(" ", 1<<20)
		_, err := io.WriteString(w, `{"workers":[`)
		for err == nil {
			select {
			case <-m.closed:
				return
			default:
				_, err = io.WriteString(w, filler)
			}
		}
	case Silent:
		select {
		case <-m.closed:
		case <-r.Context().Done():
		}
	default:
		_ = json.NewEncoder(w).Encode(masterInfo(used, fault == Negative))
	}
}

type workerInfo struct {
	ID                   int64            `json:"id"`
	Address              workerAddress    `json:"address"`
	LastContactSec       int              `json:"lastContactSec"`
	State                string           `json:"state"`
	CapacityBytes        int64            `json:"capacityBytes"`
	UsedBytes            int64            `json:"usedBytes"`
	StartTimeMs          int64            `json:"startTimeMs"`
	CapacityBytesOnTiers map[string]int64 `json:"capacityBytesOnTiers"`
	UsedBytesOnTiers     map[string]int64 `json:"usedBytesOnTiers"`
}

type workerAddress struct {
	Host     string `json:"host"`
	RPCPort  int    `json:"rpcPort"`
	DataPort int    `json:"dataPort"`
	WebPort  int    `json:"webPort"`
}

// masterInfo is the answer; its configuration and metrics, which make a real one large, are left out.
func masterInfo(used map[string]int64, negative bool) map[string]any {
	const capacity = int64(1) << 40
	workers := []workerInfo{}
	for i, host := range slices.Sorted(maps.Keys(used)) {
		bytes := used[host]
		if negative {
			bytes = -bytes - 1
		}
		workers = append(workers, workerInfo{
			ID: int64(i + 1), Address: workerAddress{host, 29999, 30001, 30000}, LastContactSec: 1, State: "In Service",
			CapacityBytes: capacity, UsedBytes: bytes, StartTimeMs: time.Now().Add(-time.Hour).UnixMilli(),
			CapacityBytesOnTiers: map[string]int64{"MEM": capacity}, UsedBytesOnTiers: map[string]int64{"MEM": bytes},
		})
	}
	return map[string]any{
		"rpcAddress": "127.0.0.1:19998", "startTimeMs": time.Now().Add(-time.Hour).UnixMilli(), "version": "2.9.3",
		"lostWorkers": []workerInfo{}, "workers": workers,
	}
}
