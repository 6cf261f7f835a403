package render

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n":   "plain\ttext\n",
		"a\x1b[31mb":      "a⟨ESC⟩[31mb",
		"a\u202eb\u200bc": "a⟨U+202E⟩b⟨U+200B⟩c",
		"\x00\x7f\r":      "⟨NUL⟩⟨DEL⟩⟨CR⟩",
		"\u0085":          "⟨U+0085⟩",
		"👩\u200d💻 é":      "👩\u200d💻 é",
		"a\xffb":          "a\uFFFDb",
	} {
		if got := visible(in); got != want {
			t.Errorf("visible(%q) = %q, want %q", in, got, want)
		}
	}
	if got, want := visibleHTML("<\x1b>\xff"), `&lt;<span class="ctl">ESC</span>&gt;`+"\uFFFD"; got != want {
		t.Errorf("visibleHTML: %q, want %q", got, want)
	}
}

func TestCutWords(t *testing.T) {
	for _, c := range []struct {
		in   string
		max  int
		want string
	}{
		{"short", 10, "short"},
		{"exactly ten", 11, "exactly ten"},
		{"one two three", 9, "one two…"},
		{"one two three", 8, "one two…"},
		{"one, two", 6, "one…"},
		{"unbreakable", 6, "unbre…"},
		{"äöü äöü", 5, "äöü…"},
	} {
		if got := cutWords(c.in, c.max); got != c.want {
			t.Errorf("cutWords(%q, %d) = %q, want %q", c.in, c.max, got, c.want)
		}
		if n := utf8.RuneCountInString(cutWords(c.in, c.max)); n > c.max {
			t.Errorf("cutWords(%q, %d) has %d characters", c.in, c.max, n)
		}
	}
}

func TestWording(t *testing.T) {
	for got, want := range map[string]string{
		thousands(0): "0", thousands(999): "999", thousands(1234567): "1,234,567", thousands(-1234): "-1,234",
		plural(1, "error", "errors"): "1 error", plural(2000, "error", "errors"): "2,000 errors",
		enumerate(nil): "", enumerate([]string{"a"}): "a", enumerate([]string{"a", "b", "c"}): "a, b and c",
		newDate("2026-08-21T17:58:32.592Z").Text: "21 August 2026", newDate("soon").Text: "soon", newDate("soon").Machine: "",
		sentence("gone"): "gone.", sentence("gone."): "gone.", sentence(""): "",
		cutBytes("aé", 2): "a…", cutBytes("aé", 3): "aé", size(9999): "9,999 bytes", size(20000): "19 KiB", size(16 << 20): "16.0 MiB",
		percent(0.97): "97 %", percent(1): "100 %", percent(0.005): "1 %",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestHoldable(t *testing.T) {
	if got := holdable("a\x00b\xff\x1b\u202e"); got != "a\uFFFDb\uFFFD\x1b\u202e" {
		t.Errorf("holdable: %q", got)
	}
	box := PasteForm{Text: "\n<x>"}.box()
	if !strings.HasPrefix(string(box), "\n\n&lt;") {
		t.Errorf("box %q drops the first line feed of the text", box)
	}
}
