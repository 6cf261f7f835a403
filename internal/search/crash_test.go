package search

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"errorkb/internal/kb"
)

// childEnv makes the test binary build an index in another process and stop
// at a step.
const childEnv = "KB_SEARCH_TEST_CHILD"

func TestMain(m *testing.M) {
	if at := os.Getenv(childEnv); at != "" {
		child(os.Getenv(childEnv+"_DIR"), at)
	}
	os.Exit(m.Run())
}

// child builds until the step, says so on standard output, and waits to be
// killed or for the end of its input.
func child(dir, at string) {
	step = func(name string) {
		if name == at {
			fmt.Println("reached", name)
			bufio.NewReader(os.Stdin).ReadByte()
			os.Exit(1)
		}
	}
	_, err := Open(context.Background(), dir, childSet(), nil)
	fmt.Println("opened without stopping:", err)
	os.Exit(2)
}

// childSet is another set than testSet.
func childSet() *kb.Set {
	var records []*kb.Record
	for n := range 200 {
		records = append(records, made(n, "acme/child", fmt.Sprintf("child-%d", n), fmt.Sprintf("deadlock number %d", n), func(r *kb.Record) {}))
	}
	return kb.NewSetOf(records...)
}

// A build that is killed with SIGKILL at any step leaves a directory that the
// next open makes healthy.
func TestKilledBuild(t *testing.T) {
	set := testSet(t)
	for _, at := range []string{"created", "half", "built", "stamped", "between", "renamed"} {
		t.Run(at, func(t *testing.T) {
			dir := t.TempDir()
			close(t, open(t, dir, set))
			before := files(t, dir)
			buildAndKill(t, dir, at)
			if files(t, dir) == before {
				t.Error("the child was not in the middle of a build")
			}
			x := open(t, dir, set)
			defer close(t, x)
			checkWorks(t, x, set)
			if swapped := at == "between" || at == "renamed"; x.Rebuilt() != swapped {
				t.Errorf("rebuilt %t, want %t", x.Rebuilt(), swapped)
			}
			other := childSet()
			next := open(t, dir, other)
			defer close(t, next)
			if r := find(t, next, kb.Query{Text: "deadlock number 7"}); len(r.Hits) == 0 || r.Hits[0].Slug != "child-7" {
				t.Errorf("the next set: %+v", r)
			}
			if after := files(t, dir); strings.Contains(after, ".new") || strings.Contains(after, ".old") {
				t.Errorf("files left over: %s", after)
			}
		})
	}
}

func buildAndKill(t *testing.T, dir, at string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+at, childEnv+"_DIR="+dir)
	in, err := cmd.StdinPipe() // its end stops the child should this process die
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	cmd.Process.Kill()
	cmd.Wait() // says that it was killed
	if err != nil || !strings.HasPrefix(line, "reached") {
		t.Fatalf("at %s: child says %q, %v", at, line, err)
	}
}
