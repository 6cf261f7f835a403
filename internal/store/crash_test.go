package store

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// childEnv makes the test binary play a part in another process: "load" opens
// a directory and stops at a step, "lock" holds a lock.
const childEnv = "KB_STORE_TEST_CHILD"

func TestMain(m *testing.M) {
	if part := os.Getenv(childEnv); part != "" {
		child(part, os.Getenv(childEnv+"_DIR"), os.Getenv(childEnv+"_STEP"))
	}
	os.Exit(m.Run())
}

// child does its part, says so on standard output, and waits to be killed or
// for the end of its input.
func child(part, dir, at string) {
	waitForEnd := func() {
		bufio.NewReader(os.Stdin).ReadByte()
		os.Exit(1)
	}
	switch part {
	case "load":
		step = func(name string) {
			if name == at {
				fmt.Println("reached", name)
				waitForEnd()
			}
		}
		_, err := Open(context.Background(), dir, largeSet(200))
		fmt.Println("opened without stopping:", err)
	case "lock":
		_, err := LockDir(dir)
		fmt.Println("reached", err)
		waitForEnd()
	}
	os.Exit(2)
}

// startChild runs this test binary in a part until it has said "reached …",
// and returns how to kill it.
func startChild(t *testing.T, part, dir, at string) (pid int, said string, kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+part, childEnv+"_DIR="+dir, childEnv+"_STEP="+at)
	in, err := cmd.StdinPipe() // its end stops the child should this process die
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() {
		cmd.Process.Kill()
		cmd.Wait() // says that it was killed
		in.Close()
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "reached") {
		kill()
		t.Fatalf("%s at %s: child says %q, %v", part, at, line, err)
	}
	return cmd.Process.Pid, strings.TrimSpace(line), kill
}

// A load that is killed with SIGKILL at any step leaves a directory that the
// next open makes healthy, and that keeps no file of the dead one.
func TestKilledLoad(t *testing.T) {
	for _, existing := range []bool{false, true} {
		for _, at := range []string{"created", "half", "loaded", "summed", "renamed"} {
			t.Run(fmt.Sprintf("%s,existing=%t", at, existing), func(t *testing.T) {
				dir := t.TempDir()
				set := smallSet()
				if existing {
					close(t, open(t, dir, set))
				}
				_, _, kill := startChild(t, "load", dir, at)
				kill()
				if at != "renamed" {
					if _, err := os.Stat(filepath.Join(dir, fileName+".new")); err != nil {
						t.Errorf("the child was not in the middle of a load: %v", err)
					}
				}
				s := open(t, dir, set)
				defer close(t, s)
				if existing && at != "renamed" && s.Rebuilt() {
					t.Error("the old database was lost")
				}
				checkWhole(t, s, set)
				large := largeSet(200)
				next := open(t, dir, large)
				defer close(t, next)
				checkWhole(t, next, large)
				if files := strings.Count(snapshot(t, dir), "\n"); files != 2 {
					t.Errorf("files left over:\n%s", snapshot(t, dir))
				}
			})
		}
	}
}

func TestLockDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "data")
	pid, said, kill := startChild(t, "lock", dir, "")
	if said != "reached <nil>" {
		kill()
		t.Fatalf("child: %s", said)
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("directory: %v, %v, want private", info.Mode(), err)
	}
	_, err = LockDir(dir)
	if err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), fmt.Sprintf("(process %d)", pid)) ||
		!strings.Contains(err.Error(), "stop that one or choose another data directory") {
		t.Errorf("second lock: %v, want the directory, process %d and what to do", err, pid)
	}
	kill()
	lock, err := LockDir(dir)
	if err != nil {
		t.Fatalf("after the holder was killed: %v", err)
	}
	if second, err := LockDir(dir); err == nil {
		second.Unlock()
		t.Error("locked twice by one process")
	}
	if err := lock.Unlock(); err != nil {
		t.Error(err)
	}
	lock, err = LockDir(dir)
	if err != nil {
		t.Fatalf("after unlocking: %v", err)
	}
	if err := lock.Unlock(); err != nil {
		t.Error(err)
	}
}

// The lock of a directory that was deleted under its holder keeps nobody from a
// new directory at the same place.
func TestRenewLock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	lock, err := LockDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := lock.Unlock(); err != nil {
			t.Error(err)
		}
	}()
	same := lock.file
	if err := lock.Renew(); err != nil || lock.file != same {
		t.Errorf("nothing to renew: %v, another file %v", err, lock.file != same)
	}
	remove := func() {
		t.Helper()
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	remove()
	if err := lock.Renew(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("directory after renewing: %v, %v, want private", info, err)
	}
	if second, err := LockDir(dir); err == nil {
		second.Unlock()
		t.Error("the renewed lock does not hold")
	}
	remove()
	_, said, kill := startChild(t, "lock", dir, "")
	if said != "reached <nil>" {
		kill()
		t.Fatalf("child: %s", said)
	}
	if err := lock.Renew(); err == nil || !strings.Contains(err.Error(), "in use by another kb") {
		t.Errorf("renewed what another process has: %v", err)
	}
	kill()
	if err := lock.Renew(); err != nil {
		t.Errorf("after the other one ended: %v", err)
	}
}
