package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"errorkb/internal/kb"
)

// proveLive asks a server to prove a record.
func (r *running) proveLive(ctx context.Context, id string) *http.Response {
	r.t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+"/api/errors/"+id+"/prove", nil)
	if err != nil {
		r.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { response.Body.Close() })
	return response
}

// liveResult reads a live proof to its end.
func liveResult(t *testing.T, response *http.Response) (stream string, result kb.LiveResult) {
	t.Helper()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	_, last, found := strings.Cut(string(body), "event: result\ndata: ")
	if !found {
		t.Fatalf("status %d, no result in %s", response.StatusCode, body)
	}
	if err := json.Unmarshal([]byte(last), &result); err != nil {
		t.Fatal(err)
	}
	return string(body), result
}

// left lists the processes that a server has started and that are still there,
// and the folders of scenarios in its temporary directory.
func (r *running) left(temporary string) (all []string) {
	r.t.Helper()
	folders, err := filepath.Glob(filepath.Join(temporary, "*"))
	if err != nil {
		r.t.Fatal(err)
	}
	processes, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		r.t.Fatal(err)
	}
	for _, name := range processes {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // ended meanwhile
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(r.cmd.Process.Pid) {
			folders = append(folders, string(text))
		}
	}
	return folders
}

const (
	busyID = "b88bbb5167121ca6" // a worker, channels and a remedy
	slowID = "rpc-call-timed-out-after-ms"
)

func TestLiveProof(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	r := start(t, "--data", t.TempDir(), "--live-proof")
	r.want("/errors/"+busyID, "Prove it now")
	stream, result := liveResult(t, r.proveLive(t.Context(), busyID))
	if !result.Proven || result.Agrees == nil || !*result.Agrees {
		t.Errorf("the result is %+v", result)
	}
	for _, want := range []string{
		`data: {"text":"Acquire lease ` + "`l` of environment `e`" + `","result":"Lease ` + "`lease-1` grants `fx-1`" + `"}`,
		`"text":"DUPLEX_CHANNEL_ROUTE_BUSY"`, `data: {"heading":"Remedy: solution 1","solution":1}`,
	} {
		if !strings.Contains(stream, want) {
			t.Errorf("the stream lacks %s:\n%s", want, stream)
		}
	}
	// Whoever hangs up ends the run, and nothing of it stays.
	ctx, hangUp := context.WithCancel(t.Context())
	lines := bufio.NewScanner(r.proveLive(ctx, slowID).Body)
	for lines.Scan() && !strings.Contains(lines.Text(), "Start the worker") {
	}
	hangUp()
	for {
		response := r.proveLive(t.Context(), busyID)
		if response.StatusCode == http.StatusOK {
			liveResult(t, response)
			break
		}
		if response.StatusCode != http.StatusConflict {
			t.Fatalf("status %d", response.StatusCode)
		}
	}
	if left := r.left(temporary); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	// So does the end of the server.
	slow := r.proveLive(t.Context(), slowID)
	r.signal(syscall.SIGTERM)
	if _, result := liveResult(t, slow); result.Ended != kb.LiveStopped {
		t.Errorf("the result is %+v", result)
	}
	<-r.ended
	if left, err := filepath.Glob(filepath.Join(temporary, "*")); err != nil || len(left) > 0 || r.status != 0 {
		t.Errorf("left behind: %q (%v), status %d", left, err, r.status)
	}
}

// TestLiveProofOfAFolder proves records of a folder with their own scenarios,
// and those of the folder as it is after a reload.
func TestLiveProofOfAFolder(t *testing.T) {
	records := t.TempDir()
	if out, stderr, status := run(t, "", "export", "--out", records); status != 0 {
		t.Fatalf("export: %s%s", out, stderr)
	}
	r := start(t, "--data", t.TempDir(), "--live-proof", "--records", records)
	response := r.proveLive(t.Context(), "environment-is-not-active")
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusNotFound || !strings.Contains(string(body), "/problems/no-scenario/") {
		t.Errorf("without a scenario: %d %s, %v", response.StatusCode, body, err)
	}
	scenario := filepath.Join(records, "paperclipai", "paperclip", "scenarios", "environment-is-not-active.json")
	if err := os.MkdirAll(filepath.Dir(scenario), 0o755); err != nil {
		t.Fatal(err)
	}
	const archived = `{"schemaVersion": 1, "title": "An archived environment is acquired", "values": {"name": "Staging"},
		"steps": [{"do": "environment", "environment": "e", "driver": "local", "name": "Staging", "status": "archived"}],
		"fails": {"do": "acquire", "environment": "e", "lease": "l"},
		"remedies": [{"solution": 1, "steps": [{"do": "environment", "environment": "e", "driver": "local", "name": "Staging"}]}]}`
	for text, want := range map[string]bool{archived: true, strings.Replace(archived, `"archived"}]`, `"active"}]`, 1): false} {
		if err := os.WriteFile(scenario, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		r.signal(syscall.SIGHUP)
		r.logged("records loaded")
		if _, result := liveResult(t, r.proveLive(t.Context(), "environment-is-not-active")); result.Proven != want || result.Agrees != nil || (len(result.Problems) == 0) != want {
			t.Errorf("proven %v is wanted, the result is %+v", want, result)
		}
	}
	// A scenario with mistakes leaves the old ones serving and says why.
	if err := os.WriteFile(scenario, []byte(`{"schemaVersion": 1, "steps": [{"do": "melt"}]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	r.signal(syscall.SIGHUP)
	if line := r.logged("records not loaded"); !strings.Contains(line, "environment-is-not-active.json") || !strings.Contains(line, `unknown verb \"melt\"`) {
		t.Errorf("the log says %s", line)
	}
	r.want("/readyz", `"ready"`)
}
