package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// adminToken is no secret: the API server that knows it listens on loopback and lives as long as a test.
const adminToken = "admin-token"

// writeCredentials writes the key for service accounts, the token file and the administrator's kubeconfig.
func (c *Cluster) writeCredentials() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	if err := os.WriteFile(c.file("service-account.key"), keyPEM, 0o600); err != nil {
		return err
	}
	tokens := fmt.Sprintf("%s,admin,admin,system:masters\n", adminToken)
	if err := os.WriteFile(c.file("tokens.csv"), []byte(tokens), 0o600); err != nil {
		return err
	}
	c.Kubeconfig = c.file("kubeconfig")
	c.probe = newProber(c.certificate())
	return c.WriteKubeconfig(c.Kubeconfig, c.URL())
}

// WriteKubeconfig writes a kubeconfig with the administrator's token for a server.
func (c *Cluster) WriteKubeconfig(path, server string) error {
	config := clientcmdapi.NewConfig()
	config.Clusters["test"] = &clientcmdapi.Cluster{Server: server, CertificateAuthority: c.certificate()}
	config.AuthInfos["admin"] = &clientcmdapi.AuthInfo{Token: adminToken}
	config.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "admin"}
	config.CurrentContext = "test"
	return clientcmd.WriteToFile(*config, path)
}

// certificate is the API server's own, which it makes at its first start and keeps.
func (c *Cluster) certificate() string { return c.file("certs", "apiserver.crt") }

func (c *Cluster) file(parts ...string) string {
	return filepath.Join(append([]string{c.Dir}, parts...)...)
}

func (c *Cluster) etcdArgs() []string {
	client := fmt.Sprintf("http://127.0.0.1:%d", c.ports.etcdClient)
	peer := fmt.Sprintf("http://127.0.0.1:%d", c.ports.etcdPeer)
	return []string{
		"--data-dir", c.file("etcd"), "--unsafe-no-fsync", "--log-level", "error",
		"--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default=" + peer,
	}
}

func (c *Cluster) apiserverArgs() []string {
	return []string{
		"--etcd-servers", fmt.Sprintf("http://127.0.0.1:%d", c.ports.etcdClient),
		"--cert-dir", c.file("certs"),
		"--bind-address", "127.0.0.1", "--advertise-address", "127.0.0.1",
		"--secure-port", fmt.Sprint(c.ports.apiserver), "--endpoint-reconciler-type", "none",
		"--service-account-issuer", "https://kubernetes.default.svc",
		"--service-account-key-file", c.file("service-account.key"),
		"--service-account-signing-key-file", c.file("service-account.key"),
		"--service-cluster-ip-range", "10.0.0.0/24",
		"--authorization-mode", "RBAC", "--token-auth-file", c.file("tokens.csv"),
		// Stop in two seconds, not sixty, although there are watches.
		"--shutdown-send-retry-after",
		// Pods need no service account here, and no controller would lift the taint that new nodes get, or the
		// finalizer of claims and volumes.
		"--disable-admission-plugins", "ServiceAccount,TaintNodesByCondition,StorageObjectInUseProtection",
	}
}

func (c *Cluster) controllerManagerArgs() []string {
	return []string{
		"--kubeconfig", c.Kubeconfig, "--leader-elect=false", "--secure-port", "0",
		"--service-account-private-key-file", c.file("service-account.key"),
		"--controllers", "job-controller,statefulset-controller,namespace-controller,serviceaccount-controller," +
			"garbage-collector-controller,pod-garbage-collector-controller,disruption-controller",
	}
}
