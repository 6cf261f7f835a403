package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"errorkb/internal/kb"
)

// patience bounds every wait of these tests; a wait that ends because of it is
// a failure.
const patience = 60 * time.Second

// running is a kb serve in a process of its own.
type running struct {
	t      *testing.T
	cmd    *exec.Cmd
	url    string // without a slash at the end
	log    chan string
	ended  chan struct{} // closed when the process has ended
	status int           // to be read then

	dataset string // what reloaded saw last
}

// start runs kb serve on a free port and waits until it says where.
func start(t *testing.T, args ...string) *running {
	t.Helper()
	cmd := exec.Command("kb", append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "XDG_CACHE_HOME=")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := &running{t: t, cmd: cmd, log: make(chan string, 10_000), ended: make(chan struct{})}
	logDone := make(chan struct{})
	go func() {
		defer close(logDone)
		defer close(r.log)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			r.log <- lines.Text()
		}
	}()
	first := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(stdout).ReadString('\n')
		first <- line
		<-logDone
		cmd.Wait()
		r.status = cmd.ProcessState.ExitCode()
		close(r.ended)
	}()
	t.Cleanup(func() {
		cmd.Process.Kill() // fails when it has ended
		<-r.ended
	})
	select {
	case line := <-first:
		_, rest, _ := strings.Cut(line, "http://")
		address, _, found := strings.Cut(rest, "/ ")
		if !found {
			<-r.ended
			t.Fatalf("the server did not start: %q, log %q", line, r.lines())
		}
		r.url = "http://" + address
	case <-time.After(patience):
		t.Fatal("the server did not start in time")
	}
	return r
}

// lines is the rest of the log of a process that has ended.
func (r *running) lines() []string {
	var all []string
	for line := range r.log {
		all = append(all, line)
	}
	return all
}

// logged waits for a line of the log that holds a text.
func (r *running) logged(text string) string {
	r.t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case line, ok := <-r.log:
			if !ok {
				r.t.Fatalf("the server ended before it logged %q", text)
			}
			if strings.Contains(line, text) {
				return line
			}
		case <-deadline:
			r.t.Fatalf("the log does not say %q", text)
		}
	}
}

// reloaded waits until another data set than the last one is served.
func (r *running) reloaded() {
	r.t.Helper()
	for {
		var entry struct{ Dataset string }
		line := r.logged("records loaded")
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			r.t.Fatalf("log line %s: %v", line, err)
		}
		if entry.Dataset != r.dataset {
			r.dataset = entry.Dataset
			return
		}
	}
}

func (r *running) signal(s os.Signal) {
	r.t.Helper()
	if err := r.cmd.Process.Signal(s); err != nil {
		r.t.Fatal(err)
	}
}

// stop ends the server politely and gives its exit status.
func (r *running) stop() int {
	r.t.Helper()
	r.signal(syscall.SIGTERM)
	select {
	case <-r.ended:
	case <-time.After(patience):
		r.t.Fatal("the server does not stop")
	}
	return r.status
}

func (r *running) get(address string) (int, string) {
	r.t.Helper()
	response, err := http.Get(r.url + address)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// want fetches an address that must answer 200 with a text.
func (r *running) want(address, text string) {
	r.t.Helper()
	if status, body := r.get(address); status != http.StatusOK || !strings.Contains(body, text) {
		r.t.Fatalf("GET %s: status %d, and no %q in\n%.400s", address, status, text, body)
	}
}

// run runs kb and gives its output and exit status.
func run(t *testing.T, stdin string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	cmd := exec.Command("kb", args...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "XDG_CACHE_HOME=")
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// recordsCopy is a folder of records that a test may change.
func recordsCopy(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "records")
	if err := os.CopyFS(dir, os.DirFS("testdata/records")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// edit replaces a text in a record file.
func edit(t *testing.T, name, old, new string) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(data, []byte(old)) {
		t.Fatalf("no %q in %s", old, name)
	}
	if err := os.WriteFile(name, bytes.Replace(data, []byte(old), []byte(new), 1), 0o644); err != nil {
		t.Fatal(err)
	}
}

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
	r = start(t, "--data", data)
	r.want("/api/search?q=duplex", "ec727a874bad4398")
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
	data := t.TempDir()
	r := start(t, "--data", data)
	entries, err := os.ReadDir(data)
	if err != nil || len(entries) < 3 {
		t.Fatalf("data directory: %v, %v", entries, err)
	}
	for _, entry := range entries {
		if err := os.RemoveAll(filepath.Join(data, entry.Name())); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		r.want("/api/search?q=duplex", "ec727a874bad4398")
		r.want("/errors/", "duplex-channel-capability-denied")
	}
	r.signal(syscall.SIGHUP)
	r.logged("records loaded")
	r.want("/api/search?q=duplex", "ec727a874bad4398")
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
