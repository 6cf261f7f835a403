package pattern

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// readingCase is one case of testdata/readings.txt.
type readingCase struct {
	line    int
	pattern string
	text    string
	want    [][]string // "name = value" per match; one empty match for "match"
}

func readings(t testing.TB) []readingCase {
	t.Helper()
	data, err := os.ReadFile("testdata/readings.txt")
	if err != nil {
		t.Fatal(err)
	}
	var cases []readingCase
	var c *readingCase
	for i, line := range strings.Split(string(data), "\n") {
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "" || word == "#":
		case word == "pattern":
			cases = append(cases, readingCase{line: i + 1, pattern: rest})
			c = &cases[len(cases)-1]
		case word == "text":
			if c.text != "" {
				c.text += "\n"
			}
			c.text += rest
		case line == "none":
			c.want = [][]string{}
		case line == "match":
			c.want = [][]string{{}}
		case line == "next":
			c.want = append(c.want, nil)
		case strings.Contains(line, " ="):
			if c.want == nil {
				c.want = [][]string{nil}
			}
			k := len(c.want) - 1
			c.want[k] = append(c.want[k], strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(strings.TrimRight(line, " ")))
		default:
			t.Fatalf("readings.txt:%d: %q is none of pattern, text, none, match, next, name = value", i+1, line)
		}
	}
	if len(cases) < 20 {
		t.Fatalf("only %d cases", len(cases))
	}
	return cases
}

func show(text []byte, m Match) []string {
	got := []string{}
	for _, c := range m.Captures {
		got = append(got, strings.TrimRight(c.Name+" = "+string(text[c.Start:c.End]), " "))
	}
	return got
}

func TestReadings(t *testing.T) {
	for _, c := range readings(t) {
		if c.want == nil {
			t.Errorf("readings.txt:%d: no expectation", c.line)
			continue
		}
		p, err := Compile(c.pattern, "")
		if err != nil {
			t.Errorf("readings.txt:%d: %v", c.line, err)
			continue
		}
		text := []byte(c.text)
		var got [][]string
		for _, m := range p.MatchAll(text) {
			got = append(got, show(text, m))
		}
		compare(t, c, "MatchAll", got)
		got = nil
		Build([]*Pattern{p}).Find(text, func(id int, m Match) bool {
			got = append(got, show(text, m))
			return true
		})
		compare(t, c, "Find", got)
	}
}

func compare(t *testing.T, c readingCase, how string, got [][]string) {
	t.Helper()
	if len(got) != len(c.want) {
		t.Errorf("readings.txt:%d: %s: got %d matches %q, want %q", c.line, how, len(got), got, c.want)
		return
	}
	for i := range got {
		if strings.Join(got[i], "|") != strings.Join(c.want[i], "|") {
			t.Errorf("readings.txt:%d: %s:\n got %q\nwant %q", c.line, how, got[i], c.want[i])
		}
	}
}

func TestCompileTemplate(t *testing.T) {
	for _, c := range []struct{ template, expr string }{
		{"plain (text).", `plain \(text\)\.`},
		{"a ${x.name} b ${y.name} c ${3}", `a (?P<name>.+?) b (?P<name2>.+?) c (?P<value>.+?)`},
		{"list ${a.map((x) => { return x.id; })} of ${b}", `list (?P<id>.+?) of (?P<b>.+?)`},
		{"open ${brace", `open \$\{brace`},
	} {
		p, err := Compile("", c.template)
		if err != nil {
			t.Errorf("%q: %v", c.template, err)
			continue
		}
		if p.Expr() != c.expr {
			t.Errorf("%q: %s, want %s", c.template, p.Expr(), c.expr)
		}
	}
}

func TestCompileErrors(t *testing.T) {
	for _, c := range []struct {
		expr string
		want error // nil for any
	}{
		{"(", nil}, {"(?P<a", nil}, {`\xff\q`, nil}, {"a**", nil},
		{strings.Repeat("a", MaxExpr+1), ErrTooLong},
		{`^(?:` + strings.Repeat(`(?:a{1,50}b){1,15}`, 40) + `)$`, ErrTooLarge},
	} {
		p, err := Compile(c.expr, "")
		if err == nil {
			t.Errorf("%.40q compiles: %v", c.expr, p.Reduced())
		} else if c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%.40q: %v, want %v", c.expr, err, c.want)
		} else if len(err.Error()) > 300 {
			t.Errorf("%.40q: message of %d bytes", c.expr, len(err.Error()))
		}
	}
}

func TestProperties(t *testing.T) {
	for _, c := range []struct {
		expr     string
		weak     bool
		reduced  bool
		literals string
		names    string
	}{
		{`Cannot find (?P<a>.+?) in\s+(?P<b>\d+) lists`, false, true, "Cannot find | in | lists", "a b"},
		{`argument`, true, true, "argument", ""},
		{`(?P<x>.+?) of (?P<y>.+?)`, true, true, " of ", "x y"},
		{`a b c d`, true, true, "a b c d", ""},
		{`no (?:longer text|t) here`, true, true, "no t here", ""},
		{`^line (?P<n>\d+) starts\b`, true, false, " starts", "n"},
		{`(?i)Connection Lost`, false, true, "connection lost", ""},
	} {
		p, err := Compile(c.expr, "")
		if err != nil {
			t.Fatal(err)
		}
		if p.Weak() != c.weak || p.Reduced() != c.reduced || strings.Join(p.Literals(), "|") != c.literals || strings.Join(p.Names(), " ") != c.names {
			t.Errorf("%s: weak %v, reduced %v, literals %q, names %q", c.expr, p.Weak(), p.Reduced(), p.Literals(), p.Names())
		}
	}
}
