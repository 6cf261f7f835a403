package pattern

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// Patterns must find what their expressions find. The package comment lists where
// they differ; the two expressions of lawsOf enclose the difference.

// lawsOf returns an expression that finds less than the pattern and one that
// finds more: with and without the rule that words are not cut, with gaps that may
// be empty and a full stop that may be missing.
func lawsOf(expr string) (strict, relaxed *regexp.Regexp) {
	body := strings.ReplaceAll(expr, ".+?", ".*?")
	if strings.HasSuffix(body, `\.`) {
		body += "?"
	}
	left, right := `(?:^|[^0-9A-Za-z_])`, `(?:$|[^0-9A-Za-z_])`
	plain := regexp.MustCompile(`^\(\?P<\w+>|^\\`)
	if plain.MatchString(expr) || !isWord(expr[0]) {
		left = ""
	}
	if last := expr[len(expr)-1]; !isWord(last) {
		right = ""
	}
	return regexp.MustCompile("(?m)" + left + "(?:" + expr + ")" + right), regexp.MustCompile(body)
}

// checkLaws compares a pattern with its expression on texts and returns how many
// of them hold it.
func checkLaws(t *testing.T, expr string, texts ...[]byte) (matched int) {
	t.Helper()
	p, err := Compile(expr, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Literals()) == 0 {
		return 0 // a pattern without text of its own finds nothing
	}
	strict, relaxed := lawsOf(expr)
	whole := regexp.MustCompile("^(?:" + relaxed.String() + ")$")
	for _, text := range texts {
		if checkText(t, p, strict, relaxed, whole, text) {
			matched++
		}
	}
	return matched
}

func checkText(t *testing.T, p *Pattern, strict, relaxed, whole *regexp.Regexp, text []byte) bool {
	t.Helper()
	expr := p.Expr()
	m, ok := p.Match(text)
	if !ok {
		if strict.Match(text) {
			t.Errorf("%q: not found in %q", expr, text)
		}
		return false
	}
	if !relaxed.Match(text) {
		t.Errorf("%q: found in %q", expr, text)
	}
	last := 0
	for _, m := range p.MatchAll(text) {
		if m.Start < last || m.End < m.Start || m.End > len(text) || !whole.Match(text[m.Start:m.End]) {
			t.Errorf("%q: %v is no match in %q", expr, m, text)
		}
		at := m.Start
		for _, c := range m.Captures {
			if c.Start < at || c.End < c.Start || c.End > m.End {
				t.Errorf("%q: capture %v is out of order in %v of %q", expr, c, m, text)
			}
			at = c.End
		}
		last = m.End
	}
	return m.End > m.Start
}

// pieces make expressions and texts that have a good chance to meet.
var pieces = []string{"error", "Error: ", " in ", "'", "(", ")", " at ", "line ", ": ", "a", "ab", "b a", "x=", "12", ".", " ", "the file ", "not found", "\"", "_", "-", "é", "/"}

var gaps = []string{"(?P<%s>.+?)", "(?P<%s>.*?)", "(?P<%s>[-+]?\\d+)", "(?P<%s>[0-9A-Fa-f]+)", "(?P<%s>[^']*)", "(?P<%s>\\S+)", "(?P<%s>true|false)", "(?P<%s>a{2,3}b?)"}

// madeOf makes an expression and a text of bytes.
func madeOf(shape, body []byte) (string, []byte) {
	var e strings.Builder
	n := 0
	for i, b := range shape {
		if i == 12 {
			break
		}
		if b >= 160 && n < 5 {
			fmt.Fprintf(&e, gaps[int(b)%len(gaps)], string(rune('a'+n)))
			n++
			continue
		}
		e.WriteString(regexp.QuoteMeta(pieces[int(b)%len(pieces)]))
	}
	var text bytes.Buffer
	for i, b := range body {
		if i == 60 {
			break
		}
		if b == 255 {
			text.WriteByte('\n')
			continue
		}
		text.WriteString(pieces[int(b)%len(pieces)])
	}
	return e.String(), text.Bytes()
}

func TestLawsOnRandomText(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 106))
	found := 0
	for range 6000 {
		shape := make([]byte, 1+r.IntN(6))
		for i := range shape {
			shape[i] = byte(r.IntN(256))
		}
		body := make([]byte, r.IntN(30))
		for i := range body {
			body[i] = byte(r.IntN(256))
			if k := r.IntN(len(shape)); shape[k] < 160 && r.IntN(2) == 0 {
				body[i] = shape[k]
			}
		}
		expr, text := madeOf(shape, body)
		found += checkLaws(t, expr, text)
		if t.Failed() {
			break
		}
	}
	if found < 400 {
		t.Errorf("only %d texts held their pattern", found)
	}
}

func FuzzLaws(f *testing.F) {
	f.Add([]byte{0, 200, 2, 201}, []byte{0, 9, 2, 13})
	f.Add([]byte{3, 162, 3}, []byte{3, 9, 10, 3, 7, 3})
	f.Fuzz(func(t *testing.T, shape, body []byte) {
		if expr, text := madeOf(shape, body); expr != "" {
			checkLaws(t, expr, text)
		}
	})
}

// TestLawsOnCases compares every pattern of the catalogues with its expression on
// every line of the development cases that may hold it.
func TestLawsOnCases(t *testing.T) {
	var lines [][]byte
	for _, line := range bytes.Split(shared(t, "eval/cases.jsonl"), []byte("\n")) {
		var c struct{ Input string }
		if len(line) > 0 {
			if err := json.Unmarshal(line, &c); err != nil {
				t.Fatal(err)
			}
		}
		for _, l := range strings.Split(c.Input, "\n") {
			lines = append(lines, []byte(l))
		}
	}
	n := 0
	for _, x := range catalogues(t) {
		p, err := Compile(x.Pattern, "")
		if err != nil {
			t.Fatal(x.ID, err)
		}
		long := ""
		for _, l := range p.Literals() {
			for _, st := range strings.Split(l, "\n") {
				if len(st) > len(long) {
					long = st
				}
			}
		}
		var may [][]byte
		for _, line := range lines {
			if bytes.Contains(line, []byte(strings.TrimSuffix(long, "."))) {
				may = append(may, line)
			}
		}
		if len(may) > 0 {
			n += checkLaws(t, x.Pattern, may...)
		}
	}
	if n < 100 {
		t.Errorf("only %d matches", n)
	}
}
