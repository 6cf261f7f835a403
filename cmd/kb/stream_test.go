package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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

// inRegions diagnoses a text in regions of a size, as it is done while a text is
// followed, and puts together what was found.
func inRegions(t *testing.T, engine diagnoser, text string, region, around int) diagnose.Answer {
	t.Helper()
	s := newSession(engine, around)
	var whole diagnose.Answer
	read := 0
	for done := false; !done; {
		for s.waiting() <= region+around && read < len(text) {
			s.buffer = append(s.buffer, text[read])
			read++
		}
		n := s.waiting()
		if n > region {
			n = cutPoint(s.buffer[s.from:s.from+region], around)
		}
		part := s.answer(t.Context(), n)
		whole.Input, whole.DatasetVersion = part.Input, part.DatasetVersion
		for _, d := range part.Diagnoses {
			k := slices.IndexFunc(whole.Diagnoses, func(known diagnose.Diagnosis) bool { return known.Record.ID == d.Record.ID })
			if k < 0 {
				whole.Diagnoses = append(whole.Diagnoses, d)
				continue
			}
			whole.Diagnoses[k].Count += d.Count
			whole.Diagnoses[k].Evidence = append(whole.Diagnoses[k].Evidence, d.Evidence...)
		}
		done = s.waiting() == 0 && read == len(text)
	}
	for k := range whole.Diagnoses {
		d := &whole.Diagnoses[k]
		d.Evidence = d.Evidence[:min(len(d.Evidence), diagnose.DefaultMaxEvidence)]
	}
	if len(whole.Diagnoses) == 0 {
		whole.Verdict, whole.Unknown = s.whole.Verdict, s.whole.Unknown
	}
	return whole
}

// cutPoint is where a region ends: before the last line that is not indented, failing
// that behind a line end.
func cutPoint(text []byte, seam int) int {
	for _, n := range []int{blocksEnd(text), linesEnd(text)} {
		if n > max(0, len(text)-seam) {
			return n
		}
	}
	return len(text)
}

// same compares an answer in regions with that of one call: records, counts and places.
func same(whole, regions diagnose.Answer) string {
	clean := func(a diagnose.Answer) diagnose.Answer {
		a.Verdict, a.RunnersUp = "", nil
		a.Diagnoses = slices.Clone(a.Diagnoses)
		slices.SortFunc(a.Diagnoses, func(a, b diagnose.Diagnosis) int { return strings.Compare(a.Record.ID, b.Record.ID) })
		return a
	}
	return cmp.Diff(clean(whole), clean(regions), cmpopts.EquateEmpty())
}

// Wherever a message lies relative to the borders, the answer is that of one
// call: records, counts, places and confidence.
func TestBordersAreInvisible(t *testing.T) {
	engine := sampleEngine(t)
	quiet := strings.Repeat("INFO nothing happened here at all\n", 50)
	frames := "    at start (a.js:1:2)\n"
	for name, message := range map[string]string{
		"line":     "2026-01-01T00:00:00Z ERROR acme: config file \"f.toml\" was not found in /srv\n" + frames,
		"wrapper":  "the service could not be started: port 80 is taken by another process\r\n",
		"wrapped":  frames + "acme: config file \"a-rather-long-name-of-a-file.toml\" was not\nfound in /srv\n" + frames,
		"json":     `{"level":"error","msg":"config file \"f.toml\" was not found in /srv"}` + "\n",
		"colours":  "\x1b[31mport 80 is \x1b[1mtaken by another process\x1b[0m\n",
		"unknown":  "ERROR: something odd happened to the flux\n",
		"many":     strings.Repeat("port 7 is taken by another process\n", 30),
		"one line": strings.ReplaceAll(quiet, "\n", " ") + "port 80 is taken by another process " + strings.ReplaceAll(quiet, "\n", " "),
	} {
		t.Run(name, func(t *testing.T) {
			step := max(1, len(message)/60)
			for pad := 0; pad < len(message)+40; pad += step {
				text := strings.Repeat("x", pad) + "\n" + frames + quiet + message + quiet
				whole := engine.Diagnose(t.Context(), []byte(text), diagnose.Options{})
				if (len(whole.Diagnoses) == 0) != (name == "unknown") {
					t.Fatalf("one call: %+v", whole)
				}
				for _, region := range []int{len(quiet) + 100, 640} {
					if diff := same(whole, inRegions(t, engine, text, region, 512)); diff != "" {
						t.Fatalf("pad %d, regions of %d (-one call +regions):\n%s", pad, region, diff)
					}
				}
			}
		})
	}
}

// A log with several records, wherever it is cut.
func TestRegionsGiveTheSameAnswer(t *testing.T) {
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
		if diff := same(whole, inRegions(t, engine, text.String(), size, 512)); diff != "" {
			t.Errorf("regions of %d bytes (-whole +regions):\n%s", size, diff)
		}
	}
}

// What stands far before a message counts as it does in one call: after its
// cause, the report of a consequence is no finding of its own.
func TestRegionsKnowWhatCameBefore(t *testing.T) {
	engine, err := diagnose.New("v", []diagnose.Entry{
		{Ref: diagnose.Ref{ID: "cause", Role: "cause"}, Template: "port ${port} is taken by another process"},
		{Ref: diagnose.Ref{ID: "follows", Role: "cause"}, Template: "the worker of the shop exited with code ${code}"},
	})
	if err != nil {
		t.Fatal(err)
	}
	follows := "ERROR: the worker of the shop exited with code 3\n"
	if a := engine.Diagnose(t.Context(), []byte(follows), diagnose.Options{}); len(a.Diagnoses) != 1 {
		t.Fatalf("alone: %+v", a)
	}
	text := "port 80 is taken by another process\n" + strings.Repeat("INFO nothing happened here at all\n", 100) + follows
	whole := engine.Diagnose(t.Context(), []byte(text), diagnose.Options{})
	if len(whole.Diagnoses) != 1 || whole.Diagnoses[0].Record.ID != "cause" {
		t.Fatalf("one call: %+v", whole)
	}
	if diff := same(whole, inRegions(t, engine, text, 500, 200)); diff != "" {
		t.Errorf("(-one call +regions):\n%s", diff)
	}
}

// counting answers with the places of the letter E; U is a telling line, the
// more telling the more there are of them in the line.
type counting struct{ largest int }

func (c *counting) Diagnose(_ context.Context, text []byte, _ diagnose.Options) diagnose.Answer {
	c.largest = max(c.largest, len(text))
	a := diagnose.Answer{Verdict: diagnose.VerdictUnknown, Diagnoses: []diagnose.Diagnosis{}, Unknown: &diagnose.Unknown{}}
	d := diagnose.Diagnosis{Record: diagnose.Ref{ID: "e"}, Confidence: 0.9}
	start, most := 0, 0
	for number, line := range bytes.SplitAfter(text, []byte("\n")) {
		for i, b := range line {
			if b == 'E' {
				at := start + i
				d.Evidence = append(d.Evidence, diagnose.Evidence{Start: at, End: at + 1, Line: number + 1, Column: i + 1,
					Captures: []diagnose.CaptureSpan{{Start: at, End: at + 1}}})
			}
		}
		if n := bytes.Count(line, []byte("U")); n > most {
			most = n
			a.Unknown.Line = &diagnose.TellingLine{Start: start, End: start + len(line), Line: number + 1}
		}
		start += len(line)
	}
	if d.Count = len(d.Evidence); d.Count > 0 {
		a.Verdict, a.Unknown, a.Diagnoses = diagnose.VerdictKnown, nil, []diagnose.Diagnosis{d}
	}
	return a
}

func TestRegionsKeepPlaces(t *testing.T) {
	text := "a\nbE\n  cE\nd\n\n  E\n" + strings.Repeat("E", 30) + "\nend E"
	want := (&counting{}).Diagnose(t.Context(), []byte(text), diagnose.Options{})
	want.Diagnoses[0].Evidence = want.Diagnoses[0].Evidence[:diagnose.DefaultMaxEvidence]
	want.Input = diagnose.Input{Bytes: len(text), Lines: 8}
	for region := 1; region < len(text)+2; region++ {
		if diff := same(want, inRegions(t, &counting{}, text, region, 3)); diff != "" {
			t.Errorf("regions of %d bytes (-one call +regions):\n%s", region, diff)
		}
	}
}

// The most telling line of all is kept, and of equal ones the first.
func TestRegionsOfUnknownText(t *testing.T) {
	text := "a\nb\nU\nd\nUU\ne\nfUU\ng\nU\n"
	got := inRegions(t, &counting{}, text, 4, 4)
	want := &diagnose.TellingLine{Start: 8, End: 11, Line: 5}
	if got.Verdict != diagnose.VerdictUnknown || got.Unknown == nil || cmp.Diff(want, got.Unknown.Line) != "" {
		t.Errorf("unknown %+v, line %+v, want %+v", got.Unknown, got.Unknown.Line, want)
	}
}

// What a text costs depends on the region, not on the text.
func TestStreamIsBounded(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("one line of a log with an E\n", 4_000),
		strings.Repeat("E", 100_000),
		strings.Repeat("\n", 100_000),
	} {
		engine := &counting{}
		s := newSession(engine, 100)
		for from := 0; from < len(text); from += 1000 {
			s.buffer = append(s.buffer, text[from:min(len(text), from+1000)]...)
			s.answer(t.Context(), s.waiting())
			if cap(s.buffer) > 8_000 {
				t.Fatalf("%d bytes are kept", cap(s.buffer))
			}
		}
		if engine.largest > 1000+2*100+2*maxWitness {
			t.Errorf("the engine was given %d bytes", engine.largest)
		}
		if got := s.start.after(s.buffer).bytes; got != len(text) {
			t.Errorf("answered for %d bytes of %d", got, len(text))
		}
	}
}

func TestReadErrors(t *testing.T) {
	broken := errors.New("broken")
	engine := sampleEngine(t)
	if _, err := diagnoseAll(t.Context(), engine, iotest.ErrReader(broken), func(int) {}); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	// What came before the error is not an answer either.
	half := io.MultiReader(strings.NewReader(strings.Repeat("a line\n", 100_000)), iotest.ErrReader(broken))
	if _, err := diagnoseAll(t.Context(), engine, half, func(int) {}); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

// An interrupted text is answered as far as it was read, be it short or long.
func TestInterruptedStream(t *testing.T) {
	for _, more := range []int{1, 200_000} {
		ctx, cancel := context.WithCancel(t.Context())
		text := "port 80 is taken by another process\n" + strings.Repeat("still running\n", more)
		rest := strings.NewReader(text)
		hang := make(chan struct{})
		input := readerFunc(func(p []byte) (int, error) {
			if rest.Len() > 0 {
				return rest.Read(p)
			}
			cancel() // what was read first has been taken
			<-hang
			return 0, io.EOF
		})
		read := 0
		got, err := diagnoseAll(ctx, sampleEngine(t), input, func(n int) { read = n })
		close(hang)
		if err != nil || !got.Partial || len(got.Diagnoses) != 1 || got.Input.Lines != more+1 || read != len(text) {
			t.Errorf("answer %+v, error %v, %d bytes read", got, err, read)
		}
	}
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// A pipe that Ctrl-C or a supervisor ends is answered as far as it was read,
// and nothing but the answer is written.
func TestDiagnoseInterrupted(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		cmd := exec.Command("kb", "diagnose", "--records", "testdata/records", "--json")
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// A pipe holds 64 KiB: when all is written, the start was read.
		text := "port 80 is taken by another process\n" + strings.Repeat("a line that says nothing\n", 20_000)
		if _, err := io.WriteString(in, text); err != nil {
			t.Fatal(err)
		}
		cmd.Process.Signal(signal)
		if err := cmd.Wait(); err != nil || errs.Len() > 0 {
			t.Errorf("%v: %v, %s", signal, err, errs.String())
		}
		if !strings.Contains(out.String(), `"verdict":"known","partial":true,`) {
			t.Errorf("%v: %s", signal, out.String())
		}
	}
}

// A large text through the command, with the bytes of one call.
func TestDiagnoseLargeText(t *testing.T) {
	filler := strings.Repeat("INFO a line of a log that says nothing at all, again and again\n", 20_000)
	for _, text := range []string{"", filler + "port 80 is taken by another process\n" + filler, filler + "ERROR it broke\n" + filler} {
		want := sampleEngine(t).Diagnose(t.Context(), []byte(text), diagnose.Options{})
		out, errs, status := run(t, text, "diagnose", "--records", "testdata/records", "--json")
		if known := want.Verdict != diagnose.VerdictUnknown; errs != "" || known != (status == 0) || known != (strings.Contains(text, "port")) {
			t.Errorf("status %d, %s", status, errs)
		}
		if string(want.AppendJSON(nil))+"\n" != out {
			t.Errorf("answer\n%swant\n%s", out, want.AppendJSON(nil))
		}
	}
}
