package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"errorkb/internal/kb"
)

func TestServe(t *testing.T) {
	data := filepath.Join(t.TempDir(), "deep", "data")
	r := start(t, "--data", data)
	r.want("/", "<title>")
	r.want("/readyz", `"ready"`)
	r.want("/api/errors/ec727a874bad4398", `{"record":{`)
	r.want("/api/search?q=duplex", "ec727a874bad4398")
	info, err := os.Stat(data)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("data directory: %v, %v", info.Mode(), err)
	}
	if status := r.stop(); status != 0 {
		t.Errorf("status %d after SIGTERM", status)
	}

	// The next start finds everything in place.
	before, err := os.Stat(filepath.Join(data, "kb.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	diagnosis, err := os.Stat(filepath.Join(data, engineFile))
	if err != nil {
		t.Fatal(err)
	}
	r = start(t, "--data", data)
	r.want("/api/search?q=duplex", "ec727a874bad4398")
	if again, err := os.Stat(filepath.Join(data, engineFile)); err != nil || !os.SameFile(diagnosis, again) {
		t.Errorf("the second start worked the diagnosis out again (%v)", err)
	}
	after, err := os.Stat(filepath.Join(data, "kb.sqlite"))
	if err != nil || !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
		t.Errorf("the second start built the database again (%v)", err)
	}
	r.signal(os.Interrupt)
	<-r.ended
	if r.status != 0 {
		t.Errorf("status %d after SIGINT", r.status)
	}
}

// A damaged file of the diagnosis is said in the log and replaced.
func TestServeMendsTheDiagnosis(t *testing.T) {
	data := t.TempDir()
	r := start(t, "--data", data, "--records", "testdata/records")
	r.stop()
	name := filepath.Join(data, engineFile)
	file, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	file[len(file)/2] ^= 1
	if err := os.WriteFile(name, file, 0o600); err != nil {
		t.Fatal(err)
	}
	r = start(t, "--data", data, "--records", "testdata/records")
	r.logged("the file of the diagnosis is not used")
	response, err := http.Post(r.url+"/api/diagnose", "text/plain", strings.NewReader("port 80 is taken by another process"))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil || !strings.Contains(string(body), "2222222222222222") {
		t.Errorf("answer %s, %v", body, err)
	}
	r.stop()
	mended, err := os.ReadFile(name)
	if err != nil || bytes.Equal(mended, file) {
		t.Errorf("the file is as it was (%v)", err)
	}
}

func TestServeUnderAPath(t *testing.T) {
	r := start(t, "--data", t.TempDir(), "--base-path", "/deep/kb", "--site-name", "Acme errors")
	if !strings.HasSuffix(r.url, "/deep/kb") {
		t.Fatalf("address %q", r.url)
	}
	r.want("/", "Acme errors")
	r.want("/api/errors/ec727a874bad4398", `"url":"/deep/kb/errors/`)
}

// Page, API and command give the same bytes.
func TestFacesAgree(t *testing.T) {
	const records = "testdata/records"
	r := start(t, "--data", t.TempDir(), "--records", records)
	pastes := []string{
		"acme: config file \"app.toml\" was not found in /etc/acme",
		"x\r\n\x1b[31mError: the service could not be started: port 80 is taken by another process\x1b[0m\n",
		`{"level":"error","msg":"config file \"a.toml\" was not found in /srv"}`,
		"port 80 is tak", "E_PORT", "nothing of ours", "", "\xff\x00\xfe", strings.Repeat("port 1 is taken by another process\n", 100),
	}
	for _, paste := range pastes {
		response, err := http.Post(r.url+"/api/diagnose", "text/plain", strings.NewReader(paste))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("POST %q: %d, %v", paste, response.StatusCode, err)
		}
		if out, _, _ := run(t, paste, "diagnose", "--json", "--records", records, "-"); out != string(body) {
			t.Errorf("diagnosis of %.40q: command\n%s\nAPI\n%s", paste, out, body)
		}
	}
	for _, id := range []string{"1111111111111111", "4444444444444444"} {
		_, body := r.get("/api/errors/" + id)
		if out, _, _ := run(t, "", "explain", "--json", "--records", records, id); out != body {
			t.Errorf("record %s: command\n%s\nAPI\n%s", id, out, body)
		}
	}
	for _, words := range []string{"config folder", "start", "zzz", `"+(`} {
		_, body := r.get("/api/search?q=" + url.QueryEscape(words))
		if out, _, _ := run(t, "", "search", "--json", "--records", records, words); out != body {
			t.Errorf("search %q: command\n%s\nAPI\n%s", words, out, body)
		}
	}
	_, lines := r.get("/api/dataset.jsonl")
	out, _, _ := run(t, "", "export", "--records", records)
	if sortedLines(out) != sortedLines(lines) {
		t.Errorf("export\n%s\nAPI\n%s", out, lines)
	}
}

func TestReloadOnHangup(t *testing.T) {
	records := recordsCopy(t)
	r := start(t, "--data", t.TempDir(), "--records", records)
	name := filepath.Join(records, "acme", "tools", "port-in-use.json")
	edit(t, name, "Another process listens on the port.", "Somebody else listens on the port.")
	r.signal(syscall.SIGHUP)
	r.logged("records loaded")
	r.want("/api/errors/2222222222222222", "Somebody else listens")
	r.want("/api/search?q=somebody", "2222222222222222")

	// A bad set leaves the old one serving and says why.
	edit(t, name, `"slug": "port-in-use"`, `"slug": "PORT"`)
	r.signal(syscall.SIGHUP)
	if line := r.logged(`"finding"`); !strings.Contains(line, "acme/tools/port-in-use.json:5:") {
		t.Errorf("the log does not name the place: %s", line)
	}
	r.logged("records not loaded, the old ones are served on")
	r.want("/api/errors/2222222222222222", "Somebody else listens")
	r.want("/readyz", "nothing loaded from")

	edit(t, name, `"slug": "PORT"`, `"slug": "port-in-use"`)
	r.signal(syscall.SIGHUP)
	r.logged("records loaded")
}

func TestReloadOfEvidence(t *testing.T) {
	records := recordsCopy(t)
	r := start(t, "--data", t.TempDir(), "--records", records)
	r.want("/proof/", "These records come without evidence")
	name := filepath.Join(records, kb.EvidenceFile)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		r.signal(syscall.SIGHUP)
	}
	write(`{"schemaVersion": 1, "places": [{"file": "duplex/table.go", "line": 1, "message": "a message of evidence"}]}`)
	r.logged("records loaded")
	r.want("/proof/", "a message of evidence")
	r.want("/source/duplex/table.go", "a message of evidence")

	// A file that is no evidence leaves the old one serving and says why.
	write(`{"schemaVersion": 1, "rekords": []}`)
	if line := r.logged(`"finding"`); !strings.Contains(line, "evidence.json") || !strings.Contains(line, "rekords") {
		t.Errorf("the log does not name the mistake: %s", line)
	}
	r.want("/proof/", "a message of evidence")
}

func TestWatch(t *testing.T) {
	records := recordsCopy(t)
	r := start(t, "--data", t.TempDir(), "--records", records, "--watch")
	name := filepath.Join(records, "acme", "tools", "port-in-use.json")
	edit(t, name, "Another process listens on the port.", "Somebody else listens on the port.")
	r.reloaded()
	r.want("/api/errors/2222222222222222", "Somebody else listens")

	// A record in a folder that is new, and a change of it there.
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	fresh := filepath.Join(records, "acme", "other", "disk-full.json")
	if err := os.MkdirAll(filepath.Dir(fresh), 0o755); err != nil {
		t.Fatal(err)
	}
	other := strings.NewReplacer("2222222222222222", "9999999999999999", "acme/tools", "acme/other", "port-in-use", "disk-full",
		"port ${port} is taken", "disk ${port} is taken", "port (?P", "disk (?P", "port 8080 is", "disk 8080 is", "E_PORT", "E_DISK").Replace(string(text))
	if err := os.WriteFile(fresh, []byte(other), 0o644); err != nil {
		t.Fatal(err)
	}
	r.reloaded()
	r.want("/api/errors/9999999999999999", "Somebody else listens")
	edit(t, fresh, "Somebody else listens on the port.", "The disk is not free.")
	r.reloaded()
	r.want("/api/errors/9999999999999999", "The disk is not free")

	// A folder that goes away, and comes back.
	away := filepath.Join(filepath.Dir(records), "away")
	if err := os.Rename(records, away); err != nil {
		t.Fatal(err)
	}
	r.logged("watching failed")
	r.want("/api/errors/9999999999999999", "The disk is not free")
	if err := os.RemoveAll(filepath.Join(away, "acme", "other")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(away, records); err != nil {
		t.Fatal(err)
	}
	r.reloaded()
	if status, _ := r.get("/api/errors/9999999999999999"); status != http.StatusNotFound {
		t.Errorf("the removed record answers %d", status)
	}
}

func TestServeRefusesWhatIsTaken(t *testing.T) {
	data := t.TempDir()
	r := start(t, "--data", data)
	_, stderr, status := run(t, "", "serve", "--addr", "127.0.0.1:0", "--data", data)
	if status != 1 || !strings.Contains(stderr, "is in use by another kb (process "+fmt.Sprint(r.cmd.Process.Pid)+")") {
		t.Errorf("same data directory: status %d, %s", status, stderr)
	}
	address := strings.TrimPrefix(r.url, "http://")
	_, stderr, status = run(t, "", "serve", "--addr", address, "--data", t.TempDir())
	want := "kb: address " + address + " is in use by another program\n  stop that one, or name another address with --addr HOST:PORT\n"
	if status != 1 || stderr != want {
		t.Errorf("same address: status %d, %s", status, stderr)
	}
	r.want("/", "<title>")
}

func TestServeWithoutItsData(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	r := start(t, "--data", data)
	entries, err := os.ReadDir(data)
	if err != nil || len(entries) < 3 {
		t.Fatalf("data directory: %v, %v", entries, err)
	}
	if err := os.RemoveAll(data); err != nil { // with its lock
		t.Fatal(err)
	}
	for range 3 {
		r.want("/api/search?q=duplex", "ec727a874bad4398")
		r.want("/errors/ec727a874bad4398", "duplex-channel-capability-denied")
	}
	r.signal(syscall.SIGHUP)
	r.logged("records loaded")
	r.want("/api/search?q=duplex", "ec727a874bad4398")
	if _, stderr, status := run(t, "", "serve", "--addr", "127.0.0.1:0", "--data", data); status != 1 || !strings.Contains(stderr, "in use by another kb") {
		t.Errorf("a second server on the directory made anew: status %d, %s", status, stderr)
	}
	r.stop()
	start(t, "--data", data).want("/api/search?q=duplex", "ec727a874bad4398")
}

// A server whose log nobody reads any more goes on.
func TestServeWithoutAReader(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("kb", "serve", "--addr", "127.0.0.1:0", "--data", t.TempDir())
	cmd.Stdout, cmd.Stderr = write, write
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
	}()
	line, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	read.Close()
	_, rest, _ := strings.Cut(line, "http://")
	address, _, _ := strings.Cut(rest, "/")
	for range 5 {
		response, err := http.Get("http://" + address + "/healthz")
		if err != nil {
			t.Fatalf("the server ended with its log: %v", err)
		}
		response.Body.Close()
	}
}
