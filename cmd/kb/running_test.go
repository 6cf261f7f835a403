package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
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
