package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// SchedulerSettings change the shipped scheduler configuration.
type SchedulerSettings struct {
	ExtenderURL     string // Berth's; empty: no extender at all
	BindURL         string // Berth's, of the port that binds; empty: the scheduler binds
	Preempt         bool   // Berth has a say in preemption
	DefaultSampling bool   // let the scheduler look at a part of the nodes, as it does by default
	Unbatched       bool   // switch opportunistic batching off, as an extender does by itself
	Weight          int    // of the extender; 0: the shipped one
}

// ShippedSchedulerConfig is the configuration that users start from, or the one for those who have Berth bind.
func ShippedSchedulerConfig(bind bool) (string, error) {
	name := "scheduler-config.yaml"
	if bind {
		name = "scheduler-config-bind.yaml"
	}
	data, err := os.ReadFile(filepath.Join(Root(), "deploy", "examples", name))
	return string(data), err
}

// StartScheduler starts kube-scheduler with the shipped configuration and the given changes, and waits until it has
// seen the cluster. One that is running is stopped first.
func (c *Cluster) StartScheduler(ctx context.Context, settings SchedulerSettings) error {
	text, err := ShippedSchedulerConfig(settings.BindURL != "")
	if err != nil {
		return err
	}
	if text, err = c.renderSchedulerConfig(text, settings); err != nil {
		return err
	}
	var args []string
	if settings.Unbatched && !strings.HasPrefix(c.Version, "1.34.") { // which doesn't know batching
		args = append(args, "--feature-gates", "OpportunisticBatching=false")
	}
	return c.StartSchedulerWith(ctx, text, args...)
}

// StartSchedulerWith does the same with a configuration as it stands.
func (c *Cluster) StartSchedulerWith(ctx context.Context, config string, args ...string) error {
	if err := c.StopScheduler(); err != nil {
		return err
	}
	c.schedulerConfig = c.file("scheduler.yaml")
	if err := os.WriteFile(c.schedulerConfig, []byte(config), 0o644); err != nil {
		return err
	}
	c.schedulerArgs = args
	return c.RestartScheduler(ctx)
}

// stockScheduler is what a cluster has without anyone's doing.
const stockScheduler = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: false
clientConnection:
  kubeconfig: %s
  qps: 5000
  burst: 10000
profiles:
  - schedulerName: ` + SchedulerName + "\n"

// StartStockScheduler starts kube-scheduler with its defaults and without Berth, under the name that test pods ask for.
func (c *Cluster) StartStockScheduler(ctx context.Context) error {
	return c.StartSchedulerWith(ctx, fmt.Sprintf(stockScheduler, c.Kubeconfig))
}

// StopScheduler stops kube-scheduler, if it runs.
func (c *Cluster) StopScheduler() error {
	p := c.scheduler
	c.scheduler = nil
	return p.Stop(10 * time.Second)
}

// Scheduler is the running kube-scheduler, nil if there is none.
func (c *Cluster) Scheduler() *Process { return c.scheduler }

// RestartScheduler starts the scheduler again with the same configuration, after killing one that runs.
func (c *Cluster) RestartScheduler(ctx context.Context) error {
	c.scheduler.Kill()
	for attempt := 1; ; attempt++ {
		err := c.launchScheduler(ctx)
		if !errors.Is(err, errPortTaken) || attempt == 4 {
			return err
		}
		free, portErr := freePorts(1)
		if portErr != nil {
			return portErr
		}
		c.ports.scheduler = free[0]
	}
}

func (c *Cluster) launchScheduler(ctx context.Context) error {
	args := []string{
		"--config", c.schedulerConfig,
		"--bind-address", "127.0.0.1", "--secure-port", fmt.Sprint(c.ports.scheduler), "--cert-dir", c.file("scheduler-certs"),
		"--authentication-skip-lookup",
	}
	p, err := c.run("scheduler", append(args, c.schedulerArgs...)...)
	if err != nil {
		return err
	}
	c.scheduler = p
	probe := newProber(c.file("scheduler-certs", "kube-scheduler.crt"))
	return probe.wait(ctx, p, fmt.Sprintf("https://127.0.0.1:%d/readyz", c.ports.scheduler))
}

// renderSchedulerConfig applies settings and this cluster's kubeconfig to a configuration. It works on plain maps, so
// that fields which this program does not know stay as they are.
func (c *Cluster) renderSchedulerConfig(text string, settings SchedulerSettings) (string, error) {
	config := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &config); err != nil {
		return "", fmt.Errorf("scheduler configuration: %w", err)
	}
	// A test creates pods far faster than the default allows the scheduler to bind them.
	config["clientConnection"] = map[string]any{"kubeconfig": c.Kubeconfig, "qps": 5000, "burst": 10000}
	config["leaderElection"] = map[string]any{"leaderElect": false}
	if settings.DefaultSampling {
		delete(config, "percentageOfNodesToScore")
	}
	if settings.ExtenderURL == "" {
		delete(config, "extenders")
	} else if err := settings.aim(config); err != nil {
		return "", err
	}
	out, err := yaml.Marshal(config)
	return string(out), err
}

// aim points the extenders of a configuration at Berth: the one that filters and, in a configuration that has it, the one
// that binds.
func (s SchedulerSettings) aim(config map[string]any) error {
	extenders, _ := config["extenders"].([]any)
	urls := []string{s.ExtenderURL}
	if s.BindURL != "" {
		urls = append(urls, s.BindURL)
	}
	if len(extenders) != len(urls) {
		return fmt.Errorf("scheduler configuration: %d extenders, want %d", len(extenders), len(urls))
	}
	for i, url := range urls {
		extender, ok := extenders[i].(map[string]any)
		if !ok {
			return fmt.Errorf("scheduler configuration: extenders[%d] is no map", i)
		}
		extender["urlPrefix"] = strings.TrimSuffix(url, "/")
		if i == 0 && s.Weight > 0 {
			extender["weight"] = s.Weight
		}
		if i == 0 && s.Preempt {
			extender["preemptVerb"] = "preempt"
		}
	}
	return nil
}
