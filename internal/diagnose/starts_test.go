package diagnose

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"errorkb/internal/pattern/corpus"
)

// The starts of words are where a look at each byte finds them.
func TestStarts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	alphabet := []byte("azAZ09_@[`{/:^ \n-\x00\x7f\x80\xff")
	found := 0
	for i := range 20_000 {
		size := 40
		if i%10 == 0 {
			size = 3000 // more than is looked at together
		}
		text := make([]byte, r.IntN(size))
		for i := range text {
			text[i] = alphabet[r.IntN(len(alphabet))]
		}
		from := r.IntN(len(text) + 1)
		to := from + r.IntN(len(text)-from+1)
		for name, s := range map[string]starts{"in": startsIn(text, from, to), "behind": startsBehind(text, from, to)} {
			var got, want []int
			for i := s.step(); i >= 0; i = s.step() {
				got = append(got, i)
			}
			for i := from; i < to; i++ {
				if isWord(text[i]) && (i == 0 || !isWord(text[i-1]) || i == from && name == "in") {
					want = append(want, i)
				}
			}
			found += len(want)
			if !slices.Equal(got, want) {
				t.Fatalf("starts %s %q[%d:%d] are %v, want %v", name, text, from, to, got, want)
			}
		}
	}
	if found < 10_000 {
		t.Fatalf("only %d starts", found)
	}
}

// Of a line in a text of many, the pieces bring up every message that trying all of them
// finds, whether it goes on in the next lines or not.
func TestPiecesTellAsMuchAsAllMessages(t *testing.T) {
	messages := corpus.Messages(150)
	entries := make([]Entry, len(messages))
	for i, m := range messages {
		if i%2 == 0 { // the telling piece is not at the beginning
			m = []string{"stop ", "(open ", "x: "}[i%3] + corpus.GapMark + " " + m
			if i%8 == 0 { // no piece of it is long enough
				m = strings.ReplaceAll([]string{"no '_' at 'it'", "it 'is' so at '_' no", "'a' to 'b' is 'on'", "_ by _ of _ or _ to _", "a_b_c_d_e_f"}[i/8%5], "_", corpus.GapMark)
			}
			messages[i] = m
		}
		entries[i] = Entry{Ref: Ref{ID: m}, Pattern: corpus.Expression(m), Template: m}
	}
	e, err := New("", entries)
	if err != nil {
		t.Fatal(err)
	}
	if p := e.probes; len(p.loose) == 0 || len(p.pieces.list) == 0 || len(p.endings.list) == 0 {
		t.Fatalf("%d pieces, %d endings, %d messages without", len(p.pieces.list), len(p.endings.list), len(p.loose))
	}
	r := rand.New(rand.NewPCG(4, 4))
	tried, cut := 0, 0
	for range 1000 {
		var b strings.Builder
		for range 1 + r.IntN(6) {
			m := strings.ReplaceAll(messages[r.IntN(len(messages))], corpus.GapMark, corpus.Values[r.IntN(len(corpus.Values))])
			switch r.IntN(5) {
			case 0:
				m = m[:r.IntN(len(m)+1)]
			case 1:
				m = m[r.IntN(len(m)+1):]
			case 2:
				m = wrapAt(m, 20+r.IntN(20))
			case 3:
				m = "started in 12 ms, then " + m[:len(m)*3/4] + "..."
			}
			b.WriteString([]string{"", "error: ", "2026-03-01 08:15:02 INFO "}[r.IntN(3)] + m + "\n")
		}
		w := e.newWork(context.Background(), []byte(b.String()), 1)
		w.read(part(w.arena, w.input, 0, len(w.input)), 0, false)
		for _, c := range w.cutLines() {
			tried++
			var want []int32
			for owner := range e.owners {
				if w.tryCut(&c, int32(owner), headEnd|tailEnd).matched > 0 {
					want = append(want, int32(owner))
				}
			}
			if len(want) > 0 {
				cut++
			}
			if got := cutOwners(w, &c); !slices.Equal(got, want) {
				t.Fatalf("line %q of %q is a part of %v, want %v", c.in.m.text[c.line.body:c.line.end], w.input, got, want)
			}
		}
		w.release()
	}
	if cut < 100 || tried-cut < 100 {
		t.Fatalf("of %d lines %d hold a cut message", tried, cut)
	}
}

// cutOwners are the messages of which enough stands in a line, as the pieces tell.
func cutOwners(w *work, c *cutCandidate) []int32 {
	var found []int32
	w.eachCut(c, func(owner int32, at ends) bool {
		if w.tryCut(c, owner, at).matched > 0 {
			found = append(found, owner)
		}
		return true
	})
	slices.Sort(found)
	return slices.Compact(found)
}

// wrapAt breaks a text after every so many bytes.
func wrapAt(s string, width int) string {
	var b strings.Builder
	for len(s) > width {
		b.WriteString(s[:width] + "\n")
		s = s[width:]
	}
	return b.String() + s
}
