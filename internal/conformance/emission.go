package conformance

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"errorkb/internal/kb"
	"errorkb/internal/runtime/fault"
)

// marks is how much had been seen at one time.
type marks struct{ stderr, log int }

func (w *world) marks() marks {
	entries, _ := w.log.entries()
	return marks{len(w.stderr.lines()), len(entries)}
}

// emission finds the message where it has to be seen. It returns false when it
// is not there; unseen notes that as a problem.
func (p *proof) emission(w *world, out outcome, since marks) (kb.Emitted, bool) {
	e := kb.Emitted{Channel: p.channel(), Message: p.expected, Chain: []kb.ChainLink{}, Place: kb.ProofPlace{Lines: []string{}}}
	switch e.Channel {
	case kb.ChannelError:
		if out.err == nil {
			p.problem("the operation does not fail: %s", w.steady(failureWords(out)))
			return e, false
		}
		return p.fromError(w, e, out.err, out.err.Error())
	case kb.ChannelResult:
		i := slices.Index(out.refusals, p.expected)
		if i < 0 {
			p.problem("the result does not hold %s: %s", code(p.expected), w.steady(failureWords(out)))
			return e, false
		}
		e.Text = out.refusals[i]
	case kb.ChannelStderr:
		if out.err != nil {
			p.problemOf(out.err, "the operation fails: %v", out.err)
			return e, false
		}
		line, err := w.awaitLine(p.Limit/patience, since.stderr, p.expected)
		if err != nil {
			return e, false // the end of the run tells whether it comes at all
		}
		e.Text = line
	case kb.ChannelLog:
		event, cause, err := w.awaitEvent(p.Limit/patience, since.log, p.expected)
		if err != nil {
			return e, false
		}
		if cause != nil {
			return p.fromError(w, e, cause, logLine(event))
		}
		e.Text = logLine(event)
	}
	e.Text = w.steady(e.Text)
	return p.fromSource(e)
}

// inOutput reports whether the message is a line of output, which may come when
// the operation is over.
func (p *proof) inOutput() bool {
	return p.channel() == kb.ChannelStderr || p.channel() == kb.ChannelLog
}

// unseen notes that a line of output did not come, once the run is over and all
// output was read.
func (p *proof) unseen(w *world) {
	switch {
	case len(p.evidence.Problems) > 0:
	case p.count(w) == 0:
		p.problem("%s does not stand in the %s of the whole run", code(p.expected), p.channel())
	default:
		p.problemOf(context.DeadlineExceeded, "%s came into the %s late", code(p.expected), p.channel())
	}
}

// fromError describes an error: its chain, and the link that is the record's.
func (p *proof) fromError(w *world, e kb.Emitted, err error, text string) (kb.Emitted, bool) {
	e.Text = w.steady(text)
	found := false
	for link := err; link != nil; link = errors.Unwrap(link) {
		l := kb.ChainLink{Message: w.steady(link.Error())}
		f, ours := link.(*fault.Error) // this link alone
		if ours {
			var status *int
			l.Code, l.Class, status = visible(f)
			l.Place = p.place(f)
			if !found && p.isMessage(link.Error()) {
				found = true
				e.Code, e.Class, e.Status = l.Code, l.Class, status
				if l.Place == nil {
					p.problem("nobody knows where the error was raised")
				} else {
					e.Place = p.source.excerpt(*l.Place)
				}
			}
		}
		e.Chain = append(e.Chain, l)
	}
	if !found {
		p.problemOf(err, "the operation fails with %s, not with %s", code(w.steady(text)), code(p.expected))
	}
	return e, found
}

// isMessage reports whether a text is the expected message, apart from error
// output of a worker that follows it.
func (p *proof) isMessage(text string) bool {
	text, _, _ = strings.Cut(text, stderrHeading)
	return text == p.expected
}

// place returns where an error was raised, nil when the worker that raised it
// did not make it with package fault. It has to be a place of the source.
func (p *proof) place(f *fault.Error) *kb.Place {
	at := f.Origin
	if at.IsZero() && f.Template != "" {
		at = f.Place
	}
	if at.IsZero() {
		return nil
	}
	r, ok := p.source.at(at.File, at.Line)
	if !ok {
		p.problem("%s:%d is no place that raises an error; was the program built from this source?", at.File, at.Line)
		return &kb.Place{File: at.File, Line: at.Line, Symbol: at.Symbol}
	}
	return &r.Place
}

// fromSource finds the place of a message that does not come as an error: the
// one that can raise it.
func (p *proof) fromSource(e kb.Emitted) (kb.Emitted, bool) {
	places := p.source.of(p.record)
	if len(places) == 0 {
		p.problem("no place of the runtime raises the message")
		return e, false
	}
	e.Place = p.source.excerpt(places[0].Place)
	return e, true
}

// visible is what a caller can read off an error apart from its message.
func visible(f *fault.Error) (codeText, class *string, status *int) {
	switch {
	case f.Key != "":
		codeText = &f.Key
	case f.Code < 0:
		text := strconv.Itoa(f.Code)
		codeText = &text
	}
	if f.Code > 0 {
		status = &f.Code
	}
	if f.Class != "" {
		class = &f.Class
	}
	return codeText, class, status
}

// count counts how often the message was seen in a run.
func (p *proof) count(w *world) int {
	n := 0
	switch p.channel() {
	case kb.ChannelStderr:
		for _, line := range w.stderr.lines() {
			if line == p.expected {
				n++
			}
		}
	case kb.ChannelLog:
		entries, _ := w.log.entries()
		for _, r := range entries {
			if says, _ := saysIn(r, p.expected); says {
				n++
			}
		}
	}
	return n
}

// patience is the part of the time of a run that a line may take to appear once
// the operation is over.
const patience = 4

func (w *world) awaitLine(most time.Duration, from int, want string) (string, error) {
	ctx, cancel := context.WithTimeout(w.ctx, most)
	defer cancel()
	for {
		_, changed := w.stderr.text()
		if lines := w.stderr.lines(); slices.Contains(lines[from:], want) {
			return want, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

func (w *world) awaitEvent(most time.Duration, from int, want string) (slog.Record, error, error) {
	ctx, cancel := context.WithTimeout(w.ctx, most)
	defer cancel()
	for {
		entries, changed := w.log.entries()
		for _, r := range entries[from:] {
			if says, cause := saysIn(r, want); says {
				return r, cause, nil
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return slog.Record{}, nil, ctx.Err()
		}
	}
}

// saysIn reports whether a value of an event is the text, and returns the error
// that has it.
func saysIn(r slog.Record, want string) (bool, error) {
	says := false
	var cause error
	r.Attrs(func(a slog.Attr) bool {
		if err, ok := a.Value.Any().(error); ok && err.Error() == want {
			says, cause = true, err
		} else if a.Value.String() == want {
			says = true
		}
		return !says
	})
	return says, cause
}
