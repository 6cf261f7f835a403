package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"errorkb/internal/diagnose"
)

// following is a follower at work in a test.
type following struct {
	t     *testing.T
	found chan diagnose.Answer
	ended chan error
	end   context.CancelFunc
}

func startFollowing(t *testing.T, r io.Reader, idle time.Duration) *following {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	f := &following{t, make(chan diagnose.Answer, 100), make(chan error, 1), end}
	work := newFollower(sampleEngine(t), func(a diagnose.Answer) error { f.found <- a; return nil })
	work.idle = idle
	go func() { f.ended <- work.follow(ctx, r) }()
	t.Cleanup(end)
	return f
}

// next waits for the next record and compares where it was found.
func (f *following) next(id string, line, start int) {
	f.t.Helper()
	select {
	case a := <-f.found:
		if len(a.Diagnoses) != 1 || a.Diagnoses[0].Record.ID != id || a.Verdict == diagnose.VerdictUnknown {
			f.t.Fatalf("found %+v, want %s", a, id)
		}
		if e := a.Diagnoses[0].Evidence[0]; e.Line != line || e.Start != start {
			f.t.Fatalf("found at line %d, byte %d; want %d, %d", e.Line, e.Start, line, start)
		}
	case err := <-f.ended:
		f.t.Fatalf("following ended with %v before %s was found", err, id)
	case <-time.After(patience):
		f.t.Fatalf("%s was not found", id)
	}
}

func (f *following) stop() {
	f.t.Helper()
	select {
	case err := <-f.ended:
		if err != nil {
			f.t.Fatal(err)
		}
	case <-time.After(patience):
		f.t.Fatal("following does not end")
	}
	select {
	case a := <-f.found:
		f.t.Errorf("found as well: %+v", a)
	default:
	}
}

const (
	idConfig = "1111111111111111"
	idPort   = "2222222222222222"
	idStart  = "3333333333333333"
)

// Each record is reported once, while the writer is still there.
func TestFollowReportsAtOnce(t *testing.T) {
	read, write := io.Pipe()
	f := startFollowing(t, read, time.Hour) // so only new lines complete a block
	say := func(text string) {
		t.Helper()
		if _, err := io.WriteString(write, text); err != nil {
			t.Fatal(err)
		}
	}
	say("starting\nport 80 is taken by another process\n")
	say("    at listen (a.js:1:1)\nnext\n")
	f.next(idPort, 2, 9)
	say("port 81 is taken by another process\nconfig file \"a\" was not fo")
	say("und in /srv\nmore\n")
	f.next(idConfig, 6, 111)
	say("port 82 is taken by another process\nthe service could not be started: gone")
	write.Close()
	f.next(idStart, 9, 190)
	f.stop()
}

// A block is complete, too, when nothing follows it.
func TestFollowDoesNotWaitForTheNextLine(t *testing.T) {
	read, write := io.Pipe()
	f := startFollowing(t, read, time.Millisecond)
	io.WriteString(write, "port 80 is taken by another process\n")
	f.next(idPort, 1, 0)
	f.end()
	f.stop()
	write.Close()
}

// A file is followed through writing, cutting and replacing.
func TestFollowFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "app.log")
	write := func(flag int, text string) {
		t.Helper()
		file, err := os.OpenFile(name, flag|os.O_WRONLY|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := io.WriteString(file, text); err != nil {
			t.Fatal(err)
		}
	}
	write(0, "old line, which is long enough to be cut\nport 80 is taken by another process\n")
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	notes := make(chan string, 10)
	g := newGrowing(file, func(what string) { notes <- what })
	g.poll = time.Millisecond
	f := startFollowing(t, g, time.Millisecond)
	f.next(idPort, 2, 41)
	write(os.O_TRUNC, "again\n")
	if note := <-notes; !strings.Contains(note, "cut short") {
		t.Errorf("note %q", note)
	}
	write(os.O_APPEND, "config file \"a\" was not found in /srv\n")
	f.next(idConfig, 2, 6)
	if err := os.Rename(name, name+".1"); err != nil {
		t.Fatal(err)
	}
	write(0, "the service could not be started: gone\n")
	if note := <-notes; !strings.Contains(note, "new file") {
		t.Errorf("note %q", note)
	}
	f.next(idStart, 1, 0)
	g.stop()
	f.stop()
}

// A log that was there before is fast, and nothing of it is kept.
func TestFollowLongText(t *testing.T) {
	read, write := io.Pipe()
	go func() {
		out := bufio.NewWriterSize(write, 8<<10)
		for i := range 20_000 {
			fmt.Fprintf(out, "line %d says nothing, and takes some place in doing so\n", i)
		}
		io.WriteString(out, strings.Repeat("x", 3<<20)) // a block that never ends
		io.WriteString(out, "\nport 80 is taken by another process\n")
		out.Flush()
		write.Close()
	}()
	work := newFollower(sampleEngine(t), func(diagnose.Answer) error { return nil })
	if err := work.follow(t.Context(), read); err != nil {
		t.Fatal(err)
	}
	if !work.seen[idPort] || cap(work.session.buffer) > 4*maxBlock {
		t.Errorf("found %v, %d bytes kept", work.seen, cap(work.session.buffer))
	}
}

func TestFollowErrors(t *testing.T) {
	broken := errors.New("broken")
	work := newFollower(sampleEngine(t), func(diagnose.Answer) error { return broken })
	if err := work.follow(t.Context(), strings.NewReader("port 80 is taken by another process")); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

// The command writes an answer a line, and the unknown one when there is none.
func TestFollowJSON(t *testing.T) {
	text := "port 80 is taken by another process\nconfig file \"a\" was not found in /srv\nport 81 is taken by another process\n"
	out, _, status := run(t, text, "diagnose", "--records", "testdata/records", "--follow", "--json")
	ids := ""
	for line := range strings.Lines(out) {
		var a struct {
			Verdict   string
			Diagnoses []struct{ Record struct{ ID string } }
		}
		if err := json.Unmarshal([]byte(line), &a); err != nil || len(a.Diagnoses) != 1 {
			t.Fatalf("%v in %s", err, line)
		}
		ids += a.Diagnoses[0].Record.ID + " "
	}
	if status != 0 || len(ids) != 2*17 || !strings.Contains(ids, idPort) || !strings.Contains(ids, idConfig) {
		t.Errorf("status %d, records %s", status, ids)
	}
	for _, text := range []string{"", "nothing\n"} {
		out, _, status = run(t, text, "diagnose", "--records", "testdata/records", "--follow", "--json")
		if status != 1 || !strings.Contains(out, `"verdict":"unknown"`) || strings.Count(out, "\n") != 1 {
			t.Errorf("%q: status %d, %s", text, status, out)
		}
	}
}
