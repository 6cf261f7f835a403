package pattern

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// oracle is the simple index: every pattern is looked for in the whole text when
// the rarest of its whole words stands there.
type oracle struct {
	patterns []*Pattern
	words    map[string][]int
	always   []int
}

func newOracle(patterns []*Pattern) *oracle {
	o := &oracle{patterns, map[string][]int{}, nil}
	for id, p := range patterns {
		word := ""
		var l layout
		if p.fallback == nil {
			if vs := l.decode(p.rec); len(vs) == 1 {
				for s, st := range vs[0].steps {
					if st.kind != literal || st.fold {
						continue
					}
					text := " " + string(st.text) + " "
					if s > 0 {
						text = text[1:]
						text = text[strings.IndexFunc(text, func(r rune) bool { return r >= 0x80 || !isAlnum(byte(r)) }):]
					}
					if s < len(vs[0].steps)-1 {
						text = text[:len(text)-1]
						text = text[:strings.LastIndexFunc(text, func(r rune) bool { return r >= 0x80 || !isAlnum(byte(r)) })+1]
					}
					for _, w := range strings.FieldsFunc(text, func(r rune) bool { return r >= 0x80 || !isAlnum(byte(r)) }) {
						if len(w) > len(word) {
							word = w
						}
					}
				}
			}
		}
		if word == "" {
			o.always = append(o.always, id)
		} else {
			o.words[word] = append(o.words[word], id)
		}
	}
	return o
}

func (o *oracle) find(text []byte) []string {
	ids := map[int]bool{}
	for _, id := range o.always {
		ids[id] = true
	}
	for _, w := range bytes.FieldsFunc(text, func(r rune) bool { return r >= 0x80 || !isAlnum(byte(r)) }) {
		for _, id := range o.words[string(w)] {
			ids[id] = true
		}
	}
	var out []string
	for id := range ids {
		p := o.patterns[id]
		if p.fallback == nil {
			var l layout
			worth := false
			for _, v := range l.decode(p.rec) {
				worth = worth || v.worth()
			}
			if !worth {
				continue
			}
		}
		for _, m := range p.MatchAll(text) {
			out = append(out, fmt.Sprint(id, m))
		}
	}
	slices.Sort(out)
	return out
}

func found(ix *Index, text []byte) []string {
	var out []string
	ix.Find(text, func(id int, m Match) bool {
		out = append(out, fmt.Sprint(id, m))
		return true
	})
	slices.Sort(out)
	return out
}

func sameFound(t *testing.T, patterns []*Pattern, got, want []string) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	n := 0
	tell := func(what string, list, other []string) {
		for _, s := range list {
			if !slices.Contains(other, s) && n < 10 {
				n++
				id := 0
				fmt.Sscan(s, &id)
				t.Errorf("%s: %s: %s", what, s, patterns[id].expr)
			}
		}
	}
	tell("found too much", got, want)
	tell("missed", want, got)
	if n == 0 {
		t.Errorf("found %d, want %d: some twice", len(got), len(want))
	}
}

func TestFindAgreesWithOracle(t *testing.T) {
	ms := messages(3000)
	var exprs []string
	for i, m := range ms {
		e := exprFor(m)
		switch i % 10 {
		case 0:
			e = strings.ReplaceAll(e, " the ", `\s+the\s+`)
		case 1:
			e = "(?i)" + e
		case 2:
			e += `\.`
		case 3:
			e = strings.Replace(e, " the ", " (?:the|a) ", 1)
		case 4:
			e = strings.Replace(e, " the ", "(?: the)? ", 1)
		}
		exprs = append(exprs, e)
	}
	ps := compileAll(exprs)
	ix := Build(ps)
	text := logText(300<<10, ms)
	got, want := found(ix, text), newOracle(ps).find(text)
	if len(want) < 50 {
		t.Fatalf("only %d matches in the log", len(want))
	}
	sameFound(t, ps, got, want)
}

// shared reads the evaluation material beside the repository.
func shared(t testing.TB, name string) []byte {
	t.Helper()
	dir := os.Getenv("KB_SHARED")
	if dir == "" {
		t.Skip("KB_SHARED does not name the folder of the evaluation material")
	}
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// template is a message of an evaluation catalogue.
type template struct{ ID, Template, Pattern string }

func catalogues(t testing.TB) (all []template) {
	t.Helper()
	shared(t, "eval/README.md")
	files, err := filepath.Glob(filepath.Join(os.Getenv("KB_SHARED"), "eval/catalogues/*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatal("no catalogues", err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		sc := bufio.NewScanner(bytes.NewReader(data))
		sc.Buffer(nil, 1<<20)
		for sc.Scan() {
			var x template
			if err := json.Unmarshal(sc.Bytes(), &x); err != nil {
				t.Fatal(f, err)
			}
			all = append(all, x)
		}
	}
	return all
}

func TestFindAgreesWithOracleOnCatalogues(t *testing.T) {
	all := catalogues(t)
	var exprs []string
	for _, x := range all {
		exprs = append(exprs, x.Pattern)
	}
	ps := compileAll(exprs)
	ix := Build(ps)
	t.Logf("%d patterns, %d bytes each, %d without a key", len(ps), ix.Size()/len(ps), len(ix.parts[0].loose)/entrySize)
	var text []byte
	for _, line := range bytes.Split(shared(t, "eval/cases.jsonl"), []byte("\n")) {
		var c struct{ Input string }
		if len(line) > 0 {
			if err := json.Unmarshal(line, &c); err != nil {
				t.Fatal(err)
			}
		}
		text = append(append(text, c.Input...), '\n')
	}
	got, want := found(ix, text), newOracle(ps).find(text)
	if len(want) < 50 {
		t.Fatalf("only %d matches", len(want))
	}
	sameFound(t, ps, got, want)
}

func TestWithReplacesPatterns(t *testing.T) {
	ms := messages(400)
	text := logText(300<<10, ms)
	ps := compileAll(mapSlice(ms[:300], exprFor))
	ix := Build(ps)
	for round := range 3 {
		changes := map[int]*Pattern{}
		for i := range 20 {
			id := round*7 + i*11
			var p *Pattern
			if i%3 > 0 {
				p, _ = Compile(exprFor(ms[300+round*20+i]), "")
			}
			changes[id] = p
			ps[id] = p
		}
		extra, _ := Compile(`^(?:ERROR|WARN)\b.*`+exprFor(ms[399]), "")
		changes[len(ps)] = extra
		ps = append(ps, extra)
		ix = ix.With(changes)
		if ix.Len() != len(ps) {
			t.Fatalf("%d ids, want %d", ix.Len(), len(ps))
		}
		whole := found(Build(ps), text)
		if len(whole) < 20 {
			t.Fatalf("only %d matches", len(whole))
		}
		sameFound(t, ps, found(ix, text), whole)
		again, err := Open(ix.AppendBinary(nil, "x"))
		if err != nil {
			t.Fatal(err)
		}
		sameFound(t, ps, found(again, text), whole)
	}
}

func mapSlice[A, B any](in []A, f func(A) B) []B {
	out := make([]B, len(in))
	for i, x := range in {
		out[i] = f(x)
	}
	return out
}

func TestOpen(t *testing.T) {
	ms := messages(500)
	exprs := mapSlice(ms, exprFor)
	exprs = append(exprs, `^(?P<a>(?:ab)+) failed\b`, `(?i)`+exprs[3], `value [^;]{2,9}; (?P<x>[a-f]+[0-9]*) is odd`)
	ps := compileAll(exprs)
	ix := Build(ps)
	data := ix.AppendBinary(nil, "2026+abc")
	again, err := Open(data)
	if err != nil {
		t.Fatal(err)
	}
	if again.Stamp() != "2026+abc" || again.Len() != len(ps) {
		t.Errorf("stamp %q, %d ids", again.Stamp(), again.Len())
	}
	text := append(logText(50<<10, ms), "\nabab failed now\nvalue xyz; abc12 is odd\n"...)
	want := found(ix, text)
	if len(want) < 10 {
		t.Fatalf("only %d matches", len(want))
	}
	sameFound(t, ps, found(again, text), want)
	if !bytes.Equal(again.AppendBinary(nil, "2026+abc"), data) {
		t.Error("what was opened is written differently")
	}

	for _, c := range []struct {
		name string
		data []byte
		want error
	}{
		{"empty", nil, ErrNotIndex},
		{"other", []byte("something else that is long enough to hold a head"), ErrNotIndex},
		{"version", append(append([]byte(magic), 99, 0, 0, 0), data[12:]...), ErrVersion},
		{"cut", data[:len(data)-1], ErrDamaged},
		{"flipped", append(append([]byte(nil), data[:len(data)/2]...), append([]byte{data[len(data)/2] ^ 1}, data[len(data)/2+1:]...)...), ErrDamaged},
	} {
		if _, err := Open(c.data); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func TestBuildIsDeterministic(t *testing.T) {
	ps := compileAll(mapSlice(messages(2000), exprFor))
	first := Build(ps).AppendBinary(nil, "")
	for range 3 {
		if !bytes.Equal(Build(ps).AppendBinary(nil, ""), first) {
			t.Fatal("two builds differ")
		}
	}
}

func TestNoAllocationWithoutMatch(t *testing.T) {
	ms := messages(2000)
	ix := Build(compileAll(mapSlice(ms, exprFor)))
	text := logText(64<<10, nil)
	// Candidates that fail are part of it: the beginnings of messages.
	for _, m := range ms[:200] {
		text = append(append(text, strings.ReplaceAll(m[:len(m)*3/4], gapMark, "x")...), '\n')
	}
	n := 0
	ix.Find(text, func(int, Match) bool {
		n++
		return true
	})
	if n > 0 {
		t.Fatalf("%d matches in a text that should hold none", n)
	}
	// A few for the call, when the pool was emptied: the race detector does so
	// at random. One a line would be over a thousand.
	const most = 8
	if a := testing.AllocsPerRun(10, func() { ix.Find(text, func(int, Match) bool { return true }) }); a > most {
		t.Errorf("%v allocations for %d lines", a, bytes.Count(text, []byte("\n")))
	}
}

func TestFindSideBySide(t *testing.T) {
	ms := messages(300)
	ps := compileAll(mapSlice(ms, exprFor))
	ix := Build(ps)
	text := logText(64<<10, ms)
	want := found(ix, text)
	if len(want) == 0 {
		t.Fatal("nothing found")
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 5 {
				if got := found(ix, text); !slices.Equal(got, want) {
					t.Errorf("%d matches side by side, %d alone", len(got), len(want))
				}
				for _, p := range ps[:50] {
					p.MatchAll(text[:1000])
				}
			}
		})
	}
	wg.Wait()
}

func TestFindStops(t *testing.T) {
	ms := messages(50)
	ix := Build(compileAll(mapSlice(ms, exprFor)))
	text := logText(256<<10, ms)
	n := 0
	ix.Find(text, func(int, Match) bool {
		n++
		return n < 3
	})
	if n != 3 {
		t.Errorf("%d reports, want 3", n)
	}
}

// FuzzFind holds the index against the oracle on small patterns that have much in
// common.
func FuzzFind(f *testing.F) {
	f.Add([]byte{0, 200, 2, 1, 9, 9, 14, 1, 255}, []byte{0, 9, 2, 13, 255, 16, 16})
	f.Fuzz(func(t *testing.T, shape, body []byte) {
		var exprs []string
		for len(shape) > 2 && len(exprs) < 40 {
			n := min(2+int(shape[0])%6, len(shape))
			e, _ := madeOf(shape[:n], nil)
			exprs = append(exprs, e)
			shape = shape[n:]
		}
		_, text := madeOf(nil, body)
		ps := compileAll(exprs)
		ix := Build(ps)
		want := newOracle(ps).find(text)
		sameFound(t, ps, found(ix, text), want)
		again, err := Open(ix.AppendBinary(nil, ""))
		if err != nil {
			t.Fatal(err)
		}
		sameFound(t, ps, found(again, text), want)
	})
}

func TestEmptyIndex(t *testing.T) {
	for _, ps := range [][]*Pattern{nil, {nil, nil}} {
		ix := Build(ps)
		if got := found(ix, []byte("some text\n")); len(got) != 0 {
			t.Errorf("found %v", got)
		}
		if _, err := Open(ix.AppendBinary(nil, "")); err != nil {
			t.Error(err)
		}
	}
}
