package diagnose

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"errorkb/internal/pattern/corpus"
)

func undo(text string) string {
	return string(undoSpace(normalize(newMapped([]byte(text)))).text)
}

func TestUndo(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "a b\nc", "a b\nc"},
		{"line ends", "a\r\nb\rc\r\r\nd", "a\nb\nc\nd"},
		{"colour", "\x1b[1;31merror\x1b[0m: x", "error: x"},
		{"title and link", "\x1b]0;title\x07a \x1b]8;;http://x\x1b\\b\x1b]8;;\x1b\\", "a b"},
		{"unterminated title", "\x1b]0;a b", "0;a b"},
		{"colour without escape", "[31merror[0m: [5m] ^[[1mx", "error: [5m] x"},
		{"written escape", `a \u001b[31mb\\u001b[0m \x1b[1mc\033[0m`, "a b c"},
		{"backspace", "abx\bc", "abc"},
		{"nul", "a\x00b", "ab"},
		{"curly", "‘a’ “b” c…", `'a' "b" c...`},
		{"dashes", "lost — maybe", "lost -- maybe"},
		{"spaces", "a\u00a0b\u200b\ufeff \t c  \nd", "a b c\nd"},
		{"entities", "&lt;a&gt; &amp;quot;b&amp;quot; &#39;c&#x27; &nope; &", `<a> "b" 'c' &nope; &`},
		{"entity hides escape", "&#27;[31mx", "x"},
		{"UTF-16", "\xff\xfea\x00 \x00\x14\x20\n\x00b\x00", "a --\nb"},
		{"read as Latin 1", "a\u00e2\u20ac\u201c\u00e2\u0080\u009cb\u00e2\u20ac\u009d\u00c2\u00a0c", "a-\"b\" c"},
		{"broken UTF-8", "a\xffb\xe2\x80", "a\xffb\xe2\x80"},
	} {
		if got := undo(c.in); got != c.want {
			t.Errorf("%s: %q gives %q, want %q", c.name, c.in, got, c.want)
		}
	}
}

func TestPrefixes(t *testing.T) {
	for _, c := range []struct{ in, body, message string }{
		{"2023-09-25T08:38:17.1058756Z x y", "x y", "x y"},
		{"2018-09-11 23:25:00.222 ERROR boom", "ERROR boom", "boom"},
		{"2023-08-21 16:15:11.843 UTC [231] FATAL:  no", "[231] FATAL:  no", "no"},
		{"Nov 04 00:14:54 host-01 systemd[1]: a.service: Failed", "a.service: Failed", "a.service: Failed"},
		{"[Sun Dec 04 04:47:44 2005] [error] mod_jk", "[error] mod_jk", "mod_jk"},
		{"[2014-06-24 10:18:44,237: ERROR/MainProcess] Task x", "Task x", "Task x"},
		{"postgres_1  | 2023-11-14 17:27:59.593 UTC [32] FATAL:  x y", "[32] FATAL:  x y", "x y"},
		{"Stderr:       | fatal: not a", "fatal: not a", "not a"},
		{"#12 13.43 src/a.ts(12,71): error TS2307: Cannot find", "src/a.ts(12,71): error TS2307: Cannot find", "Cannot find"},
		{"> > npm ERR! code E1", "code E1", "code E1"},
		{"│ Error: Invalid │", "Error: Invalid", "Invalid"},
		{"W0731 06:08:51.207328       1 reflector.go:535] failed", "W0731 06:08:51.207328       1 reflector.go:535] failed", "failed"},
		{"error[E0277]: the trait", "error[E0277]: the trait", "the trait"},
		{"Error [ERR_MODULE_NOT_FOUND]: Cannot find", "Error [ERR_MODULE_NOT_FOUND]: Cannot find", "Cannot find"},
		{"Uncaught TypeError: x is not", "Uncaught TypeError: x is not", "x is not"},
		{"ERROR 1698 (28000): Access denied", "ERROR 1698 (28000): Access denied", "Access denied"},
		{"C:\\x\\docker.exe: Error response", "C:\\x\\docker.exe: Error response", "Error response"},
		{"10:04 is the time of day", "10:04 is the time of day", "10:04 is the time of day"},
		{"2024-03-01T10:00:00Z - first item", "- first item", "first item"},
	} {
		l := readLine([]byte(c.in), 0, len(c.in))
		if got := c.in[l.body:l.end]; got != c.body {
			t.Errorf("%q: body %q, want %q", c.in, got, c.body)
		}
		if got := c.in[min(l.message, l.end):l.end]; got != c.message {
			t.Errorf("%q: message %q, want %q", c.in, got, c.message)
		}
	}
}

func TestFrames(t *testing.T) {
	for text, want := range map[string]bool{
		"at Object.openSync (node:fs:590:3)":     true,
		"at org.a.B.c(B.java:235)":               true,
		`File "/usr/lib/a.py", line 3, in f`:     true,
		"/app/main.go:7 +0x1d":                   true,
		"goroutine 1 [running]:":                 true,
		"... 3 more":                             true,
		"at least one argument is needed":        false,
		"Failed at step EXEC spawning /sbin/foo": false,
	} {
		if got := isFrame([]byte(text)); got != want {
			t.Errorf("%q is a frame: %v, want %v", text, got, want)
		}
	}
}

var undoSeeds = []string{
	"", "a\r\nb", "\x1b[31mred\x1b[0m", "[1;31mx[0m", "&amp;amp;quot;", "“a” — ‘b’…", "\x1b\x1b[31m[31m", "a\b\b\bc",
	"&#38;lt;", "[3\u200b1mx", "\u00a0\u00a0 \t x", "\xff\xfe\x00", strings.Repeat("\x1b[", 40), "x[3[31m1m", "&am\u200bp;lt;",
	"\xff\xfea\x00\x14\x20\n\x00", "\xfe\xff\x00a\x20\x14\x00", "\u00e2\u20ac\u0153x\u00e2\u20ac\u009d \u00c2\u00a0", "a,\"it \"\"is\"\" so\",''", "it'\\''s ''", "##teamcity[a b='|'|n|0x2019|[|']",
	"the first line is cut at a c\nolumn, and so is the second \none of it, and the third goe\ns", "> a line of a mail that was\n> wrapped at a blank by what\n> wrote it",
}

// Undoing twice changes nothing, and the map leads every byte to the stretch of
// the input that it was made of.
func FuzzUndo(f *testing.F) {
	e, _ := madeEngine(f, 10)
	wraps := &work{engine: e, arena: &arena{}}
	hasPrefixes := func(lines []line) bool {
		return slices.ContainsFunc(lines, func(l line) bool { return l.layers != 0 || l.message > l.body })
	}
	for _, s := range undoSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		m := undoSpace(normalize(newMapped(input)))
		again := undoSpace(normalize(newMapped(bytes.Clone(m.text))))
		if !bytes.Equal(again.text, m.text) {
			t.Fatalf("%q gives %q, and that gives %q", input, m.text, again.text)
		}
		checkMap(t, input, m)
		for _, sub := range []*mapped{unescape(m, 0, len(m.text)), breakLines(m), undoDoubled(m)} {
			if sub != nil {
				checkMap(t, input, sub)
			}
		}
		wraps.arena.empty()
		undone, lines, _ := undoneLines(newMapped(input))
		if long := wraps.undoWraps(undone, lines, 1); long != nil {
			checkMap(t, input, long)
			if !bytes.Equal(bytes.Join(bytes.Fields(long.text), nil), bytes.Join(bytes.Fields(undone.text), nil)) && !hasPrefixes(lines) {
				t.Fatalf("%q comes back as %q", undone.text, long.text)
			}
		}
		plain, _ := dropPrefixes(undone, lines)
		checkMap(t, input, plain)
	})
}

// wrapLine wraps a line at a width, at blanks or anywhere.
func wrapLine(line string, width int, anywhere bool) string {
	var out []string
	for len(line) > width {
		k := width
		if !anywhere {
			if k = strings.LastIndexByte(line[:width+1], ' '); k <= 0 {
				break
			}
		}
		out = append(out, line[:k])
		if line = line[k:]; !anywhere {
			line = line[1:]
		}
	}
	return strings.Join(append(out, line), "\n")
}

// unwrapped is a text with its wraps undone, as it is when nothing says that there are any.
func unwrapped(w *work, text string) string {
	undone, lines, _ := undoneLines(newMapped([]byte(text)))
	if long := w.undoWraps(undone, lines, 0); long != nil {
		return string(undoSpace(long).text)
	}
	return string(undone.text)
}

// Lines come back from being wrapped at any width. Text that was not wrapped stays as it
// is.
func TestWrapsComeUndone(t *testing.T) {
	e, messages := madeEngine(t, 300)
	r := rand.New(rand.NewPCG(8, 8))
	w := &work{engine: e, arena: &arena{}, large: true}
	tried, cut, broken, plain := 0, 0, 0, 0
	for range 3000 {
		var lines []string
		for range 1 + r.IntN(5) {
			line := corpus.Fill(r, messages[r.IntN(len(messages))])
			switch r.IntN(3) {
			case 0:
				line = "2026-03-01T08:15:02.113Z ERROR " + line + ": " + corpus.Fill(r, messages[r.IntN(len(messages))])
			case 1:
				line = "Error: " + line
			}
			lines = append(lines, line)
		}
		text := strings.Join(lines, "\n")
		if unwrapped(w, text) != text {
			plain++
		}
		width, anywhere := 40+r.IntN(80), r.IntN(2) == 0
		for i := range lines {
			lines[i] = wrapLine(lines[i], width, anywhere)
		}
		wrapped := strings.Join(lines, "\n")
		if strings.Count(wrapped, "\n")-strings.Count(text, "\n") < 3 {
			continue
		}
		tried++
		got := unwrapped(w, wrapped)
		if anywhere && got != text {
			cut++
		}
		// Whether a line that was not broken goes on in the next one cannot be known.
		for line := range strings.Lines(text) {
			if !anywhere && !strings.Contains(got, strings.TrimSpace(line)) {
				broken++
				break
			}
		}
	}
	t.Logf("%d wrapped texts; cut at a column and not back: %d; broken at blanks and not back: %d; %d others of 3000 changed", tried, cut, broken, plain)
	if tried < 1000 || 100*cut > tried || 10*broken > tried || 100*plain > 3000 {
		t.Error("these are too many, or too few were tried")
	}
}

// checkMap checks that a mapped text leads back to its input.
func checkMap(t *testing.T, input []byte, m *mapped) {
	t.Helper()
	last := 0
	for k, r := range m.runs {
		if r.at > len(m.text) || k > 0 && r.at < m.runs[k-1].at {
			t.Fatalf("run %d begins at %d of %d", k, r.at, len(m.text))
		}
		if r.from < 0 || r.to < r.from || r.to > len(input) {
			t.Fatalf("run %d stands for %d:%d of %d", k, r.from, r.to, len(input))
		}
		if r.copied && r.from < last {
			t.Fatalf("run %d goes back to %d behind %d", k, r.from, last)
		}
		if r.copied {
			last = r.to
		}
	}
	for i := range m.text {
		from, to := m.span(i, i+1)
		if from < 0 || to < from || to > len(input) {
			t.Fatalf("byte %d stands for %d:%d", i, from, to)
		}
		if r := m.runs[m.runAt(i)]; r.copied && (to != from+1 || input[from] != m.text[i]) {
			t.Fatalf("byte %d is %q, the input has %q at %d:%d", i, m.text[i], input[from:to], from, to)
		}
	}
}
