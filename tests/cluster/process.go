package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Process is a child with its output in a log file. It dies with the program that started it.
type Process struct {
	Name    string
	LogPath string
	cmd     *exec.Cmd
	exited  chan struct{}
}

// launcher runs functions on one thread that lives as long as the program: the kernel ends a child that has
// Pdeathsig set when the thread that started it ends, which for an ordinary goroutine may be any time.
var launcher = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// startProcess starts a command. prepare may change the command before, for example to read its output; without a
// Stdout of its own the output goes to the log.
func startProcess(name, logPath string, argv []string, prepare func(*exec.Cmd) error) (*Process, error) {
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	// A group of its own keeps Ctrl-C from the children: they are stopped in order.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if prepare != nil {
		if err := prepare(cmd); err != nil {
			return nil, err
		}
	}
	started := make(chan error)
	launcher() <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p := &Process{Name: name, LogPath: logPath, cmd: cmd, exited: make(chan struct{})}
	go func() {
		_ = cmd.Wait()
		close(p.exited)
	}()
	return p, nil
}

// PID is the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// CPUTime is the processor time that the process has used, in user and kernel, to a hundredth of a second.
func (p *Process) CPUTime() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID()))
	if err != nil {
		return 0, err
	}
	// The name, in parentheses, may hold spaces. After it utime and stime are fields 12 and 13, in ticks of 10 ms.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat: %q", p.PID(), stat)
	}
	total := time.Duration(0)
	for _, field := range fields[11:13] {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, err
		}
		total += time.Duration(ticks) * 10 * time.Millisecond
	}
	return total, nil
}

// Exited is closed when the process has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// ExitCode is valid once the process has ended; -1 when a signal ended it.
func (p *Process) ExitCode() int { return p.cmd.ProcessState.ExitCode() }

// State says how the process ended, in words; empty while it runs.
func (p *Process) State() string {
	select {
	case <-p.exited:
		return p.cmd.ProcessState.String()
	default:
		return ""
	}
}

// Stop asks the process to end and kills it when it does not within the deadline.
func (p *Process) Stop(deadline time.Duration) error {
	if p == nil {
		return nil
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.exited:
		return nil
	case <-time.After(deadline):
		p.Kill()
		return fmt.Errorf("%s did not stop within %s after SIGTERM and was killed", p.Name, deadline)
	}
}

// Kill ends the process at once and waits until it is gone.
func (p *Process) Kill() {
	if p == nil {
		return
	}
	_ = p.cmd.Process.Kill()
	<-p.exited
}

// Log returns the end of what the process has printed, for error messages.
func (p *Process) Log(lines int) string {
	data, err := os.ReadFile(p.LogPath)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// errPortTaken says that another program got a port between the moment it was chosen and the moment it was used.
var errPortTaken = errors.New("port taken")

// exitError says why a process that should be running is not.
func (p *Process) exitError() error {
	tail := p.Log(15)
	if strings.Contains(tail, "address already in use") {
		return fmt.Errorf("%s: %w", p.Name, errPortTaken)
	}
	return fmt.Errorf("%s ended (%s); the end of its log:\n%s", p.Name, p.State(), tail)
}
