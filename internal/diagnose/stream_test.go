package diagnose

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"errorkb/internal/pattern/corpus"
)

// streamed is the answer to a text that is written in pieces, in chunks of a size.
func streamed(e *Engine, text []byte, size int, piece func() int) string {
	s := e.newStream(context.Background(), Options{}, size)
	for len(text) > 0 {
		n := min(piece(), len(text))
		// What was written is the writer's again.
		p := bytes.Clone(text[:n])
		if _, err := s.Write(p); err != nil {
			return err.Error()
		}
		copy(p, bytes.Repeat([]byte("#"), n))
		text = text[n:]
	}
	a := s.Answer()
	return readable(&a)
}

// readable is the JSON of an answer in lines.
func readable(a *Answer) string {
	return strings.NewReplacer(`{"record"`, "\n"+`{"record"`, `{"start"`, "\n"+`{"start"`).Replace(string(a.AppendJSON(nil)))
}

// firstDifference is the first line in which two texts differ.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d of %d:\n%s\nwant, of %d:\n%s", i, len(g), g[i], len(w), w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

// A stream gives the answer to the whole text, byte for byte, whatever the text, the
// size of its pieces and the number of processors.
func TestStreamAnswersAsOneText(t *testing.T) {
	e, messages := madeEngine(t, 300)
	r := rand.New(rand.NewPCG(8, 8))
	log := corpus.Log(largeText*2, messages)
	texts := shapes(log)
	for name, text := range texts {
		texts[name] = append(corpus.Log(2*chunkSize+r.IntN(chunkSize), nil), append(text, corpus.Log(r.IntN(2*chunkSize), messages[:3])...)...)
	}

	for name, text := range texts {
		a := e.Diagnose(context.Background(), text, Options{})
		want := readable(&a)
		for _, piece := range []func() int{
			func() int { return len(text) },
			func() int { return 1 + r.IntN(70_000) },
		} {
			if got := streamed(e, text, chunkSize, piece); got != want {
				t.Errorf("%s: %s", name, firstDifference(got, want))
			}
		}
	}
}
