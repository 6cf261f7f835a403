package render

import (
	"bytes"
	"strings"
	"testing"

	"errorkb/internal/diagnose"
)

// plain joins an excerpt to text: matches in <>, values in [], cuts as ….
func plain(e Excerpt) string {
	var b strings.Builder
	for _, line := range e.Lines {
		if line.CutLeft {
			b.WriteString("…")
		}
		for _, s := range line.Spans {
			switch {
			case s.Capture > 0:
				b.WriteString("[" + s.Text + "]")
			case s.Hit:
				b.WriteString("<" + s.Text + ">")
			default:
				b.WriteString(s.Text)
			}
		}
		if line.CutRight {
			b.WriteString("…")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for name, c := range map[string]struct {
		text       string
		start, end int
		line       int
		captures   []diagnose.CaptureSpan
		want       string
	}{
		"whole":            {"abc", 0, 3, 1, nil, "<abc>\n"},
		"inside":           {"say abc now", 4, 7, 1, nil, "say <abc> now\n"},
		"value":            {"id 42 gone", 0, 10, 1, []diagnose.CaptureSpan{{Name: "id", Start: 3, End: 5}}, "<id >[42]< gone>\n"},
		"value at edges":   {"42x7", 0, 4, 1, []diagnose.CaptureSpan{{Name: "id", Start: 0, End: 2}, {Name: "n", Start: 3, End: 4}}, "[42]<x>[7]\n"},
		"empty value":      {"id  gone", 0, 8, 1, []diagnose.CaptureSpan{{Name: "id", Start: 3, End: 3}}, "<id ><" + " gone>\n"},
		"context":          {"1\n2\n3\nabc\n5\n6\n7\n", 6, 9, 4, nil, "2\n3\n<abc>\n5\n6\n"},
		"two lines":        {"a bc\nde f", 2, 7, 1, nil, "a <bc>\n<de> f\n"},
		"windows":          {"a\r\nabc\r\nb\r\n", 3, 6, 2, nil, "a\n<abc>\nb\n"},
		"last line":        {"a\nabc\n", 2, 5, 2, nil, "a\n<abc>\n"},
		"long line":        {long + "abc" + long, 1000, 1003, 1, nil, "…" + long[:120] + "<abc>" + long[:120] + "…\n"},
		"long line beside": {"abc\n" + long, 0, 3, 1, nil, "<abc>\n" + long[:360] + "…\n"},
		"long match":       {long, 0, 1000, 1, nil, "<" + long[:800] + ">" + long[:120] + "…\n"},
		"past the end":     {"abc", 1, 99, 1, nil, "a<bc>\n"},
		"before the start": {"abc", -5, 2, 1, nil, "<ab>c\n"},
		"turned round":     {"abc", 2, 1, 1, nil, "abc\n"},
		"empty":            {"", 0, 0, 1, nil, "\n"},
		"character":        {strings.Repeat("é", 400), 0, 0, 1, nil, strings.Repeat("é", 60) + "…\n"},
	} {
		e := newExcerpt([]byte(c.text), diagnose.Evidence{Start: c.start, End: c.end, Line: c.line, Captures: c.captures}, map[string]int{"id": 1, "n": 2})
		if got := plain(e); got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", name, got, c.want)
		}
	}
	many := strings.Repeat("line\n", 100)
	if e := newExcerpt([]byte(many), diagnose.Evidence{Start: 0, End: len(many), Line: 1}, nil); !e.Cut || len(e.Lines) != excerptLines {
		t.Errorf("a long match shows %d lines, cut %v", len(e.Lines), e.Cut)
	}
}

func TestExcerptHTML(t *testing.T) {
	e := newExcerpt([]byte("<a>\x1b[1m id 42\u202e"), diagnose.Evidence{Start: 7, End: 13, Line: 3, Captures: []diagnose.CaptureSpan{{Name: `"n`, Start: 11, End: 13}}}, map[string]int{`"n`: 6})
	want := `<pre class="paste numbered"><code><span class="line hit" data-n="3">&lt;a&gt;<span class="ctl">ESC</span>[1m<mark> id ` +
		`<strong class="cap cap1" title="&#34;n">42</strong></mark><span class="ctl">U+202E</span>` + "\n</span></code></pre>"
	if got := string(e.HTML()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// FuzzExcerpt demands bounded excerpts made of nothing but the text, whatever
// the offsets, and HTML that is well-formed.
func FuzzExcerpt(f *testing.F) {
	f.Add([]byte("a\nb c d\ne"), 2, 5, 2, 3, 4)
	f.Add([]byte("\xff\r\n\x00é"), -1, 99, 0, 5, 2)
	f.Fuzz(func(t *testing.T, pasted []byte, start, end, line, from, to int) {
		e := newExcerpt(pasted, diagnose.Evidence{Start: start, End: end, Line: line, Captures: []diagnose.CaptureSpan{{Name: "x", Start: from, End: to}}}, map[string]int{"x": 1})
		if len(e.Lines) > excerptLines {
			t.Errorf("%d lines", len(e.Lines))
		}
		for _, l := range e.Lines {
			var joined []byte
			for _, s := range l.Spans {
				joined = append(joined, s.Text...)
			}
			if !bytes.Contains(pasted, joined) || len(joined) > matchBytes+2*besideBytes+lineBytes || bytes.ContainsRune(joined, '\n') {
				t.Errorf("line %q is not a bounded part of the text", joined)
			}
		}
		for _, failure := range check(parse(t, []byte("<title>t</title><h1>h</h1>"+string(e.HTML())))).failures {
			t.Error(failure)
		}
	})
}
