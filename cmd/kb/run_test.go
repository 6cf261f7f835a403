//go:build unix

package main

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"

	"errorkb/internal/diagnose"
)

// runKB runs kb run with the records of the tests.
func runKB(t *testing.T, stdin string, command ...string) (stdout, stderr string, status int) {
	t.Helper()
	return run(t, stdin, append([]string{"run", "--records", "testdata/records", "--"}, command...)...)
}

// Any bytes, and many of them, pass unchanged in both directions.
func TestRunPassesBytes(t *testing.T) {
	random := rand.NewChaCha8([32]byte{1})
	data := make([]byte, 3<<20)
	random.Read(data)
	out, errs, status := runKB(t, string(data), "sh", "-c", "tee /dev/stderr; exit 5")
	if status != 5 {
		t.Errorf("status %d", status)
	}
	if out != string(data) {
		t.Errorf("%d bytes of output, not those of the %d of input", len(out), len(data))
	}
	said, diagnosis, found := strings.Cut(errs, "\nkb: sh ended with status 5\n")
	if !found || said != string(data) || diagnosis == "" {
		t.Errorf("standard error of %d bytes, diagnosis %q", len(said), diagnosis)
	}
}

func TestRunStatusOfASignal(t *testing.T) {
	for signal, want := range map[string]int{"KILL": 137, "TERM": 143, "INT": 130} {
		_, errs, status := runKB(t, "", "sh", "-c", "echo port 80 is taken by another process; kill -"+signal+" $$")
		if status != want || !strings.Contains(errs, "kb: sh was ended by signal "+strconv.Itoa(want-128)) || !strings.Contains(errs, "Known error") {
			t.Errorf("SIG%s: status %d, %s", signal, status, errs)
		}
	}
}

// What cannot be run is told apart as shells do it.
func TestRunFailures(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return name
	}
	for _, c := range []struct {
		command string
		status  int
		says    string
	}{
		{"", 127, `no command ""`},
		{"no-such-command", 127, `no command "no-such-command"`},
		{dir + "/none", 127, "no command "},
		{file("data", "x", 0o600), 126, "permission denied"},
		{dir, 126, "permission denied"},
		{file("plain", "echo x\n", 0o700), 126, "exec format error"},
		{file("orphan", "#!/no/such/shell\n", 0o700), 126, "the program that its first line names"},
	} {
		out, errs, status := runKB(t, "", c.command)
		if status != c.status || !strings.Contains(errs, c.says) || out != "" {
			t.Errorf("%q: status %d, %s", c.command, status, errs)
		}
	}
}

// A signal to kb reaches the command, whose end counts.
func TestRunPassesSignals(t *testing.T) {
	for _, signal := range []struct {
		name string
		it   syscall.Signal
	}{{"TERM", syscall.SIGTERM}, {"INT", syscall.SIGINT}, {"HUP", syscall.SIGHUP}, {"USR1", syscall.SIGUSR1}} {
		cmd := exec.Command("kb", "run", "sh", "-c", "trap 'kill $!; echo got it; exit 7' "+signal.name+"; sleep 60 & echo ready; wait")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal of ours
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		if line, err := lines.ReadString('\n'); err != nil || line != "ready\n" {
			t.Fatalf("%q, %v", line, err)
		}
		cmd.Process.Signal(signal.it)
		rest, _ := io.ReadAll(lines)
		cmd.Wait()
		if status := cmd.ProcessState.ExitCode(); status != 7 || string(rest) != "got it\n" {
			t.Errorf("SIG%s: status %d, %q", signal.name, status, rest)
		}
	}
}

// A program that stays behind and holds the output open is not waited for, and
// nothing that the command said is lost.
func TestRunLeavesProgramsBehind(t *testing.T) {
	begun := time.Now()
	out, errs, status := runKB(t, "", "sh", "-c", "sleep 60 & echo $!; seq 5000; echo port 80 is taken by another process >&2; exit 3")
	first, rest, _ := strings.Cut(out, "\n")
	if pid, err := strconv.Atoi(first); err != nil || syscall.Kill(pid, syscall.SIGKILL) != nil {
		t.Errorf("process %q: %v", first, err)
	}
	if took := time.Since(begun); took > 50*time.Second {
		t.Errorf("took %v", took)
	}
	if status != 3 || !strings.HasSuffix(rest, "\n4999\n5000\n") || !strings.Contains(errs, "Known error") {
		t.Errorf("status %d, output …%q, %s", status, rest[max(0, len(rest)-30):], errs)
	}
}

// When nobody reads the output any more, the command learns it and ends.
func TestRunWithoutAReader(t *testing.T) {
	cmd := exec.Command("kb", "run", "yes")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	out.Close()
	cmd.Wait()
	if status := cmd.ProcessState.ExitCode(); status != 141 && status != 1 {
		t.Errorf("status %d, %s", status, errs.String())
	}
}

// On a terminal the command has a terminal: for input, output and errors, of
// the same size, with its keys.
func TestRunOnATerminal(t *testing.T) {
	script := "test -t 0 && test -t 1 && test -t 2 && stty size; read x; echo \"got $x\"; exit 4"
	shown := onTerminal(t, 77, []string{"NO_COLOR=1"}, "abc\n", "run", "--records", "testdata/records", "sh", "-c", script)
	if !strings.Contains(shown, "40 77\n") || !strings.Contains(shown, "\ngot abc\n") || !strings.Contains(shown, "kb: sh ended with status 4\n") {
		t.Errorf("the terminal shows:\n%s", shown)
	}
	// Output only.
	shown = onTerminal(t, 77, nil, "", "run", "sh", "-c", "test -t 1 && test -t 2 && ! test -t 0 && stty size <&1")
	if shown != "40 77\n" {
		t.Errorf("the terminal shows:\n%q", shown)
	}
}

// Ctrl-C ends the command, not kb, which has still something to say.
func TestRunInterruptedByAKey(t *testing.T) {
	cmd := exec.Command("kb", "run", "sh", "-c", "trap 'kill $!; echo interrupted; exit 6' INT; sleep 60 & echo ready; wait")
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	terminal, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	lines := bufio.NewReader(terminal)
	if line, err := lines.ReadString('\n'); err != nil || line != "ready\r\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if _, err := terminal.Write([]byte{3}); err != nil {
		t.Fatal(err)
	}
	shown, _ := io.ReadAll(lines) // EIO at the end
	cmd.Wait()
	if status := cmd.ProcessState.ExitCode(); status != 6 || !strings.Contains(string(shown), "interrupted\r\n\r\nkb: sh ended with status 6\r\n") {
		t.Errorf("status %d, the terminal shows:\n%s", status, shown)
	}
}

func TestRunTellsTheNewSize(t *testing.T) {
	cmd := exec.Command("kb", "run", "sh", "-c", "trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.02; done")
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 20, Cols: 50})
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	lines := bufio.NewReader(terminal)
	if line, err := lines.ReadString('\n'); err != nil || line != "ready\r\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if err := pty.Setsize(terminal, &pty.Winsize{Rows: 33, Cols: 99}); err != nil {
		t.Fatal(err)
	}
	if line, err := lines.ReadString('\n'); err != nil || line != "33 99\r\n" {
		t.Errorf("%q, %v", line, err)
	}
	cmd.Wait()
}

// A failed command leaves our terminal as it was.
func TestRunRestoresTheTerminal(t *testing.T) {
	cmd := exec.Command("sh", "-c", "stty -a > \"$1\"; kb run false; kb run no-such-command; stty -a > \"$2\"", "sh", t.TempDir()+"/a", t.TempDir()+"/b")
	terminal, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	io.Copy(io.Discard, terminal) // EIO at the end
	cmd.Wait()
	before, err := os.ReadFile(cmd.Args[4])
	if err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(cmd.Args[5])
	if err != nil || len(before) == 0 || !bytes.Equal(before, after) {
		t.Errorf("the terminal was\n%s\nand is\n%s%v", before, after, err)
	}
}

// The end of the output is kept, with the place where it stood.
func TestTail(t *testing.T) {
	kept := &tail{limit: 100}
	var all strings.Builder
	for i := range 50 {
		line := "line " + strconv.Itoa(i) + " of many\n"
		all.WriteString(line)
		io.WriteString(kept, line)
		if len(kept.kept) > 200 {
			t.Fatalf("%d bytes kept", len(kept.kept))
		}
	}
	text, before := kept.text()
	if !strings.HasSuffix(all.String(), string(text)) || len(text) > 100 || len(text) < 80 {
		t.Errorf("kept %q", text)
	}
	if diff := cmp.Diff(spot{}.after([]byte(all.String()[:all.Len()-len(text)])), before, cmp.AllowUnexported(spot{})); diff != "" || before.column != 0 {
		t.Errorf("place %+v: %s", before, diff)
	}
}

// Two streams that write parts of lines in turn do not get into each other's lines.
func TestLines(t *testing.T) {
	kept := &tail{limit: 1 << 20}
	out, errs := &lines{to: kept}, &lines{to: kept}
	for _, w := range []struct {
		to   *lines
		text string
	}{
		{out, "4318\n43"}, {errs, "port 80 is taken"}, {out, "19\n4320\n"}, {errs, " by another process\nand"}, {out, "last"},
		{errs, strings.Repeat(" on", longLine)}, {errs, " and on"},
	} {
		if n, err := io.WriteString(w.to, w.text); n != len(w.text) || err != nil {
			t.Fatal(n, err)
		}
	}
	out.end()
	errs.end()
	text, _ := kept.text()
	want := "4318\n4319\n4320\nport 80 is taken by another process\nand" + strings.Repeat(" on", longLine) + "last\n and on\n"
	if string(text) != want {
		t.Errorf("kept %.200q … %q", text, text[max(0, len(text)-40):])
	}
}

// What is quoted of the output holds no secret; places stay.
func TestRunMasks(t *testing.T) {
	text := "config file \"a\" was not found in postgres://bob:hunter22@db/x\nPASSWORD=open-sesame\n"
	a := sampleEngine(t).Diagnose(t.Context(), []byte(text), diagnose.Options{})
	if len(a.Diagnoses) != 1 {
		t.Fatalf("%+v", a)
	}
	end := a.Diagnoses[0].Evidence[0].End
	maskAnswer(&a, []byte(text))
	written := string(a.AppendJSON(nil))
	if strings.Contains(written, "hunter22") || !strings.Contains(written, "bob:[masked password]@db") || a.Diagnoses[0].Evidence[0].End != end {
		t.Errorf("answer %s", written)
	}
	_, errs, _ := runKB(t, "", "sh", "-c", "echo 'fatal: login failed with PASSWORD=open-sesame' ; exit 1")
	if strings.Contains(errs, "sesame") || !strings.Contains(errs, "[masked password]") {
		t.Errorf("diagnosis %s", errs)
	}
}
