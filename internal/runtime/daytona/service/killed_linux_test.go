package service

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"errorkb/internal/runtime/daytona/client"
)

// runVariable makes this test binary run a service with programs in a sandbox.
const runVariable = "RUN_DAYTONA_SERVICE_IN"

// runUntilKilled starts a service with a command, a session and a terminal,
// and prints the mark of the sandbox once all of them run.
func runUntilKilled(dir string) error {
	s, err := Start(Options{Dir: dir})
	if err != nil {
		return err
	}
	ctx := context.Background()
	b, err := client.New(client.Options{URL: s.URL(), Key: s.Key()}).Create(ctx, client.CreateParams{})
	if err != nil {
		return err
	}
	go b.Execute(ctx, "echo >one; exec sleep 1000", "", 0)
	if err := b.CreateSession(ctx, "s"); err != nil {
		return err
	}
	term, err := b.OpenTerminal(ctx, client.TerminalOptions{ID: "t"})
	if err == nil {
		err = term.WaitConnected(ctx)
	}
	if err == nil {
		err = term.Send(ctx, []byte("echo >two; trap '' HUP; exec sleep 1000\r"))
	}
	if err != nil {
		return err
	}
	for _, name := range []string{"one", "two"} {
		for {
			if _, err := os.Stat(filepath.Join(s.Home(b.ID()), name)); err == nil {
				break
			}
			<-time.After(time.Millisecond)
		}
	}
	box, _ := s.find(b.ID())
	fmt.Println(box.mark)
	select {}
}

// TestKilled kills a service that has no time to end its programs.
func TestKilled(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), runVariable+"="+t.TempDir())
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	line := bufio.NewScanner(out)
	if !line.Scan() {
		t.Fatal("the service did not start")
	}
	entry := markVariable + "=" + line.Text()
	count := func() int {
		names, _ := filepath.Glob("/proc/[0-9]*/environ")
		n := 0
		for _, name := range names {
			if marked(name, entry) {
				n++
			}
		}
		return n
	}
	if n := count(); n < 3 {
		t.Errorf("only %d programs run", n)
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(limit); count() > 0; <-ticker.C {
		if time.Now().After(deadline) {
			t.Fatalf("%d programs are left", count())
		}
	}
}
