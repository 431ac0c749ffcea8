package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Options say what to start. The zero value is a control plane of the default version with kubelets, without scheduler.
type Options struct {
	Version           string               // "1.37.2" or "1.34.4"; empty: KubernetesVersion()
	Dir               string               // for data, logs and the kubeconfig; empty: a new temporary directory
	WithoutKubelets   bool                 // pods stay Pending when bound, deleted ones need a grace period of 0
	WithoutController bool                 // no Jobs, no garbage collection
	Progress          func(message string) // told what is being started
}

// Cluster is a running control plane. Its methods must not be called at the same time, but for Client.
type Cluster struct {
	Version    string
	Dir        string
	Kubeconfig string // the administrator's
	Config     *rest.Config
	Client     kubernetes.Interface

	options   Options
	binary    string
	ports     ports
	probe     *prober
	etcd      *Process
	apiserver *Process
	control   *Process
	kubelets  *Process
	scheduler *Process

	schedulerConfig string
	schedulerArgs   []string
}

type ports struct{ etcdClient, etcdPeer, apiserver, scheduler int }

// Start starts a control plane and waits until its API server is ready.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	if options.Version == "" {
		options.Version = KubernetesVersion()
	}
	if options.Progress == nil {
		options.Progress = func(string) {}
	}
	const attempts = 4
	for attempt := 1; ; attempt++ {
		c, err := start(ctx, options)
		if err == nil || !errors.Is(err, errPortTaken) || attempt == attempts {
			return c, err
		}
	}
}

func start(ctx context.Context, options Options) (_ *Cluster, err error) {
	c := &Cluster{Version: options.Version, Dir: options.Dir, options: options}
	if c.binary, err = Tool(options.Version, "controlplane"); err != nil {
		return nil, err
	}
	if c.Dir == "" {
		if c.Dir, err = os.MkdirTemp("", "berth-cluster-"); err != nil {
			return nil, err
		}
	} else if err = os.MkdirAll(c.Dir, 0o755); err != nil {
		return nil, err
	}
	defer func() {
		if err == nil {
			return
		}
		c.stopAll()
		if options.Dir == "" && errors.Is(err, errPortTaken) {
			_ = os.RemoveAll(c.Dir)
		}
	}()
	free, err := freePorts(4)
	if err != nil {
		return nil, err
	}
	c.ports = ports{free[0], free[1], free[2], free[3]}
	if err = c.writeCredentials(); err != nil {
		return nil, err
	}
	options.Progress("etcd and kube-apiserver " + options.Version)
	if err = c.startEtcd(ctx); err != nil {
		return nil, err
	}
	if err = c.StartAPIServer(ctx); err != nil {
		return nil, err
	}
	if err = c.connect(); err != nil {
		return nil, err
	}
	if !options.WithoutController {
		options.Progress("kube-controller-manager")
		if err = c.startControllerManager(); err != nil {
			return nil, err
		}
	}
	if !options.WithoutKubelets {
		options.Progress("kwok, in the kubelets' place")
		if err = c.startKubelets(); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// connect makes the clients. They are meant for bursts, so they have no rate limit.
func (c *Cluster) connect() error {
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{} // of Fluid's volumes, each of them 100Pi
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	c.Config = config
	c.Client, err = kubernetes.NewForConfig(config)
	return err
}

// Stop ends everything. The directory is removed unless it was given, or logs are to be kept.
func (c *Cluster) Stop(keepLogs bool) error {
	err := c.stopAll()
	if keepLogs {
		_ = os.RemoveAll(filepath.Join(c.Dir, "etcd"))
		return err
	}
	if c.options.Dir == "" {
		err = errors.Join(err, os.RemoveAll(c.Dir))
	}
	return err
}

// stopAll stops clients first and etcd last: an API server without its etcd does not stop.
func (c *Cluster) stopAll() error {
	var err error
	for _, p := range []*Process{c.kubelets, c.scheduler, c.control, c.apiserver, c.etcd} {
		err = errors.Join(err, p.Stop(10*time.Second))
	}
	return err
}

// StopAPIServer stops the API server as an upgrade does: requests in flight are answered, watches end.
func (c *Cluster) StopAPIServer() error { return c.apiserver.Stop(Deadline) }

// KillAPIServer ends the API server as a crash does: what it has just stored may never be answered.
func (c *Cluster) KillAPIServer() { c.apiserver.Kill() }

// StartAPIServer starts the API server, on the same port every time, and waits until it is ready.
func (c *Cluster) StartAPIServer(ctx context.Context) error {
	p, err := c.run("apiserver", c.apiserverArgs()...)
	if err != nil {
		return err
	}
	c.apiserver = p
	return c.probe.wait(ctx, p, c.URL()+"/readyz")
}

// URL is the API server's.
func (c *Cluster) URL() string { return fmt.Sprintf("https://127.0.0.1:%d", c.ports.apiserver) }

func (c *Cluster) startEtcd(ctx context.Context) error {
	p, err := c.run("etcd", c.etcdArgs()...)
	if err != nil {
		return err
	}
	c.etcd = p
	return c.probe.wait(ctx, p, fmt.Sprintf("http://127.0.0.1:%d/health", c.ports.etcdClient))
}

func (c *Cluster) startControllerManager() error {
	p, err := c.run("controller-manager", c.controllerManagerArgs()...)
	c.control = p
	return err
}

func (c *Cluster) startKubelets() error {
	kwok, err := Tool("kwok")
	if err != nil {
		return err
	}
	stages, err := filepath.Glob(filepath.Join(filepath.Dir(kwok), "stages", "*.yaml"))
	if err != nil || len(stages) == 0 {
		return fmt.Errorf("no kwok stages beside %s: run tests/cluster/build.sh", kwok)
	}
	argv := []string{
		kwok, "--kubeconfig", c.Kubeconfig, "--manage-all-nodes=true",
		// Fluid's pods carry this label; their status is the test's business.
		"--disregard-status-with-label-selector", "release",
	}
	for _, stage := range stages {
		argv = append(argv, "--config", stage)
	}
	c.kubelets, err = startProcess("kwok", c.log("kwok"), argv, nil)
	return err
}

// run starts one of the programs in the control plane binary.
func (c *Cluster) run(program string, args ...string) (*Process, error) {
	return startProcess(program, c.log(program), append([]string{c.binary, program}, args...), nil)
}

func (c *Cluster) log(name string) string { return filepath.Join(c.Dir, name+".log") }

// Logs returns the end of every log, for a failed test.
func (c *Cluster) Logs(lines int) string {
	text := ""
	for _, p := range []*Process{c.etcd, c.apiserver, c.control, c.kubelets, c.scheduler} {
		if p != nil {
			text += fmt.Sprintf("--- %s\n%s\n", p.LogPath, p.Log(lines))
		}
	}
	return text
}
