package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"errorkb/internal/kb"
)

// However a load is cut short, the next start is healthy.
func TestKillDuringLoad(t *testing.T) {
	records := filepath.Join(t.TempDir(), "records")
	writeMany(t, records, 300)
	data := t.TempDir()
	kills := 0
	for events := 1; events < 40; events += 6 {
		if killAt(t, records, data, events) {
			kills++
		}
		if events%12 == 1 { // from an empty directory too
			if err := os.RemoveAll(filepath.Join(data, "kb.sqlite")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if kills < 3 {
		t.Fatalf("only %d kills fell into the load", kills)
	}
	r := start(t, "--data", data, "--records", records)
	r.want("/readyz", `"ready"`)
	r.want("/api/errors?limit=1", `"total":300`)
	r.want("/api/search?q=case+299", fmt.Sprintf("%016x", 300))
	for _, pattern := range []string{"*.tmp*", "*.new*"} {
		if left, _ := filepath.Glob(filepath.Join(data, pattern)); len(left) > 0 {
			t.Errorf("rubbish of the killed loads is still there: %q", left)
		}
	}
}

// killAt starts a server and kills it after a number of changes in its data
// directory. It reports whether the kill came before the server was ready.
func killAt(t *testing.T, records, data string, events int) bool {
	t.Helper()
	watch, err := fsnotify.NewWatcher()
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Close()
	if err := watch.Add(data); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("kb", "serve", "--addr", "127.0.0.1:0", "--data", data, "--records", records)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan bool, 1)
	go func() {
		_, err := bufio.NewReader(stdout).ReadString('\n')
		ready <- err == nil
	}()
	early := true
	deadline := time.After(patience)
	for seen := 0; seen < events && early; {
		select {
		case <-watch.Events:
			seen++
		case started := <-ready:
			early = false
			ready <- started
		case <-deadline:
			t.Fatal("nothing happens in the data directory")
		}
	}
	cmd.Process.Kill()
	started := <-ready
	cmd.Wait()
	return early && !started
}

// writeMany writes n records that differ in id, slug and message.
func writeMany(t *testing.T, dir string, n int) {
	t.Helper()
	data, err := os.ReadFile("testdata/records/acme/tools/port-in-use.json")
	if err != nil {
		t.Fatal(err)
	}
	records := make([]*kb.Record, n)
	for i := range records {
		var r kb.Record
		if err := json.Unmarshal(data, &r); err != nil {
			t.Fatal(err)
		}
		r.ID = fmt.Sprintf("%016x", i+1)
		r.Slug = fmt.Sprintf("case-%d", i)
		r.ErrorCode = nil
		r.ErrorMessage = fmt.Sprintf("port ${port} is taken by case %d of many", i)
		r.MessagePattern = fmt.Sprintf("port (?P<port>[0-9]+) is taken by case %d of many", i)
		r.Examples.Match = []string{fmt.Sprintf("port 8080 is taken by case %d of many", i)}
		records[i] = &r
	}
	if _, err := writeRecords(dir, records, false); err != nil {
		t.Fatal(err)
	}
}

func sortedLines(text string) string {
	return strings.Join(slices.Sorted(strings.Lines(text)), "")
}
