package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"errorkb/cmd/internal/cli"
	"errorkb/internal/diagnose"
	"errorkb/internal/kb"
)

// Limits of following a log.
const (
	// followAround is what the engine sees around new text: a message and what
	// it was wrapped in, cheap enough to be looked at again with every line.
	followAround = 16 << 10
	// blockIdle is how long nothing must arrive until the last lines count as
	// complete although nothing new has begun.
	blockIdle = 300 * time.Millisecond
	// maxBlock is how much of one block is waited for.
	maxBlock = 1 << 20
	// pollEvery is how often a file is looked at for more.
	pollEvery = 200 * time.Millisecond
)

// follower diagnoses a log while it is written.
type follower struct {
	session *session
	idle    time.Duration
	seen    map[string]bool
	// found is told of every record that was not found before, one at a time.
	found func(diagnose.Answer) error
}

func newFollower(engine diagnoser, found func(diagnose.Answer) error) *follower {
	return &follower{session: newSession(engine, followAround), idle: blockIdle, seen: map[string]bool{}, found: found}
}

// follow reads until r ends or ctx does. A record is reported as soon as its
// block is complete.
func (f *follower) follow(ctx context.Context, r io.Reader) error {
	in := &source{r: r}
	for {
		var idle <-chan time.Time
		if f.session.waiting() > 0 {
			idle = time.After(f.idle)
		}
		data, err := in.next(ctx, idle)
		s := f.session
		s.buffer = append(s.buffer, data...)
		ready := 0
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, context.Canceled):
			if s.waiting() > 0 {
				return f.answer(context.WithoutCancel(ctx), s.waiting())
			}
			return nil
		case errors.Is(err, errAnew):
			if s.waiting() > 0 {
				if err := f.answer(ctx, s.waiting()); err != nil {
					return err
				}
			}
			f.restart()
		case errors.Is(err, errIdle):
			ready = linesEnd(s.buffer[s.from:])
		case err != nil:
			return fmt.Errorf("read the log: %w", err)
		default:
			ready = blocksEnd(s.buffer[s.from:])
		}
		if ready == 0 && s.waiting() > maxBlock {
			ready = s.waiting()
		}
		if ready > 0 {
			if err := f.answer(ctx, ready); err != nil {
				return err
			}
		}
	}
}

// answer diagnoses what is complete and reports what is new in it.
func (f *follower) answer(ctx context.Context, n int) error {
	part := f.session.answer(ctx, n)
	for _, d := range part.Diagnoses {
		if f.seen[d.Record.ID] {
			continue
		}
		f.seen[d.Record.ID] = true
		part.Diagnoses = []diagnose.Diagnosis{d}
		part.RunnersUp, part.Unknown = []diagnose.RunnerUp{}, nil
		if part.Verdict = diagnose.VerdictLikely; d.Confidence >= diagnose.KnownConfidence {
			part.Verdict = diagnose.VerdictKnown
		}
		if err := f.found(part); err != nil {
			return err
		}
	}
	return nil
}

// restart begins to count places anew: what is read next is another text.
func (f *follower) restart() { f.session = newSession(f.session.engine, f.session.around) }

// rest is the answer when nothing was found.
func (f *follower) rest(ctx context.Context) diagnose.Answer {
	if s := f.session; s.whole.begun {
		return s.whole.Answer
	}
	return f.session.engine.Diagnose(context.WithoutCancel(ctx), nil, diagnose.Options{})
}

// linesEnd is the end of the last whole line.
func linesEnd(text []byte) int { return bytes.LastIndexByte(text, '\n') + 1 }

// blocksEnd is the end of the last whole block: a line that starts something
// new has arrived behind it.
func blocksEnd(text []byte) int {
	for i := linesEnd(text); i > 0; i = linesEnd(text[:i-1]) {
		if i < len(text) && !isBlank(text[i]) {
			return i
		}
	}
	return 0
}

// errAnew says that what is read next is the start of another text.
var errAnew = errors.New("another text begins")

// growing reads a file that is written to. It goes on with the new file when
// another one takes the name, and at the start when the file was cut short.
type growing struct {
	name string
	file *os.File
	at   int64
	poll time.Duration
	note func(string) // is told what happened to the file
	done chan struct{}
}

func newGrowing(file *os.File, note func(string)) *growing {
	return &growing{name: file.Name(), file: file, poll: pollEvery, note: note, done: make(chan struct{})}
}

func (g *growing) Read(p []byte) (int, error) {
	for {
		now, statErr := os.Stat(g.name)
		n, err := g.file.Read(p)
		if n > 0 {
			g.at += int64(n)
			return n, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if anew, err := g.look(now, statErr); anew || err != nil {
			return 0, cmp.Or(err, errAnew)
		}
		select {
		case <-g.done:
			return 0, io.EOF
		case <-time.After(g.poll):
		}
	}
}

// look follows what became of the name. The file was read to its end after
// that, so nothing of an old one is lost.
func (g *growing) look(now fs.FileInfo, err error) (anew bool, _ error) {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil // between two files
	case err != nil:
		return false, fmt.Errorf("look at %s: %w", g.name, err)
	}
	old, err := g.file.Stat()
	if err != nil {
		return false, fmt.Errorf("look at %s: %w", g.name, err)
	}
	if os.SameFile(old, now) {
		if old.Size() >= g.at {
			return false, nil
		}
		if _, err := g.file.Seek(0, io.SeekStart); err != nil {
			return false, fmt.Errorf("go back in %s: %w", g.name, err)
		}
		g.at = 0
		g.note("was cut short; reading from its start")
		return true, nil
	}
	file, err := os.Open(g.name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("open the new file: %w", err)
	}
	g.file.Close() // was only read
	g.file, g.at = file, 0
	g.note("is a new file; reading it from its start")
	return true, nil
}

// stop ends a Read that waits.
func (g *growing) stop() { close(g.done) }

// runFollow is kb diagnose --follow.
func runFollow(cmd *cobra.Command, engine *diagnose.Engine, input io.Reader, set *kb.Set, asJSON bool) error {
	ctx, stop := cli.UntilSignal(cmd.Context())
	defer stop()
	if file, ok := input.(*os.File); ok && input != cmd.InOrStdin() {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			g := newGrowing(file, func(what string) { fmt.Fprintf(cmd.ErrOrStderr(), "kb: %s %s\n", cli.Visible(file.Name()), what) })
			defer g.stop()
			input = g
		}
	}
	write := func(a diagnose.Answer) error {
		return answer(cmd, func(p *cli.Printer) error {
			if asJSON {
				p.Write(append(a.AppendJSON(nil), '\n'))
				return nil
			}
			writeAnswer(p, &a, set)
			p.Printf("\n")
			return nil
		})
	}
	f := newFollower(engine, write)
	if err := f.follow(ctx, input); err != nil {
		return err
	}
	if len(f.seen) > 0 {
		return nil
	}
	if err := write(f.rest(ctx)); err != nil {
		return err
	}
	return cli.ErrNo
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
