package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"errorkb/internal/runtime/daytona/client"
	"errorkb/internal/runtime/fixture"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(runVariable); dir != "" {
		fmt.Fprintln(os.Stderr, runUntilKilled(dir))
		os.Exit(1)
	}
	os.Exit(fixture.CheckLeaks(m.Run))
}

// limit bounds what a test waits for.
const limit = 30 * time.Second

// begin starts a service and a client of it. Both are gone when the test ends,
// and no file is left.
func begin(t *testing.T, o Options) (*Service, *client.Client) {
	t.Helper()
	o.Dir = t.TempDir()
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	c := client.New(client.Options{URL: s.URL(), Key: s.Key(), ConnectTimeout: limit, PollInterval: time.Millisecond})
	t.Cleanup(func() {
		c.Close()
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if left, _ := os.ReadDir(o.Dir); len(left) > 0 {
			t.Errorf("the service left %v", left)
		}
	})
	return s, c
}

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}

func created(t *testing.T, c *client.Client) *client.Sandbox {
	t.Helper()
	b, err := c.Create(bounded(t), client.CreateParams{Labels: map[string]string{"who": "test"}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantError(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || err.Error() != text {
		t.Errorf("got error %v, want %s", err, text)
	}
}

func TestLife(t *testing.T) {
	ctx := bounded(t)
	s, c := begin(t, Options{})
	b := created(t, c)
	if b.ID() != "sandbox-1" || b.State() != "started" || b.Data().Labels["who"] != "test" {
		t.Errorf("created %+v", b.Data())
	}
	home, err := b.HomeDir(ctx)
	must(t, err)
	if home != s.Home(b.ID()) {
		t.Errorf("home is %s", home)
	}
	wantError(t, b.Archive(ctx), "Sandbox sandbox-1 is not stopped")
	wantError(t, b.Recover(ctx), "Sandbox sandbox-1 is not in a recoverable error state")
	must(t, b.Stop(ctx))
	_, err = b.Execute(ctx, "true", "", 0)
	wantError(t, err, "Sandbox sandbox-1 is not started: it is stopped")
	must(t, b.SetAutoDelete(ctx, 60))
	must(t, b.Archive(ctx))
	must(t, b.Start(ctx))
	must(t, b.SetTimeToLive(ctx, 5))
	if b.Data().AutoDestroyAt == nil {
		t.Error("no time of destruction")
	}
	must(t, s.SetState(b.ID(), "error", "disk full", true))
	must(t, b.Refresh(ctx))
	if d := b.Data(); d.State != "error" || *d.ErrorReason != "disk full" || !d.Recoverable {
		t.Errorf("broken %+v", d)
	}
	wantError(t, b.Start(ctx), "Sandbox sandbox-1 cannot be started: it is in the state error")
	must(t, b.Recover(ctx))
	if _, err = b.Execute(ctx, "true", "", 0); err != nil {
		t.Errorf("after recovery: %v", err)
	}
	must(t, b.Delete(ctx))
	err = b.Refresh(ctx)
	wantError(t, err, "Sandbox with ID sandbox-1 not found")
	if !client.NotFound(err) || len(s.Sandboxes()) != 0 || s.Home("sandbox-1") != "" {
		t.Error("the sandbox is not gone")
	}
	other := client.New(client.Options{URL: s.URL(), Key: "wrong"})
	defer other.Close()
	_, err = other.Get(ctx, "sandbox-1")
	wantError(t, err, "Unauthorized")
	_, err = c.Create(ctx, client.CreateParams{Image: "a", Snapshot: "b"})
	wantError(t, err, "Cannot specify a snapshot when using a build info entry")
	var ops []string
	for _, call := range s.Calls() {
		ops = append(ops, call.Operation)
	}
	if !slices.Contains(ops, "sandbox.delete") || ops[0] != "sandbox.create" {
		t.Errorf("calls are %v", ops)
	}
}

func TestExecute(t *testing.T) {
	ctx := bounded(t)
	s, c := begin(t, Options{})
	b := created(t, c)
	got, err := b.Execute(ctx, `echo out; echo err >&2; cd /; pwd; exit 7`, "", 0)
	must(t, err)
	if got.ExitCode != 7 || got.Result != "out\nerr\n/\n" {
		t.Errorf("got %+v", got)
	}
	got, err = b.Execute(ctx, `pwd; kill -9 $$`, "/tmp", 0)
	must(t, err)
	if got.ExitCode != 137 || got.Result != "/tmp\n" {
		t.Errorf("got %+v", got)
	}
	_, err = b.Execute(ctx, `sleep 1000 & sleep 1000`, "", time.Second)
	if wantError(t, err, "command execution timeout"); !client.TimedOut(err) {
		t.Error("is no time-out")
	}
	if _, err = b.Execute(ctx, "true", "/nosuch", 0); err == nil {
		t.Error("ran in a directory that is not there")
	}
	// A program that leaves its group, and one that keeps the output open.
	got, err = b.Execute(ctx, `setsid sleep 1000 >/dev/null 2>&1 & sleep 1000 & echo started`, "", 0)
	must(t, err)
	if got.Result != "started\n" {
		t.Errorf("got %+v", got)
	}
	if n := programs(s, b.ID()); n < 2 {
		t.Fatalf("only %d programs were left in the background", n)
	}
	must(t, b.Stop(ctx))
	if n := programs(s, b.ID()); n != 0 {
		t.Errorf("%d programs outlived their sandbox", n)
	}
	must(t, b.Start(ctx))
	gone, cancel := context.WithCancel(ctx)
	result := make(chan error, 1)
	go func() {
		_, err := b.Execute(gone, "echo $$ > started; sleep 1000", "", 0)
		result <- err
	}()
	waitFile(t, filepath.Join(s.Home(b.ID()), "started"))
	cancel()
	if err := <-result; err == nil {
		t.Error("no error for a command that was given up")
	}
	must(t, s.WaitCall(ctx, "toolbox.execute", 6))
	if n := programs(s, b.ID()); n != 0 {
		t.Errorf("%d programs outlived their client", n)
	}
}

// programs counts the processes of a sandbox.
func programs(s *Service, id string) int {
	b, err := s.find(id)
	if err != nil {
		return 0
	}
	names, _ := filepath.Glob("/proc/[0-9]*/environ")
	n := 0
	for _, name := range names {
		if marked(name, markVariable+"="+b.mark) {
			n++
		}
	}
	return n
}

// waitFile waits until a file has content.
func waitFile(t *testing.T, name string) {
	t.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); <-ticker.C {
		if data, err := os.ReadFile(name); err == nil && len(data) > 0 {
			return
		}
	}
	t.Fatalf("%s did not appear", name)
}

func TestSession(t *testing.T) {
	ctx := bounded(t)
	_, c := begin(t, Options{})
	b := created(t, c)
	must(t, b.CreateSession(ctx, "s1"))
	wantError(t, b.CreateSession(ctx, "s1"), "session already exists")
	run := func(text string) (string, string, int) {
		t.Helper()
		id, err := b.StartCommand(ctx, "s1", text)
		must(t, err)
		var out, errs strings.Builder
		must(t, b.FollowCommand(ctx, "s1", id, func(stream string, chunk []byte) {
			if stream == "stderr" {
				errs.Write(chunk)
			} else {
				out.Write(chunk)
			}
		}))
		code, err := b.CommandExit(ctx, "s1", id)
		must(t, err)
		if code == nil {
			t.Fatal("no exit code after the end of the log")
		}
		logs, err := b.CommandOutput(ctx, "s1", id)
		must(t, err)
		if logs.Stdout != out.String() || logs.Stderr != errs.String() {
			t.Errorf("followed %q %q, read %+v", out.String(), errs.String(), logs)
		}
		return out.String(), errs.String(), *code
	}
	if out, errs, code := run("mkdir -p d; cd d; echo out; echo err >&2; false"); out != "out\n" || errs != "err\n" || code != 1 {
		t.Errorf("got %q %q %d", out, errs, code)
	}
	if out, _, _ := run("basename \"$PWD\""); out != "d\n" {
		t.Errorf("the session forgot its directory: %q", out)
	}
	if out, _, code := run("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done"); len(out) < 200000 || code != 0 {
		t.Errorf("got %d bytes and %d", len(out), code)
	}
	if _, _, code := run("exit 9"); code != 9 {
		t.Errorf("exit of the shell gave %d", code)
	}
	_, err := b.StartCommand(ctx, "s1", "true")
	wantError(t, err, "The shell of the session has ended")
	must(t, b.DeleteSession(ctx, "s1"))
	wantError(t, b.DeleteSession(ctx, "s1"), "session not found")
	must(t, b.CreateSession(ctx, "s1"))
	id, err := b.StartCommand(ctx, "s1", "sleep 1000")
	must(t, err)
	followed := make(chan error, 1)
	go func() { followed <- b.FollowCommand(ctx, "s1", id, func(string, []byte) {}) }()
	must(t, b.DeleteSession(ctx, "s1"))
	<-followed
}

// screen collects what a terminal shows.
type screen struct {
	data chan []byte
	all  bytes.Buffer
}

func newScreen() *screen { return &screen{data: make(chan []byte, 1<<16)} }

func (x *screen) add(data []byte) { x.data <- bytes.Clone(data) }

// until waits for a text and returns what came before it.
func (x *screen) until(t *testing.T, text string) string {
	t.Helper()
	after := time.After(limit)
	for {
		if before, rest, found := bytes.Cut(x.all.Bytes(), []byte(text)); found {
			result := string(before)
			rest = bytes.Clone(rest)
			x.all.Reset()
			x.all.Write(rest)
			return result
		}
		select {
		case data := <-x.data:
			x.all.Write(data)
		case <-after:
			t.Fatalf("no %q in %q", text, x.all.String())
		}
	}
}

func terminalOf(t *testing.T, b *client.Sandbox, id string) (*client.Terminal, *screen) {
	t.Helper()
	x := newScreen()
	term, err := b.OpenTerminal(bounded(t), client.TerminalOptions{ID: id, Cols: 120, Rows: 30, OnData: x.add})
	must(t, err)
	t.Cleanup(func() {
		term.Disconnect()
		<-term.Done()
	})
	must(t, term.WaitConnected(bounded(t)))
	return term, x
}

func exitOf(t *testing.T, term *client.Terminal) string {
	t.Helper()
	exit, err := term.Wait(bounded(t))
	must(t, err)
	if exit.Code == nil {
		return "unknown"
	}
	return fmt.Sprint(*exit.Code)
}

func TestTerminal(t *testing.T) {
	for _, shell := range []string{"bash", "dash"} {
		t.Run(shell, func(t *testing.T) {
			ctx := bounded(t)
			s, c := begin(t, Options{Shell: shell})
			b := created(t, c)
			term, x := terminalOf(t, b, "t1")
			must(t, term.Send(ctx, []byte("stty raw -echo; printf 'rea%s' dy; exec cat\r")))
			x.until(t, "ready")
			payload := "a\nb\x00\x03\x04\x1b[0m\xffend"
			must(t, term.Send(ctx, []byte(payload)))
			if before := x.until(t, "end"); before+"end" != payload {
				t.Errorf("came back as %q", before)
			}
			must(t, term.Resize(ctx, 100, 40))
			if s.Terminals(b.ID()) != 1 {
				t.Error("no terminal is counted")
			}
			must(t, term.Kill(ctx))
			if code := exitOf(t, term); code != "137" {
				t.Errorf("killed terminal ended with %s", code)
			}
			wantError(t, term.Send(ctx, []byte("x")), "PTY is not connected")
			if s.Terminals(b.ID()) != 0 {
				t.Error("the terminal is still counted")
			}

			for _, code := range []string{"0", "7", "130"} {
				term, _ := terminalOf(t, b, "code-"+code)
				must(t, term.Send(ctx, []byte("exit "+code+"\r")))
				if got := exitOf(t, term); got != code {
					t.Errorf("exit %s arrived as %s", code, got)
				}
			}
			term, x = terminalOf(t, b, "t2")
			must(t, term.Send(ctx, []byte("stty size; printf '%s-' end; exit\r")))
			if text := x.until(t, "end-"); !strings.Contains(text, "30 120") {
				t.Errorf("the size is not right in %q", text)
			}
			exitOf(t, term)
		})
	}
}

func TestTerminalOutputBeforeEnd(t *testing.T) {
	ctx := bounded(t)
	_, c := begin(t, Options{})
	b := created(t, c)
	term, x := terminalOf(t, b, "t1")
	must(t, term.Send(ctx, []byte("stty raw -echo; printf '<%s>' begin; head -c 3000000 /dev/zero | tr '\\0' x; printf '<%s>' end; exit 3\r")))
	x.until(t, "<begin>")
	if n := len(x.until(t, "<end>")); n != 3000000 {
		t.Errorf("%d bytes arrived", n)
	}
	if code := exitOf(t, term); code != "3" {
		t.Errorf("ended with %s", code)
	}
}

func TestTerminalRefusals(t *testing.T) {
	ctx := bounded(t)
	s, c := begin(t, Options{})
	b := created(t, c)
	term, _ := terminalOf(t, b, "t1")
	_, err := b.OpenTerminal(ctx, client.TerminalOptions{ID: "t1"})
	wantError(t, err, "PTY session with ID t1 already exists")
	if err := term.Send(ctx, make([]byte, maxInput+1)); err != nil {
		t.Fatal(err)
	}
	if code := exitOf(t, term); code != "unknown" {
		t.Errorf("a message over the limit ended with %s", code)
	}
	must(t, s.WaitCall(ctx, "terminal.connect", 0))
	must(t, term.Kill(ctx))
	wantError(t, term.Kill(ctx), "PTY session t1 not found")
}

func TestSlowConsumer(t *testing.T) {
	ctx := bounded(t)
	s, c := begin(t, Options{SlowAfter: 20 * time.Millisecond})
	b := created(t, c)
	read := make(chan struct{})
	term, err := b.OpenTerminal(ctx, client.TerminalOptions{ID: "slow", OnData: func([]byte) { <-read }})
	must(t, err)
	must(t, term.WaitConnected(ctx))
	must(t, term.Send(ctx, []byte("exec cat /dev/zero\r")))
	box, err := s.find(b.ID())
	must(t, err)
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for slow := false; !slow; <-ticker.C {
		if ctx.Err() != nil {
			t.Fatal("the client never counted as slow")
		}
		box.mu.Lock()
		x := box.terminals["slow"]
		box.mu.Unlock()
		x.mu.Lock()
		slow = x.slow
		x.mu.Unlock()
	}
	close(read)
	if code := exitOf(t, term); code != "unknown" {
		t.Errorf("ended with %s", code)
	}
	if s.Terminals(b.ID()) != 1 {
		t.Error("the program ended together with the connection")
	}
}

func TestFiles(t *testing.T) {
	ctx := bounded(t)
	s, c := begin(t, Options{})
	b := created(t, c)
	home := s.Home(b.ID())
	must(t, b.CreateFolder(ctx, home+"/a/b", "755"))
	data := bytes.Repeat([]byte("0123456789\x00\r\n"), 10000)
	must(t, b.Upload(ctx, client.File{Path: home + "/a/b/one", Data: data}, client.File{Path: home + "/new/two ü.txt", Data: []byte("2")}))
	must(t, b.SetMode(ctx, home+"/a/b/one", "600"))
	if info, err := os.Stat(home + "/a/b/one"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode is %v (%v)", info, err)
	}
	files, err := b.Download(ctx, home+"/a/b/one", home+"/nosuch", home+"/new/two ü.txt")
	must(t, err)
	if len(files) != 3 || !bytes.Equal(files[0].Data, data) || files[1].Err != "no such file or directory" || files[1].Path != home+"/nosuch" || string(files[2].Data) != "2" || files[2].Path != home+"/new/two ü.txt" {
		t.Errorf("got %d files: %q %q", len(files), files[1].Err, files[2])
	}
	wantError(t, b.DeleteFile(ctx, home+"/a", false), "cannot delete a directory without the recursive flag")
	must(t, b.DeleteFile(ctx, home+"/a", true))
	for _, name := range []string{"/", "/etc", "/etc/passwd", "..", s.root, "/tmp", "/tmp/x"} {
		if err := b.DeleteFile(ctx, name, true); err == nil || !strings.HasPrefix(err.Error(), "The file API of the sandbox does not reach") {
			t.Errorf("deleting %s: %v", name, err)
		}
	}
}

func TestFaults(t *testing.T) {
	ctx := bounded(t)
	s, c := begin(t, Options{})
	b := created(t, c)
	break_ := func(f Fault) {
		t.Helper()
		must(t, s.Break(f))
	}
	break_(Fault{Operation: "sandbox.stop", Kind: KindStatus, Message: "no", Times: 1})
	wantError(t, b.Stop(ctx), "no")
	must(t, b.Stop(ctx))
	must(t, b.Start(ctx))
	break_(Fault{Operation: "*", Sandbox: "sandbox-1", Kind: KindStatus, Status: 429})
	wantError(t, b.Refresh(ctx), "Internal server error")
	s.Mend("")
	break_(Fault{Operation: "sandbox.get", Kind: KindReset})
	if err := b.Refresh(ctx); err == nil || !strings.HasPrefix(err.Error(), "Request to the Daytona API failed: ") {
		t.Errorf("reset gave %v", err)
	}
	s.Mend("sandbox.get")
	break_(Fault{Operation: "sandbox.get", Kind: KindGarbage})
	wantError(t, b.Refresh(ctx), "The Daytona API answered with something else than JSON: invalid character '<' looking for beginning of value")
	s.Mend("sandbox.get")
	break_(Fault{Operation: "sandbox.get", Kind: KindWrongID, ID: "sandbox-9"})
	other, err := c.Get(ctx, b.ID())
	must(t, err)
	if other.ID() != "sandbox-9" {
		t.Errorf("got %s", other.ID())
	}
	s.Mend("sandbox.get")
	break_(Fault{Operation: "sandbox.get", Kind: KindHang})
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	if err := b.Refresh(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("hang gave %v", err)
	}
	result := make(chan error, 1)
	go func() { result <- b.Refresh(ctx) }()
	s.Mend("sandbox.get")
	if err := <-result; err != nil {
		t.Errorf("after mending: %v", err)
	}
	break_(Fault{Operation: "sandbox.get", Kind: KindHang}) // Close has to end it
	go func() { result <- b.Refresh(ctx) }()
	t.Cleanup(func() {
		s.Close()
		if err := <-result; err == nil {
			t.Error("a service that was closed has answered")
		}
	})
	for _, f := range []Fault{
		{Operation: "nosuch", Kind: KindHang}, {Operation: "sandbox.get", Kind: "nosuch"},
		{Operation: "sandbox.get", Kind: KindSilent}, {Operation: "sandbox.get", Kind: KindWrongID},
	} {
		if s.Break(f) == nil {
			t.Errorf("%+v was accepted", f)
		}
	}
}
