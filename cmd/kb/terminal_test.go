package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

// onTerminal runs kb with a terminal as standard output and error, and as
// standard input when something is typed. It gives what the terminal shows.
func onTerminal(t *testing.T, columns uint16, env []string, typed string, args ...string) string {
	t.Helper()
	return show(t, columns, env, typed, true, args...)
}

// answerOnTerminal is onTerminal without what the program says of its work:
// on a busy machine that is more.
func answerOnTerminal(t *testing.T, columns uint16, env []string, args ...string) string {
	t.Helper()
	return show(t, columns, env, "", false, args...)
}

func show(t *testing.T, columns uint16, env []string, typed string, progressToo bool, args ...string) string {
	t.Helper()
	cmd := exec.Command("kb", args...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "TERM=xterm")
	cmd.Env = append(cmd.Env, env...)
	terminal, end, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	if err := pty.Setsize(terminal, &pty.Winsize{Rows: 40, Cols: columns}); err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = end
	if progressToo {
		cmd.Stderr = end
	}
	if typed != "" {
		cmd.Stdin = end
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end.Close()
	if _, err := io.WriteString(terminal, typed); err != nil {
		t.Fatal(err)
	}
	var shown bytes.Buffer
	// When the program has ended, reading its terminal gives EIO on Linux.
	if _, err := io.Copy(&shown, terminal); err != nil && !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	cmd.Wait() // the status is not what is asked for here
	return strings.ReplaceAll(shown.String(), "\r\n", "\n")
}

func TestColourOnATerminalOnly(t *testing.T) {
	explain := []string{"explain", "--records", "testdata/records", "E_CONFIG"}
	piped, _, _ := run(t, "", explain...)
	if strings.Contains(piped, "\x1b") {
		t.Error("colour in a pipe")
	}
	shown := answerOnTerminal(t, 80, nil, explain...)
	if !strings.Contains(shown, "\x1b[1mWhat it means\x1b[0m") {
		t.Errorf("no colour on a terminal:\n%s", shown)
	}
	for _, env := range []string{"NO_COLOR=1", "TERM=dumb", "KB_COLOR=never"} {
		if got := answerOnTerminal(t, 80, []string{env}, explain...); got != piped {
			t.Errorf("with %s:\n%s\nwant\n%s", env, got, piped)
		}
	}
	always, _, _ := run(t, "", append(explain, "--color", "always")...)
	if always != shown {
		t.Errorf("--color always in a pipe:\n%s\nwant\n%s", always, shown)
	}
	if got := answerOnTerminal(t, 80, nil, append(explain, "--json")...); strings.Contains(got, "\x1b") {
		t.Errorf("colour in JSON:\n%s", got)
	}
}

func TestTextFitsTheTerminal(t *testing.T) {
	for _, columns := range []uint16{50, 80, 200} {
		shown := answerOnTerminal(t, columns, []string{"NO_COLOR=1"}, "explain", "fbc48e17530ae3db")
		widest, prose := 0, false
		for line := range strings.SplitSeq(shown, "\n") {
			prose = prose || strings.HasPrefix(line, "What it means")
			if strings.HasPrefix(line, "Source") {
				break
			}
			if prose {
				widest = max(widest, len([]rune(line)))
			}
		}
		if limit := min(int(columns), 100); widest > limit || widest < limit*3/4 {
			t.Errorf("on %d columns the prose takes %d", columns, widest)
		}
	}
}

func TestPasteOnATerminal(t *testing.T) {
	shown := onTerminal(t, 80, []string{"NO_COLOR=1"}, "port 8080 is taken by another process\n\x04", "diagnose", "--records", "testdata/records")
	for _, want := range []string{"Paste the error, then press Enter and Ctrl-D.\n", "Known error", "kb explain 2222222222222222"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the terminal does not show %q:\n%s", want, shown)
		}
	}
}

// Ctrl-C ends a command that waits for input.
func TestInterruptWhilePasting(t *testing.T) {
	shown := onTerminal(t, 80, nil, "half a line\x03", "diagnose", "--records", "testdata/records")
	if strings.Contains(shown, "Unknown") {
		t.Errorf("the command answered:\n%s", shown)
	}
}

// A reader that goes away ends the program without a message.
func TestClosedPipe(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	read.Close()
	cmd := exec.Command("kb", "export")
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = write, &stderr
	err = cmd.Run()
	write.Close()
	if err == nil || stderr.Len() > 0 || strings.Contains(err.Error(), "panic") {
		t.Errorf("ended with %v, %q", err, stderr.String())
	}
}

// A full disk behind standard output is an error, not silence.
func TestFullOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatalf("this system has no /dev/full: %v", err)
	}
	defer full.Close()
	cmd := exec.Command("kb", "explain", "--records", "testdata/records", "E_CONFIG")
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = full, &stderr
	if err := cmd.Run(); err == nil || !strings.HasPrefix(stderr.String(), "kb: write the answer: ") {
		t.Errorf("ended with %v, %q", err, stderr.String())
	}
}
