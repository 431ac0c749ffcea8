package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// AnyPort is an address on loopback with a port that is free.
const AnyPort = "127.0.0.1:0"

// BerthOptions say how to start Berth.
type BerthOptions struct {
	Kubeconfig string
	Listen     string // the extender's address; empty: a free port on loopback
	BindListen string // the address of the port that binds; empty: it doesn't
	Config     string // text of a configuration file; empty: none
	Dir        string // for its log and configuration
	Args       []string
	NotReady   bool // do not wait for readiness, because it is not expected
}

// Berth is a running `berth serve`.
type Berth struct {
	*Process
	Extender string // address, host:port
	Admin    string
	Bind     string // empty if it doesn't bind
}

// BerthBinary is the program under test: BERTH_BIN, or the release build.
func BerthBinary() (string, error) {
	path := os.Getenv("BERTH_BIN")
	if path == "" {
		path = filepath.Join(Root(), "build", "release", "berth")
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s is missing: cmake --preset release && cmake --build --preset release --target berth, "+
			"or set BERTH_BIN", path)
	}
	return path, nil
}

// StartBerth starts Berth and waits until it is ready.
func StartBerth(ctx context.Context, options BerthOptions) (*Berth, error) {
	binary, err := BerthBinary()
	if err != nil {
		return nil, err
	}
	if options.Listen == "" {
		options.Listen = AnyPort
	}
	argv := []string{binary, "serve", "--listen", options.Listen, "--admin-listen", "127.0.0.1:0"}
	if options.Kubeconfig != "" {
		argv = append(argv, "--kubeconfig", options.Kubeconfig)
	}
	if options.Config != "" {
		path := filepath.Join(options.Dir, "berth.yaml")
		if err := os.WriteFile(path, []byte(options.Config), 0o644); err != nil {
			return nil, err
		}
		argv = append(argv, "--config", path)
	}
	if options.BindListen != "" {
		argv = append(argv, "--bind-listen", options.BindListen)
	}
	argv = append(argv, options.Args...)

	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	process, err := startProcess("berth", filepath.Join(options.Dir, "berth.log"), argv, func(cmd *exec.Cmd) error {
		cmd.Stdout = writer
		return nil
	})
	writer.Close()
	if err != nil {
		reader.Close()
		return nil, err
	}
	b := &Berth{Process: process}
	if err := b.readAddresses(reader, options.BindListen != ""); err != nil {
		b.Kill()
		return nil, err
	}
	if options.NotReady {
		return b, nil
	}
	if err := newProber("").wait(ctx, process, "http://"+b.Admin+"/readyz"); err != nil {
		b.Kill()
		return nil, err
	}
	return b, nil
}

// readAddresses reads the lines that name the ports, and then lets the rest of the output go by.
func (b *Berth) readAddresses(output *os.File, bind bool) error {
	type wanted struct {
		prefix  string
		address *string
	}
	want := []wanted{{"extender listening on ", &b.Extender}, {"admin listening on ", &b.Admin}}
	if bind {
		want = append(want, wanted{"bind listening on ", &b.Bind})
	}
	lines := make(chan string)
	go func() {
		defer output.Close()
		scanner := bufio.NewScanner(output)
		for n := 0; n < len(want) && scanner.Scan(); n++ {
			lines <- scanner.Text()
		}
		close(lines)
		_, _ = io.Copy(io.Discard, output)
	}()
	for _, want := range want {
		select {
		case line, ok := <-lines:
			if !ok {
				<-b.Exited()
				return b.exitError()
			}
			address, found := strings.CutPrefix(line, want.prefix)
			if !found {
				go drain(lines)
				return fmt.Errorf("berth printed %q where %q was expected", line, want.prefix+"HOST:PORT")
			}
			*want.address = address
		case <-time.After(Deadline):
			go drain(lines)
			return errors.New("berth did not say where it listens within " + Deadline.String())
		}
	}
	return nil
}

func drain(lines <-chan string) {
	for range lines {
	}
}

// URL is the extender's, for the scheduler configuration.
func (b *Berth) URL() string { return "http://" + b.Extender }

// BindURL is that of the extender that binds; empty if Berth doesn't.
func (b *Berth) BindURL() string {
	if b.Bind == "" {
		return ""
	}
	return "http://" + b.Bind
}

// Drain asks Berth to stop as Kubernetes would, and reports anything but a clean exit.
func (b *Berth) Drain() error {
	if state := b.State(); state != "" {
		return fmt.Errorf("berth ended by itself: %s\n%s", state, b.Log(15))
	}
	if err := b.Stop(Deadline); err != nil {
		return err
	}
	if code := b.ExitCode(); code != 0 {
		return fmt.Errorf("berth ended with code %d after SIGTERM (%s)\n%s", code, b.State(), b.Log(15))
	}
	return nil
}
