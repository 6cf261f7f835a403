package diagnose

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"errorkb/internal/pattern/corpus"
)

// madeEngine knows n made messages.
func madeEngine(tb testing.TB, n int) (*Engine, []string) {
	tb.Helper()
	messages := corpus.Messages(n)
	entries := make([]Entry, n)
	for i, m := range messages {
		entries[i] = Entry{Ref: Ref{ID: strconv.Itoa(i)}, Pattern: corpus.Expression(m), Template: m}
	}
	entries[0].Code, entries[1].Code = "KB4711", "ERR_MADE_UP"
	e, err := New("", entries)
	if err != nil {
		tb.Fatal(err)
	}
	return e, messages
}

// everything is the answer with all that was found.
func (w *work) everything() string {
	a := Answer{}
	w.rank(&a, Options{MaxDiagnoses: math.MaxInt, MaxEvidence: math.MaxInt})
	return strings.ReplaceAll(string(a.AppendJSON(nil)), `{"record"`, "\n"+`{"record"`)
}

// wholly reads all of a text as a small one is read, but for messages that were cut.
func wholly(e *Engine, text []byte) *work {
	w := e.newWork(context.Background(), text, math.MaxInt)
	w.read(newMapped(text), 0, false)
	for _, r := range w.texts {
		w.find(r)
	}
	w.findCodes()
	w.judge()
	w.tally.addAll(w.hits)
	return w
}

// eachLine is a text with something done to every line.
func eachLine(text []byte, f func(line []byte) string) []byte {
	var b bytes.Buffer
	for l := range bytes.Lines(text) {
		b.WriteString(f(bytes.TrimSuffix(l, newline)))
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// shapes are a log as it comes out of different things.
func shapes(log []byte) map[string][]byte {
	bare := eachLine(log, func(l []byte) string { return strings.TrimLeft(string(l[bytes.IndexByte(l, ' '):]), " ") })
	return map[string][]byte{
		"plain": log, "worn": corpus.Disguise(log), "crlf": bytes.ReplaceAll(log, []byte("\n"), []byte("\r\n")),
		"blanks":   bytes.ReplaceAll(log, []byte(" "), []byte("   ")),
		"tabs":     bytes.ReplaceAll(log, []byte(" the "), []byte("\tthe ")),
		"brackets": eachLine(log, func(l []byte) string { return "[" + string(l[:24]) + "] [app] " + string(l[25:]) }),
		"quotes":   eachLine(log, func(l []byte) string { return string(l[:25]) + `level=error msg="` + string(l[25:]) + `" n=1` }),
		"syslog":   eachLine(log, func(l []byte) string { return "Mar  1 08:15:04 host app[4121]: (" + string(l[25:]) + ")" }),
		"marks":    eachLine(log, func(l []byte) string { return "> " + string(l) + " \u2192 caf\u00e9" }),
		"drives":   bytes.ReplaceAll(log, []byte("/etc/app/config.yaml"), []byte(`C:\temp\node\root.yaml`)),
		"bare":     bare,
		"levels":   eachLine(bare, func(l []byte) string { return "ERROR " + string(l) }),
		"columns":  eachLine(bare, func(l []byte) string { return "web-1  | \x1b[31m" + string(l) + "\x1b[0m" }),
	}
}

// In a log of entries that begin with a time, reading those that hold something
// finds what reading all of it finds, whatever was done to the text; and so it does
// where no line begins with a time.
func TestLargeFindsWhatIsThere(t *testing.T) {
	e, messages := madeEngine(t, 300)
	log := corpus.Log(largeText*2, messages)
	log = append(log, "2026-03-01T08:15:02.113Z failed with KB4711\n2026-03-01T08:15:03.113Z see ERR_MADE_UP for more\n"...)
	for name, text := range shapes(log) {
		// Behind the part in which pieces of cut messages are looked for as well.
		text = append(corpus.Log(cutText, nil), text...)
		whole := wholly(e, text)
		large := e.newWork(context.Background(), text, math.MaxInt)
		large.searchLarge()
		want, got := whole.everything(), large.everything()
		if strings.Count(want, "\n") < 20 {
			t.Fatalf("%s: %d records; is the log empty?", name, strings.Count(want, "\n"))
		}
		if got != want {
			w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
			for i := range min(len(w), len(g)) {
				if w[i] != g[i] {
					t.Errorf("%s: found\n%s\nwant\n%s", name, g[i], w[i])
					break
				}
			}
			t.Errorf("%s: %d records, want %d", name, len(g), len(w))
		}
	}
}

// Lines that are read by themselves hold what they hold together, however the
// messages in them were wrapped.
func TestLinesApart(t *testing.T) {
	e, messages := madeEngine(t, 300)
	r := rand.New(rand.NewPCG(6, 6))
	starts := []string{"", "ERROR ", "  ", "| ", "> ", "hint: ", "web-1 | ", "npm ERR! ", "\t"}
	apart, together, joined := 0, 0, 0
	for range 4000 {
		width, start := 40+r.IntN(60), starts[r.IntN(len(starts))]
		var b strings.Builder
		for range 1 + r.IntN(6) {
			line := corpus.Fill(r, messages[r.IntN(len(messages))])
			switch r.IntN(4) {
			case 0:
				line = "INFO index pool at 7% of its limit"
			case 1:
				line = line[:r.IntN(len(line))] + " for \"" + line + "\""
			}
			for r.IntN(3) > 0 && len(line) > width {
				cut := width
				if r.IntN(2) == 0 {
					cut = strings.LastIndexByte(line[:width], ' ') + 1
				}
				b.WriteString(start + line[:cut] + "\n")
				line = line[cut:]
			}
			b.WriteString(start + line + []string{"", " ", "\r", "  done"}[r.IntN(4)] + "\n")
		}
		text := []byte(b.String())
		found := func(read func(w *work)) string {
			w := e.newWork(context.Background(), text, math.MaxInt)
			w.large = true
			read(w)
			for _, h := range w.hits {
				if h.reading.joined {
					joined++
				}
			}
			w.findCodes()
			w.judge()
			w.tally.addAll(append(w.hits, w.short...))
			return w.everything()
		}
		want := found(func(w *work) { w.readEntry(0, len(text)) })
		alone := false
		got := found(func(w *work) {
			var c clear
			c.make(text, false)
			w.mark(&c, cutText, cutText)
			if alone = w.apart(&c, 0, len(text), c.marks); alone {
				w.readLinesOf(&c, 0, 0, len(text), c.marks)
			}
		})
		switch {
		case !alone:
			together++
		case got != want:
			t.Fatalf("the lines of\n%s\nhold\n%s\ntogether\n%s", text, got, want)
		default:
			apart++
		}
	}
	if apart < 500 || together < 500 || joined < 500 {
		t.Errorf("%d texts apart, %d together, %d joined hits; does this test anything?", apart, together, joined)
	}
}

// The telling line of a large text is that of all its lines.
func TestLargeTellsTheLine(t *testing.T) {
	e, _ := madeEngine(t, 2)
	log := corpus.Log(largeText*3, nil)
	r := rand.New(rand.NewPCG(4, 4))
	lines := bytes.SplitAfter(log, newline)
	for _, l := range []string{"nothing could not be read", "FATAL out of everything", "app: ValueError: no such value", "ERROR it failed"} {
		k := r.IntN(len(lines) - 1)
		lines[k] = []byte("2026-03-01T08:15:02.113Z " + l + "\n")
	}
	told := map[string]bool{}
	for name, text := range shapes(bytes.Join(lines, nil)) {
		w := e.newWork(context.Background(), text, 0)
		var want telling
		base := readLines(newMapped(text), 0, false)
		for i := range base.lines {
			if want.weigh(base.m.text, &base.lines[i]) {
				want.in, want.line = base, &base.lines[i]
			}
		}
		w.large = true
		best := w.tellingLine()
		in, line, why := best.in, best.line, best.why
		if line == nil {
			t.Fatalf("%s: no line", name)
		}
		wantFrom, wantTo := want.in.m.span(want.line.body, want.line.end)
		if from, to := in.m.span(line.body, line.end); from != wantFrom || to != wantTo || why != want.why {
			t.Errorf("%s: %q, %s; want %q, %s", name, text[from:to], why, text[wantFrom:wantTo], want.why)
		}
		told[why] = true
	}
	if len(told) < 2 {
		t.Errorf("every line was chosen for one reason: %v", told)
	}
}

// A stack trace and other lines without a time belong to the entry before them.
func TestLargeReadsEntriesWhole(t *testing.T) {
	e, err := New("", []Entry{{Ref: Ref{ID: "wide"}, Pattern: `the lighthouse keeper lost (?P<what>.+?) in the storm`}})
	if err != nil {
		t.Fatal(err)
	}
	entry := "2026-03-01 08:15:02 ERROR worker stopped\n    the lighthouse keeper\n    lost his hat in the storm\n"
	quiet := strings.Repeat("2026-03-01 08:15:02 INFO nothing to see\n", 3*chunkSize/40)
	text := []byte(quiet + entry + quiet)
	a := e.Diagnose(context.Background(), text, Options{})
	if len(a.Diagnoses) != 1 || a.Diagnoses[0].Count != 1 {
		t.Fatalf("found %+v", a.Diagnoses)
	}
	if got, want := a.Diagnoses[0].Evidence[0].Line, strings.Count(quiet, "\n")+2; got != want {
		t.Errorf("line %d, want %d", got, want)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if a := e.Diagnose(ended, text, Options{}); !a.Partial {
		t.Error("a search that did not take place is not partial")
	}
}

// Windows of a text tell the special bytes and the line ends, however they are made.
func TestWindows(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	found := 0
	for n := range 2000 {
		text := make([]byte, n%400)
		for i := range text {
			if text[i] = byte(r.IntN(256)); r.IntN(4) == 0 {
				text[i] = " \n[\\&a"[r.IntN(6)]
			}
		}
		k := windowsOf(len(text))
		special, ends := make([]uint64, k), make([]uint64, k)
		twinSpecial, twinEnds := make([]uint64, k), make([]uint64, k)
		windows(text, 0, special, ends)
		windowsPortable(text, 0, twinSpecial, twinEnds)
		for i := range text {
			want, end := isSpecial(text, i), text[i] == '\n'
			if want {
				found++
			}
			if got := special[i/64]>>(i%64)&1 != 0; got != want {
				t.Fatalf("byte %d of %q: special is %v", i, text, got)
			}
			if got := ends[i/64]>>(i%64)&1 != 0; got != end {
				t.Fatalf("byte %d of %q: end is %v", i, text, got)
			}
		}
		for _, c := range []*class{wordClass, codeClass} {
			classes(text, c, special)
			for i := range text {
				if got := special[i/64]>>(i%64)&1 != 0; got != c.has[text[i]] {
					t.Fatalf("byte %d of %q: class is %v", i, text, got)
				}
			}
		}
		windows(text, 0, special, ends)
		if !slices.Equal(special, twinSpecial) || !slices.Equal(ends, twinEnds) {
			t.Fatalf("the portable twin differs for %q", text)
		}
	}
	if found < 1000 {
		t.Fatalf("only %d special bytes", found)
	}
}

// Codes of records are found among all words, by looking at few.
func TestEachCode(t *testing.T) {
	codes := []string{"TS2307", "ORA-00942", "1045", "42", "-13", "ERR_MADE_UP", "E0382", "42P01", "EACCES"}
	var entries []Entry
	for _, c := range codes {
		entries = append(entries, Entry{Ref: Ref{ID: c, Repo: "facebook/react"}, Code: c, Template: "a message of " + c})
	}
	entries = append(entries, Entry{Ref: Ref{ID: "m", Repo: "facebook/react"}, Code: "418", Template: "another message"})
	e, err := New("", entries)
	if err != nil {
		t.Fatal(err)
	}
	words := append(codes, "error", "error:", "code", "errno", "SQLSTATE", " ", " ", " ", "-", "/", "\n", "(", "é", "ts(2307)", "2026-03-01",
		"10:45", "Minified React error #418; visit https://react.dev/errors/418?args[]=a ", "https://react.dev/errors/418", "x", "ERR_MADE", "TS23078", "E1")
	r := rand.New(rand.NewPCG(5, 5))
	seen := map[string]bool{}
	for range 20_000 {
		var b strings.Builder
		for range r.IntN(8) {
			b.WriteString(words[r.IntN(len(words))])
		}
		text := []byte(b.String())
		var want, got []mention
		for i := 0; i < len(text); {
			if !isWord(text[i]) {
				i++
				continue
			}
			m, ok, next := codeAt(text, i)
			if i = next; ok && len(e.codes.of(m.code)) > 0 {
				want = append(want, m)
				seen[m.code] = true
			}
		}
		e.eachCode(text, func(m mention) bool { got = append(got, m); return true })
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("codes of %q: %v, want %v", text, got, want)
		}
	}
	if len(seen) < len(codes) {
		t.Errorf("only %v were found", seen)
	}
}

// A large text of anything is answered, and all of it is looked at.
func TestLargeStandsAnything(t *testing.T) {
	e, messages := madeEngine(t, 300)
	units := []string{`\`, `\\n`, `\"`, `"`, `"a b `, `{"log":"`, `"}`, "x", "\x1b[", "\x1b[1m", "[1;31m", "&amp;", "&", "\u2026", "\u2028", "[1;", "(", "a:", "\r", "\b",
		"\n", "\t", " ", "  ", "\x00", "\xff", "| ", "> ", "ERROR ", "at x (y:1:1)", "```", "2026-03-01T08:15:02.113Z ", "Mar  1 08:15:04 ", "\u2502", messages[0], messages[1] + "\n"}
	r := rand.New(rand.NewPCG(7, 7))
	for k := range 120 {
		size, n := largeText+r.IntN(largeText), 1+r.IntN(6)
		var some []string
		if k < len(units) {
			some = units[k : k+1]
		}
		for len(some) < n && k >= len(units) {
			some = append(some, units[r.IntN(len(units))])
		}
		var b bytes.Buffer
		for b.Len() < size {
			b.WriteString(some[r.IntN(len(some))])
		}
		a := e.Diagnose(context.Background(), b.Bytes(), Options{})
		if a.Partial || a.Input.Bytes != b.Len() {
			t.Errorf("%q: partial %v, %d bytes of %d", some, a.Partial, a.Input.Bytes, b.Len())
		}
	}
}

// The passes that look at eight bytes at once stop where a look at each byte does.
func TestEightBytesAtOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	alphabet := []byte("aaaaaaaaaaaaaaaaaaaa  \t\n\r\x1b\x7f&[\\\"\x00\x01\x1f!\x80\xe2\xff")
	found := 0
	for range 20_000 {
		text := make([]byte, r.IntN(40))
		for i := range text {
			text[i] = alphabet[r.IntN(1+r.IntN(len(alphabet)))]
		}
		naive := func(odd func(i int) bool) int {
			for i := range text {
				if odd(i) {
					found++
					return i
				}
			}
			return len(text)
		}
		next := func(i int) byte {
			if i+1 < len(text) {
				return text[i+1]
			}
			return '\n'
		}
		if got, want := nextSpace(text, 0), naive(func(i int) bool {
			return text[i] == '\t' || text[i] == ' ' && strings.ContainsRune(" \t\n", rune(next(i)))
		}); got != want {
			t.Fatalf("nextSpace(%q) = %d, want %d", text, got, want)
		}
		if got, want := isASCII(text), naive(func(i int) bool { return text[i] >= 0x80 }) == len(text); got != want {
			t.Fatalf("isASCII(%q) = %v", text, got)
		}
		if got, want := hasControl(text), naive(func(i int) bool {
			c := text[i]
			return c < 0x20 && c != '\n' && c != '\t' && c != '\r' || c == 0x7f
		}) < len(text); got != want {
			t.Fatalf("hasControl(%q) = %v", text, got)
		}
	}
	if found < 10_000 {
		t.Fatalf("only %d texts had anything to stop at", found)
	}
}

// Where a message stands cut, one of its pieces is there.
func TestPiecesTellCutMessages(t *testing.T) {
	e, messages := madeEngine(t, 200)
	r := rand.New(rand.NewPCG(2, 2))
	tried := 0
	for i, m := range messages {
		text := strings.ReplaceAll(m, corpus.GapMark, "x1")
		for range 20 {
			line := []byte("error: " + text[:r.IntN(len(text)+1)])
			if r.IntN(2) == 0 {
				line = []byte(text[r.IntN(len(text)+1):])
			}
			if len(line) == 0 {
				continue
			}
			w := &work{engine: e, ctx: context.Background(), input: line}
			w.read(newMapped(line), 0, false)
			l := &w.texts[0].lines[0]
			enough := false
			if a, ok := alignHead(e.segments(i), w.texts[0], l.body, l.end, l.end); ok {
				_, _, enough = a.enough()
			}
			if a, ok := alignTail(e.segments(i), w.texts[0], l.body, l.end); ok && !enough {
				_, _, enough = a.enough()
			}
			if !enough {
				continue
			}
			tried++
			if c := newCut(w.texts[0], w.texts[0], l, -1); !slices.Contains(cutOwners(w, &c), int32(i)) {
				t.Fatalf("%q is passed over, and holds enough of %q", line, m)
			}
		}
	}
	if tried < 500 {
		t.Fatalf("only %d cut messages were tried", tried)
	}
}

// No consequence is passed over.
func TestConsequences(t *testing.T) {
	for _, c := range consequences {
		text := "step 3: " + strings.ToUpper(string(c)) + " 1"
		if !isConsequence([]byte(text)) {
			t.Errorf("%q is no consequence", text)
		}
	}
	if isConsequence([]byte("cannot open the file")) {
		t.Error("every line is a consequence")
	}
}
