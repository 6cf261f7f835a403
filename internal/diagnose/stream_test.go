package diagnose

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"errorkb/internal/pattern/corpus"
)

// streamed is the answer to a text that is written in pieces, in chunks of a size.
func streamed(e *Engine, text []byte, size int, piece func() int) string {
	s := e.newStream(context.Background(), Options{}, size)
	for len(text) > 0 {
		n := min(piece(), len(text))
		p := bytes.Clone(text[:n])
		if _, err := s.Write(p); err != nil {
			return err.Error()
		}
		copy(p, bytes.Repeat([]byte("#"), n)) // what was written is the writer's again
		text = text[n:]
	}
	a := s.Answer()
	return readable(&a)
}

// readable is the JSON of an answer in lines.
func readable(a *Answer) string {
	return strings.NewReplacer(`{"record"`, "\n"+`{"record"`, `{"start"`, "\n"+`{"start"`).Replace(string(a.AppendJSON(nil)))
}

// difference is the first line in which two texts differ.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d of %d is\n%s\nwant, of %d\n%s", i, len(g), g[i], len(w), w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

// A stream gives the answer to the whole text, byte for byte, whatever the text, the
// size of its pieces and the number of processors.
func TestStreamAnswersAsOneText(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	e, messages := madeEngine(t, 300)
	r := rand.New(rand.NewPCG(8, 8))
	quiet := corpus.Log(chunkSize, nil)
	texts := shapes(corpus.Log(largeText, messages))
	for name, text := range texts {
		texts[name] = bytes.Join([][]byte{quiet, text, quiet[:r.IntN(len(quiet))], corpus.Log(largeText, messages[:3]), quiet}, nil)
	}
	texts["unknown"] = bytes.Join([][]byte{quiet, []byte("2026-03-01T08:15:02.113Z FATAL \"out\" of everything\n2026-03-01T08:15:02.113Z ERROR it failed\n"),
		quiet, quiet, quiet, quiet, quiet, quiet, quiet, quiet}, nil)
	texts["one line"] = bytes.ReplaceAll(bytes.ReplaceAll(texts["bare"], newline, []byte(" ")), []byte("FATAL"), []byte("\nFATAL"))
	texts["only errors"] = eachLine(bytes.Repeat(newline, 10_000), func([]byte) string {
		return "2026-03-01T08:15:02.113Z ERROR " + corpus.Fill(r, messages[r.IntN(len(messages))])
	})
	texts["blanks"] = bytes.Repeat([]byte(" \n"), chunkSize)
	texts["short"] = quiet[:largeText-100]
	texts["empty"] = nil
	for name, text := range texts {
		a := e.Diagnose(context.Background(), text, Options{})
		want := readable(&a)
		if quiet := strings.Contains("unknown blanks short empty", name); quiet != (a.Verdict == VerdictUnknown) {
			t.Errorf("%s: the text is %s", name, a.Verdict)
		}
		for processors, piece := range []func() int{1: func() int { return len(text) }, 2: func() int { return 1 + r.IntN(70_000) }, 5: func() int { return 4096 }} {
			if piece == nil {
				continue
			}
			runtime.GOMAXPROCS(processors)
			if got := streamed(e, text, chunkSize, piece); got != want {
				t.Errorf("%s, %d processors: %s", name, processors, difference(got, want))
			}
		}
	}
}

// The size of the chunks is nothing that an answer tells.
func TestStreamChunksOfAnySize(t *testing.T) {
	e, messages := madeEngine(t, 300)
	r := rand.New(rand.NewPCG(9, 9))
	log := corpus.Log(largeText*2, messages)
	for name, text := range shapes(log) {
		a := e.Diagnose(context.Background(), text, Options{})
		want := readable(&a)
		if len(a.Diagnoses) < 20 {
			t.Fatalf("%s: only %d records", name, len(a.Diagnoses))
		}
		for _, size := range []int{1, 300, 10_000 + r.IntN(1000), 100_000} {
			if got := streamed(e, text, size, func() int { return 1 + r.IntN(50_000) }); got != want {
				t.Errorf("%s in chunks of %d: %s", name, size, difference(got, want))
			}
		}
	}
}

// A message over several lines is found wherever the text is cut: between chunks,
// blocks and groups of lines.
func TestBordersAreInvisible(t *testing.T) {
	e, err := New("", []Entry{{Ref: Ref{ID: "storm"}, Pattern: `the lighthouse keeper lost (?P<what>.+?) in the storm`, Template: "the lighthouse keeper lost ${what} in the storm"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ message, value string }{
		"indented":   {"ERROR worker stopped\n    the lighthouse keeper\n    lost his hat in the storm\n", "his hat"},
		"two lines":  {"ERROR the lighthouse keeper\nlost his hat in the storm\n", "his hat"},
		"four lines": {"ERROR the lighthouse\nkeeper lost his\nhat in the\nstorm\n", "his hat"},
		"long value": {"ERROR the lighthouse keeper lost his very long hat with a feather and a ribbon\nand all that he had bought at the fair of the old town, in the storm of May 1st\n",
			"his very long hat with a feather and a ribbon and all that he had bought at the fair of the old town,"},
		"crlf":    {"ERROR the lighthouse keeper\r\nlost his hat in the storm\r\n", "his hat"},
		"colours": {"\x1b[31mthe lighthouse keeper\x1b[0m\n\x1b[31mlost his hat\x1b[0m in the storm\n", "his hat"},
	} {
		found := func(what string, text string, answer func(text []byte) Answer) {
			t.Helper()
			a := answer([]byte(text))
			if len(a.Diagnoses) != 1 || a.Diagnoses[0].Count != 1 || a.Diagnoses[0].Evidence[0].Captures[0].Value != c.value {
				t.Fatalf("%s, %s: found %+v", name, what, a.Diagnoses)
			}
		}
		whole := func(text []byte) Answer { return e.Diagnose(context.Background(), text, Options{}) }
		ordinary := "INFO nothing to see here today\n"
		tail := strings.Repeat(ordinary, largeText/len(ordinary)+1)
		for lines := maxJoinLines - 10; lines < maxJoinLines+3; lines++ {
			found(fmt.Sprintf("%d lines before", lines), strings.Repeat(ordinary, lines)+c.message+tail, whole)
		}
		head := strings.Repeat(ordinary, (blockSize-len(c.message))/len(ordinary)-2)
		for pad := 0; pad < len(c.message)+3*len(ordinary); pad += 11 {
			found(fmt.Sprintf("%d bytes before", pad+len(head)), strings.Repeat("x", pad)+"\n"+head+c.message+tail, whole)
		}
		head = strings.Repeat(ordinary, 200)
		for size := len(head) - 2*len(ordinary); size < len(head)+len(c.message)+len(ordinary); size += 7 {
			found(fmt.Sprintf("chunks of %d, %d bytes before", size, len(head)), head+c.message+tail, func(text []byte) Answer {
				s := e.newStream(context.Background(), Options{}, size)
				s.Write(text)
				return s.Answer()
			})
		}
	}
}

// When the time is up, the answer is about what was read, and nobody waits.
func TestStreamEnds(t *testing.T) {
	e, messages := madeEngine(t, 300)
	log := corpus.Log(3*chunkSize, messages)
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithCancel(context.Background())
	s := e.NewStream(ctx, Options{})
	if _, err := s.Write(log); err != nil {
		t.Fatal(err)
	}
	cancel()
	if n, err := s.Write(log); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d bytes written, error %v", n, err)
	}
	if a := s.Answer(); !a.Partial || a.Input.Bytes != len(log) {
		t.Errorf("partial %v, %d bytes", a.Partial, a.Input.Bytes)
	}
	for runtime.NumGoroutine() > before {
		runtime.Gosched() // what has ended may still be counted
	}
}

// What is under way is bounded.
func TestStreamIsBounded(t *testing.T) {
	e, messages := madeEngine(t, 300)
	log := corpus.Log(chunkSize, messages)
	s := e.NewStream(context.Background(), Options{})
	s.Write(append(log, log...)) // more than a chunk, so that the work begins
	made, chunks := map[*byte]bool{}, 0
	s.o.Lock()
	done := s.o.done
	s.o.done = func(text []byte) {
		made[&text[0]] = true
		chunks++
		done(text)
	}
	s.o.Unlock()
	for range 38 {
		s.Write(log)
	}
	a := s.Answer()
	if chunks < 30 || len(made) > cap(s.free)+1 || cap(s.buffer) > chunkSize+maxSeamGap {
		t.Errorf("%d buffers were made for %d chunks", len(made), chunks)
	}
	if a.Partial || a.Input.Bytes != 40*len(log) || len(a.Diagnoses) < 20 {
		t.Errorf("answer about %+v with %d records", a.Input, len(a.Diagnoses))
	}
	if n := len(s.o.free); n > cap(s.free) {
		t.Errorf("%d shares were made", n)
	}
}
