//go:build unix

package host_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"errorkb/internal/runtime/environment"
	"errorkb/internal/runtime/fixture"
	"errorkb/internal/runtime/host"
)

const runHost = "HOST_TEST_RUN"

// runAsHost is the process that TestHostKilled kills: a host with a worker and
// open channels, which waits for its death.
func runAsHost() {
	fail := func(err error) {
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	h, err := host.New(host.Config{Dir: os.Getenv(runHost)})
	fail(err)
	h.Plugins.Install(fixture.Plugin("p1"))
	self, err := os.Executable()
	fail(err)
	ctx := context.Background()
	w, err := h.StartWorker(ctx, "p1", commandOf(self))
	fail(err)
	got, err := h.Service.Acquire(ctx, input(fixtureEnv("")))
	fail(err)
	in := environment.LeaseInput{Environment: got.Environment, Lease: got.Lease}
	for range 3 {
		c, err := h.Service.OpenDuplexChannel(ctx, environment.DuplexInput{LeaseInput: in, Command: []string{"cat"}})
		fail(err)
		_, err = c.Write([]byte("x"))
		fail(err)
	}
	fmt.Println(w.Pid())
	select {}
}

// TestHostKilled kills a host with open channels: its workers end with it, and
// its leases are there for the next one.
func TestHostKilled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	process := exec.Command(self)
	process.Env = append(os.Environ(), runHost+"="+dir)
	process.Stderr = os.Stderr
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err := process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = process.Wait()
	if err != nil {
		t.Fatalf("the host said %q", line)
	}
	for deadline := time.Now().Add(20 * time.Second); syscall.Kill(pid, 0) == nil && !zombie(pid); {
		if time.Now().After(deadline) {
			t.Fatalf("the worker %d lives on", pid)
		}
	}
	w := newWorld(t, func(c *host.Config) { c.Dir = dir })
	w.worker()
	l, err := w.Leases.Get("lease-1")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.open(environment.LeaseInput{Environment: fixtureEnv(""), Lease: l}); err != nil {
		t.Errorf("the lease of the killed host: %v", err)
	}
}

func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}
