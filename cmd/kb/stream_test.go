package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"errorkb/cmd/internal/cli"
	"errorkb/internal/diagnose"
)

func sampleEngine(t *testing.T) *diagnose.Engine {
	t.Helper()
	set, err := cli.Records(t.Context(), "testdata/records", io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	engine, err := newEngine(set, "")
	if err != nil {
		t.Fatal(err)
	}
	return engine
}

// A text in parts gives the same answer as the text at once, as long as no
// message lies on a cut.
func TestPartsGiveTheSameAnswer(t *testing.T) {
	engine := sampleEngine(t)
	var text strings.Builder
	for i := range 400 {
		switch i % 40 {
		case 7:
			fmt.Fprintf(&text, "2026-01-01T00:00:00Z ERROR acme: config file \"f%d.toml\" was not found in /srv\n    at start (a.js:1:2)\n", i)
		case 23:
			fmt.Fprintf(&text, "the service could not be started: port %d is taken by another process\r\n", i)
		default:
			fmt.Fprintf(&text, "line %d of a log that says nothing\n", i)
		}
	}
	whole := engine.Diagnose(t.Context(), []byte(text.String()), diagnose.Options{})
	if len(whole.Diagnoses) < 2 || whole.Diagnoses[0].Count != 10 {
		t.Fatalf("the whole text: %+v", whole.Diagnoses)
	}
	for _, size := range []int{512, 1000, 4096, 1 << 20} {
		parts, err := diagnoseParts(t.Context(), engine, strings.NewReader(text.String()), size, size/2)
		if err != nil {
			t.Fatal(err)
		}
		// The confidence depends on the text around a message.
		for _, a := range []*diagnose.Answer{&whole, &parts} {
			for i := range a.Diagnoses {
				a.Diagnoses[i].Confidence = 0
			}
			a.RunnersUp = nil
		}
		if diff := cmp.Diff(byID(whole), byID(parts)); diff != "" {
			t.Errorf("parts of %d bytes (-whole +parts):\n%s", size, diff)
		}
		if diff := cmp.Diff(whole.Input, parts.Input); diff != "" || parts.Verdict != whole.Verdict {
			t.Errorf("parts of %d bytes: %s, %s", size, diff, parts.Verdict)
		}
	}
}

func byID(a diagnose.Answer) map[string]diagnose.Diagnosis {
	list := map[string]diagnose.Diagnosis{}
	for _, d := range a.Diagnoses {
		list[d.Record.ID] = d
	}
	return list
}

// A text of at most one part is given to the engine as it is.
func TestOnePartIsOneCall(t *testing.T) {
	engine := sampleEngine(t)
	for _, text := range []string{"", "x", "port 1 is taken by another process", strings.Repeat("y", 64)} {
		got, err := diagnoseParts(t.Context(), engine, strings.NewReader(text), 64, 16)
		if err != nil {
			t.Fatal(err)
		}
		want := engine.Diagnose(t.Context(), []byte(text), diagnose.Options{})
		if string(got.AppendJSON(nil)) != string(want.AppendJSON(nil)) {
			t.Errorf("%q:\n%s\nwant\n%s", text, got.AppendJSON(nil), want.AppendJSON(nil))
		}
	}
}

// counting answers every part with the places of the letter E in it.
type counting struct{ parts []string }

func (c *counting) Diagnose(_ context.Context, text []byte, _ diagnose.Options) diagnose.Answer {
	c.parts = append(c.parts, string(text))
	a := diagnose.Answer{Verdict: diagnose.VerdictUnknown, Input: diagnose.Input{Bytes: len(text), Lines: strings.Count(string(text), "\n")}}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		a.Input.Lines++
	}
	a.Unknown = &diagnose.Unknown{}
	if i := strings.IndexByte(string(text), 'U'); i >= 0 {
		a.Unknown.Line = &diagnose.TellingLine{Start: i, End: i + 1, Line: 1 + strings.Count(string(text[:i]), "\n")}
	}
	if strings.IndexByte(string(text), 'E') < 0 {
		return a
	}
	a.Verdict, a.Unknown = diagnose.VerdictKnown, nil
	d := diagnose.Diagnosis{Record: diagnose.Ref{ID: "e"}, Confidence: 0.9}
	for i, b := range text {
		if b == 'E' {
			d.Count++
			d.Evidence = append(d.Evidence, diagnose.Evidence{Start: i, End: i + 1, Line: 1 + strings.Count(string(text[:i]), "\n"),
				Captures: []diagnose.CaptureSpan{{Start: i, End: i + 1}}})
		}
	}
	a.Diagnoses = []diagnose.Diagnosis{d}
	return a
}

func TestPartsKeepPlaces(t *testing.T) {
	text := "a\nbE\n  cE\nd\n\n  E\n" + strings.Repeat("E", 30) + "\nend E"
	engine := &counting{}
	got, err := diagnoseParts(t.Context(), engine, iotest.OneByteReader(strings.NewReader(text)), 10, 8)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(engine.parts, "") != text || len(engine.parts) < 4 {
		t.Fatalf("parts %q", engine.parts)
	}
	for _, part := range engine.parts[:2] {
		if !strings.HasSuffix(part, "\n") {
			t.Errorf("part %q does not end with a line", part)
		}
	}
	want := (&counting{}).Diagnose(t.Context(), []byte(text), diagnose.Options{})
	want.Diagnoses[0].Evidence = want.Diagnoses[0].Evidence[:evidenceKept]
	want.RunnersUp = []diagnose.RunnerUp{}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-whole +parts):\n%s", diff)
	}
}

func TestPartsOfUnknownText(t *testing.T) {
	text := "a\nb\nc\nd\ne\nfU\ng\n"
	got, err := diagnoseParts(t.Context(), &counting{}, strings.NewReader(text), 4, 4)
	if err != nil {
		t.Fatal(err)
	}
	want := &diagnose.TellingLine{Start: 11, End: 12, Line: 6}
	if got.Verdict != diagnose.VerdictUnknown || got.Unknown == nil || cmp.Diff(want, got.Unknown.Line) != "" {
		t.Errorf("unknown %+v, want line %+v", got.Unknown, want)
	}
}

func TestCutPoint(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"one\ntwo\nthr", "one\ntwo\n"},
		{"one\ntwo\n", "one\n"},
		{"error\n  at a\n  at b", ""}, // the whole trace goes to the next part
		{"x\nerror\n  at a\n\tat b", "x\n"},
		{"  a\n  b\n  c", "  a\n  b\n"},
		{"no line end", "no line end"},
		{"one\n\n\r\n  x", "one\n\n\r\n"},
	} {
		got := c.text[:cutPoint([]byte(c.text), len(c.text))]
		if c.want == "" {
			c.want = c.text[:strings.LastIndexByte(c.text, '\n')+1]
		}
		if got != c.want {
			t.Errorf("cut of %q: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestReadErrors(t *testing.T) {
	broken := errors.New("broken")
	if _, err := diagnoseParts(t.Context(), &counting{}, iotest.ErrReader(broken), 8, 4); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := diagnoseParts(ctx, &counting{}, strings.NewReader("x"), 8, 4); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
