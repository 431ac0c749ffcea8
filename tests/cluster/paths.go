package cluster

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
)

// DefaultKubernetesVersion is the version that go.mod pins.
const DefaultKubernetesVersion = "1.37.2"

// KubernetesVersion is the version to test with: BERTH_K8S_VERSION, or the default.
func KubernetesVersion() string {
	if v := os.Getenv("BERTH_K8S_VERSION"); v != "" {
		return v
	}
	return DefaultKubernetesVersion
}

// Root is the root of the repository.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
}

// Tool returns the path of something that tests/cluster/build.sh makes.
func Tool(parts ...string) (string, error) {
	path := filepath.Join(append([]string{Root(), "build", "testcluster"}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s is missing: run tests/cluster/build.sh (--with-1.34 for Kubernetes 1.34.4)", path)
	}
	return path, nil
}

// freePorts returns ports on loopback that were free a moment ago.
func freePorts(n int) ([]int, error) {
	ports := make([]int, 0, n)
	for range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer listener.Close() // All at the end, so that no port is given out twice.
		ports = append(ports, listener.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
