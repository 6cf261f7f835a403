package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func wrapped(t *testing.T, mode string, columns string, write func(*Printer)) string {
	t.Helper()
	t.Setenv("COLUMNS", columns)
	var out bytes.Buffer
	p := NewPrinter(&out, mode)
	write(p)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestWrap(t *testing.T) {
	for name, c := range map[string]struct {
		head   string
		indent int
		spans  []Span
		want   string
	}{
		"short":          {"- ", 2, []Span{{Text: "one two"}}, "- one two\n"},
		"head is padded": {"a", 4, []Span{{Text: "one"}}, "a   one\n"},
		"nothing":        {"  ", 2, nil, "  \n"},
		"broken": {"  ", 2, []Span{{Text: "a line of exactly forty columns abcdefg second"}},
			"  a line of exactly forty columns abcdefg\n  second\n"},
		"long word stays whole": {"", 0, []Span{{Text: "x " + strings.Repeat("y", 50) + " z"}}, "x\n" + strings.Repeat("y", 50) + "\nz\n"},
		"word of two spans":     {"", 0, []Span{{Text: "a (b"}, {Text: "c", Style: Bold}, {Text: "d) e"}}, "a (bcd) e\n"},
		"wide characters":       {"", 0, []Span{{Text: strings.Repeat("語", 19) + " ab cd"}}, strings.Repeat("語", 19) + " ab\ncd\n"},
		"control characters":    {"", 0, []Span{{Text: "a\x1b[31mb\u202ec"}}, `a\x1b[31mb\u202ec` + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got := wrapped(t, "never", "41", func(p *Printer) { p.Wrap(c.head, c.indent, c.spans...) })
			if got != c.want {
				t.Errorf("got\n%q, want\n%q", got, c.want)
			}
		})
	}
}

func TestColourIsOnlyColour(t *testing.T) {
	write := func(p *Printer) {
		p.Wrap(p.Styled(Bold, "head")+"  ", 6, Inline("text with `code` and **strong** words that go over several lines of the narrow page")...)
		p.Markdown(2, "A paragraph.\n\n- item one\n- item two\n\n```js\nlet x = 1\n```")
	}
	plain := wrapped(t, "never", "40", write)
	coloured := wrapped(t, "always", "40", write)
	var stripped strings.Builder
	for i := 0; i < len(coloured); i++ {
		if coloured[i] == '\x1b' {
			i += strings.IndexByte(coloured[i:], 'm')
			continue
		}
		stripped.WriteByte(coloured[i])
	}
	if !strings.Contains(coloured, "\x1b[") || strings.Contains(plain, "\x1b") {
		t.Errorf("colour: %q, without: %q", coloured, plain)
	}
	if stripped.String() != plain {
		t.Errorf("colour changes the text:\n%s\nwant\n%s", stripped.String(), plain)
	}
	if got := wrapped(t, "auto", "40", write); got != plain {
		t.Errorf("colour into a buffer:\n%q", got)
	}
}

func TestMarkdown(t *testing.T) {
	const text = "# Title\nOne `code span` and\ntwo lines.\n\n1. first\n   goes on here over the edge\n2. second\n\n```\n  kept   as is\n```\nEnd with 2*3 and *stars* and ``a `b` c``."
	const want = `  Title
  One ` + "`code span`" + ` and two lines.

  1. first goes on here over the edge
  2. second

        kept   as is
  End with 2*3 and *stars* and ` + "``a `b`\n  c``." + "\n"
	if got := wrapped(t, "never", "40", func(p *Printer) { p.Markdown(2, text) }); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"plain\n\ttext ä 語 😀": "plain\n\ttext ä 語 😀",
		"a\x00b\x7f\r":        `a\x00b\x7f\x0d`,
		"\xff\xc3(":           `\xff\xc3(`,
		"\u0085\u009b31m":     `\x85\x9b31m`,
		"\u202eabc\u2066":     `\u202eabc\u2066`,
		"\ufffd":              "\ufffd",
	} {
		if got := Visible(text); got != want {
			t.Errorf("Visible(%q) = %q, want %q", text, got, want)
		}
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("a\x1b]8;;x\x07b")
	f.Fuzz(func(t *testing.T, text string) {
		got := Visible(text)
		if strings.ContainsFunc(got, steers) || strings.ToValidUTF8(got, "") != got {
			t.Errorf("Visible(%q) = %q is not safe", text, got)
		}
		if Visible(got) != got {
			t.Errorf("Visible(%q) is not stable", text)
		}
	})
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		want    string
	}{
		{"short", 5, "short"},
		{"several words here", 13, "several…"},
		{"several words here", 14, "several words…"},
		{"onelongwordwithoutblanks", 6, "onelo…"},
		{"語語語語", 5, "語語…"},
		{"", 3, ""},
	} {
		if got := Cut(c.text, c.columns); got != c.want || Columns(got) > c.columns {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.text, c.columns, got, c.want)
		}
	}
}

func TestWriteErrorsAreReported(t *testing.T) {
	p := NewPrinter(brokenWriter{}, "never")
	p.Printf("text")
	if err := p.Close(); !errors.Is(err, errBroken) {
		t.Errorf("Close: %v", err)
	}
}

var errBroken = errors.New("broken")

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }
