package diagnose_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"errorkb/internal/diagnose"
	"errorkb/internal/diagnose/entry"
	"errorkb/internal/kb"
	"errorkb/records"
)

var update = flag.Bool("update", false, "write the golden files anew")

// seeds are the ids of the first records. The golden answers are of these, so
// that a new record does not change them.
var seeds = map[string]bool{
	"2cc91d4b712d79f6": true, "76cd561cc94f654d": true, "aac633ea169db74f": true, "ec727a874bad4398": true, "fbc48e17530ae3db": true,
}

func seedEngine(t testing.TB) *diagnose.Engine {
	t.Helper()
	_, list := bundled(t)
	var entries []diagnose.Entry
	for _, r := range list {
		if seeds[r.ID] {
			e := entry.Of(r, "/errors/"+r.Repo+"/"+r.Slug+"/")
			if len(e.Solutions) == 0 {
				t.Errorf("%s has no solution", r.ID)
			}
			e.Solutions = []string{"read the manual"} // theirs may be reworded
			entries = append(entries, e)
		}
	}
	if len(entries) != len(seeds) {
		t.Fatalf("%d of %d seed records", len(entries), len(seeds))
	}
	engine, err := diagnose.New("test", entries)
	if err != nil {
		t.Fatal(err)
	}
	return engine
}

// bundled is an engine of the bundled records, and the records.
func bundled(t testing.TB) (*diagnose.Engine, []*kb.Record) {
	t.Helper()
	sources, findings := kb.ReadDir(records.FS)
	if kb.HasErrors(findings) {
		t.Fatalf("bundled records: %v", findings)
	}
	set := kb.NewSet(sources)
	if len(set.Records) == 0 {
		t.Fatal("no bundled record")
	}
	var entries []diagnose.Entry
	for _, r := range set.Records {
		entries = append(entries, entry.Of(r, "/errors/"+r.Repo+"/"+r.Slug+"/"))
	}
	engine, err := diagnose.New("test", entries)
	if err != nil {
		t.Fatal(err)
	}
	return engine, set.Records
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func eachLine(s string, f func(string) string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = f(lines[i])
	}
	return strings.Join(lines, "\n")
}

// disguises are what happens to a message on its way into a paste.
var disguises = []struct {
	name string
	wear func(message string) string
}{
	{"bare", func(m string) string { return m }},
	{"error prefix", func(m string) string { return "Error: " + m }},
	{"crlf", func(m string) string { return "before\r\n" + m + "\r\nafter\r\n" }},
	{"carriage return", func(m string) string { return "working 10%\rworking 90%\r" + m }},
	{"ansi line", func(m string) string { return "\x1b[1;31m" + m + "\x1b[0m" }},
	{"ansi words", func(m string) string { return strings.ReplaceAll(m, " ", "\x1b[0m \x1b[36m") }},
	{"colour without escape", func(m string) string { return "[31m" + m + "[0m" }},
	{"hyperlink", func(m string) string { return "\x1b]8;;https://example.org\x1b\\" + m + "\x1b]8;;\x1b\\" }},
	{"json", func(m string) string { return `{"level":50,"msg":` + quoted(m) + `,"pid":1}` }},
	{"json twice", func(m string) string { return `{"log":` + quoted(`{"level":50,"msg":`+quoted(m)+`}`) + `}` }},
	{"json three times", func(m string) string {
		return `{"a":` + quoted(`{"log":`+quoted(`{"level":50,"msg":`+quoted(m)+`}`)+`}`) + `}`
	}},
	{"docker json log", func(m string) string {
		return `{"log":` + quoted("start\n") + `,"stream":"stdout"}` + "\n" + `{"log":` + quoted(m+"\n") + `,"stream":"stderr"}`
	}},
	{"logfmt", func(m string) string { return "time=2024-01-01 level=error msg=" + fmt.Sprintf("%q", m) }},
	{"html", html.EscapeString},
	{"html twice", func(m string) string { return html.EscapeString(html.EscapeString(m)) }},
	{"curly quotes", func(m string) string {
		for strings.Contains(m, `"`) {
			m = strings.Replace(strings.Replace(m, `"`, "“", 1), `"`, "”", 1)
		}
		return m
	}},
	{"non-breaking spaces", func(m string) string { return strings.ReplaceAll(m, " ", "\u00a0") }},
	{"zero-width spaces", func(m string) string { return strings.ReplaceAll(m, " ", "\u200b ") }},
	{"mail quote", func(m string) string { return "You wrote:\n> > " + m + "\n" }},
	{"fence", func(m string) string { return "I get\n\n```\n" + m + "\n```\n\nwhat now?" }},
	{"bold", func(m string) string { return "it says **" + m + "** every time" }},
	{"box", func(m string) string { return "╷\n│ Error: " + m + "\n╵" }},
	{"syslog", func(m string) string { return "Nov 04 00:14:54 host-01 app[17]: " + m }},
	{"timestamp and level", func(m string) string { return "2023-09-25T08:38:17.1058756Z ERROR " + m }},
	{"klog", func(m string) string { return "E0731 06:08:51.207328       1 agent.go:535] " + m }},
	{"compose", func(m string) string { return "server_1  | " + m }},
	{"buildkit", func(m string) string { return "#12 13.40 " + m }},
	{"npm", func(m string) string { return "npm ERR! code 1\nnpm ERR! " + m }},
	{"uncaught", func(m string) string { return "Uncaught (in promise) Error: " + m }},
	{"cause", func(m string) string {
		return "java.lang.RuntimeException: x\n\tat a.B.c(B.java:1)\nCaused by: java.io.IOException: " + m + "\n\t... 3 more"
	}},
	{"node trace", func(m string) string {
		return "/app/server.js:3\n  throw e;\n  ^\n\nError: " + m + "\n    at openDuplexChannel (file:///app/dist/environment-runtime.js:2156:15)\n    at main (file:///app/dist/main.js:1:1)"
	}},
	{"python trace", func(m string) string {
		return "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    f()\nRuntimeError: " + m
	}},
	{"go panic", func(m string) string {
		return "panic: " + m + "\n\ngoroutine 1 [running]:\nmain.main()\n\t/app/main.go:7 +0x1d\nexit status 2"
	}},
	{"wrapped at blanks", func(m string) string { return wrap(m, 32) }},
	{"wrapped in a box", func(m string) string { return eachLine(wrap(m, 30), func(l string) string { return "│ " + l }) }},
	{"hint lines", func(m string) string { return eachLine(wrap(m, 40), func(l string) string { return "hint: " + l }) }},
}

// wrap breaks a text at blanks so that lines hold at most width bytes.
func wrap(s string, width int) string {
	var out []string
	for len(s) > width {
		k := strings.LastIndexByte(s[:width], ' ')
		if k <= 0 {
			break
		}
		out = append(out, s[:k])
		s = s[k+1:]
	}
	return strings.Join(append(out, s), "\n")
}

// filled is the message of a record with the values that its captures give as
// examples, or with the placeholders left as they are written.
func filled(r *kb.Record, literally bool) (message string, values []string) {
	message = r.ErrorMessage
	for i, placeholder := range kb.Placeholders(r.ErrorMessage) {
		value := placeholder
		if !literally && i < len(r.Captures) {
			value = r.Captures[i].Example
		}
		message = strings.Replace(message, placeholder, value, 1)
		values = append(values, value)
	}
	return message, values
}

func TestDisguises(t *testing.T) {
	engine, list := bundled(t)
	for _, d := range disguises {
		for _, r := range list {
			for _, literally := range []bool{false, true} {
				message, values := filled(r, literally)
				if literally && len(values) == 0 {
					continue
				}
				if len(strings.Fields(regexp.MustCompile(`\$\{[^}]*\}`).ReplaceAllString(r.ErrorMessage, ""))) < 5 {
					continue // needs more than its words; see TestWeak
				}
				if expr := regexp.MustCompile(r.MessagePattern); !expr.MatchString(message) {
					continue // a gap that takes numbers only
				}
				text := d.wear(message)
				answer := engine.Diagnose(context.Background(), []byte(text), diagnose.Options{})
				if len(answer.Diagnoses) == 0 || answer.Diagnoses[0].Record.ID != r.ID {
					t.Errorf("%s: %q gives %s, want %s", d.name, text, ids(&answer), r.ID)
					continue
				}
				got := answer.Diagnoses[0].Evidence[0]
				for i, c := range r.Captures {
					if strings.HasPrefix(d.name, "wrapped") || strings.HasPrefix(d.name, "hint") {
						if i == len(r.Captures)-1 && strings.HasSuffix(message, values[i]) {
							continue // whether the last value goes on in the next line cannot be known
						}
					}
					if len(got.Captures) <= i || got.Captures[i].Name != c.Name || got.Captures[i].Value != values[i] {
						t.Errorf("%s: %q: captures %v, want %s %q", d.name, text, got.Captures, c.Name, values[i])
					}
				}
				checkSpans(t, text, &answer)
			}
		}
	}
}

// A message of few or common words is reported where it stands alone or has a
// second witness, and not in the middle of other text.
func TestWeak(t *testing.T) {
	engine, err := diagnose.New("test", []diagnose.Entry{
		{Ref: diagnose.Ref{ID: "required"}, Template: "${name} is required"},
		{Ref: diagnose.Ref{ID: "state"}, Template: "bad state", Class: "LinkError"},
		{Ref: diagnose.Ref{ID: "port"}, Template: "port taken", Code: "E4711"},
		{Ref: diagnose.Ref{ID: "constant"}, Template: "DUPLEX_CHANNEL_BUSY"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"POST /signup 422 - validation failed: password is required": "",
		"the workshop was in a bad state when we came":               "",
		"LinkError: bad state":                                       "state",
		"E4711 port taken by 12":                                     "port",
		"E4711":                                                      "port",
		`{"level":50,"msg":"DUPLEX_CHANNEL_BUSY"}`:                   "constant",
		"if (e.code === DUPLEX_CHANNEL_BUSY(x)) {":                   "",
	} {
		answer := engine.Diagnose(context.Background(), []byte(text), diagnose.Options{})
		got := ""
		if len(answer.Diagnoses) > 0 {
			got = answer.Diagnoses[0].Record.ID
		}
		if got != want {
			t.Errorf("%q gives %s, want %q", text, ids(&answer), want)
		}
	}
}

// Text wins over a code that belongs to another message, and the answer says so.
func TestCodeAndText(t *testing.T) {
	engine, err := diagnose.New("test", []diagnose.Entry{
		{Ref: diagnose.Ref{ID: "old"}, Template: "Duplicate entry '${value}' for key ${number}", Pattern: `Duplicate entry '(?P<value>.*?)' for key (?P<number>\d+)`, Code: "ER_DUP_ENTRY", Aliases: []string{"1062"}},
		{Ref: diagnose.Ref{ID: "new"}, Template: "Duplicate entry '${value}' for key '${name}'", Code: "ER_DUP_ENTRY_WITH_KEY_NAME"},
		{Ref: diagnose.Ref{ID: "twin"}, Template: "Duplicate entry '${v}' for key '${n}'"},
	})
	if err != nil {
		t.Fatal(err)
	}
	answer := engine.Diagnose(context.Background(), []byte("SQLSTATE[23000]: Integrity constraint violation: 1062 Duplicate entry 'a' for key 'b'"), diagnose.Options{})
	if len(answer.Diagnoses) != 1 || answer.Diagnoses[0].Record.ID != "new" {
		t.Fatalf("got %s", ids(&answer))
	}
	why := map[string]string{}
	for _, r := range answer.RunnersUp {
		why[r.Record.ID] = r.Why
	}
	if !strings.Contains(why["old"], "1062") || !strings.Contains(why["twin"], "same words") {
		t.Errorf("runners-up %s", ids(&answer))
	}
}

// Of one message in another the cause comes first, the wrapper after it.
func TestCauseBeforeWrapper(t *testing.T) {
	engine, err := diagnose.New("test", []diagnose.Entry{
		{Ref: diagnose.Ref{ID: "wrapper", Role: "wrapper"}, Template: "the synchronisation of the whole workspace could not be completed: ${reason}"},
		{Ref: diagnose.Ref{ID: "cause", Role: "cause"}, Template: "disk quota of volume ${volume} exceeded"},
	})
	if err != nil {
		t.Fatal(err)
	}
	answer := engine.Diagnose(context.Background(), []byte("Error: the synchronisation of the whole workspace could not be completed: disk quota of volume v7 exceeded"), diagnose.Options{})
	if len(answer.Diagnoses) != 2 || answer.Diagnoses[0].Record.ID != "cause" || answer.Diagnoses[1].Record.ID != "wrapper" {
		t.Errorf("got %s", ids(&answer))
	}
}

func TestHistoric(t *testing.T) {
	engine, err := diagnose.New("test", []diagnose.Entry{{
		Ref: diagnose.Ref{ID: "x"}, Template: "the lease of ${name} has run out",
		History: []diagnose.Wording{{Template: "lease for ${name} is expired by now", Until: "2.0"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	answer := engine.Diagnose(context.Background(), []byte("Error: lease for box is expired by now"), diagnose.Options{})
	if len(answer.Diagnoses) != 1 || answer.Diagnoses[0].Kind != diagnose.KindHistoric || answer.Diagnoses[0].Evidence[0].Captures[0].Value != "box" {
		t.Errorf("got %s", ids(&answer))
	}
}

func ids(a *diagnose.Answer) string {
	var out []string
	for _, d := range a.Diagnoses {
		out = append(out, fmt.Sprintf("%s %s %.2f", d.Record.ID, d.Kind, d.Confidence))
	}
	for _, r := range a.RunnersUp {
		out = append(out, fmt.Sprintf("(%s %.2f %s)", r.Record.ID, r.Confidence, r.Why))
	}
	return fmt.Sprint(out)
}

// checkSpans checks what holds of every answer: offsets lie in the input, lines
// and columns belong to them, values lie inside their evidence.
func checkSpans(t testing.TB, text string, a *diagnose.Answer) {
	t.Helper()
	for _, d := range a.Diagnoses {
		if len(d.Evidence) == 0 || d.Count < len(d.Evidence) {
			t.Errorf("%q: %s has %d places, count %d", text, d.Record.ID, len(d.Evidence), d.Count)
		}
		for _, e := range d.Evidence {
			if e.Start < 0 || e.End < e.Start || e.End > len(text) {
				t.Fatalf("%q: span %d:%d", text, e.Start, e.End)
			}
			line := 1 + strings.Count(text[:e.Start], "\n")
			column := e.Start - strings.LastIndexByte(text[:e.Start], '\n')
			if e.Line != line || e.Column != column {
				t.Errorf("%q: offset %d is at %d:%d, want %d:%d", text, e.Start, e.Line, e.Column, line, column)
			}
			if len(e.Undone) == 0 && e.Text != text[e.Start:e.End] {
				t.Errorf("%q: nothing undone, but %q is not %q", text, e.Text, text[e.Start:e.End])
			}
			for _, c := range e.Captures {
				if c.Start < e.Start || c.End > e.End || c.End < c.Start {
					t.Errorf("%q: capture %d:%d outside of %d:%d", text, c.Start, c.End, e.Start, e.End)
				}
			}
		}
	}
	if (a.Verdict == diagnose.VerdictUnknown) != (a.Unknown != nil) {
		t.Errorf("%q: verdict %s, unknown %v", text, a.Verdict, a.Unknown)
	}
}

func TestCutTitle(t *testing.T) {
	engine, list := bundled(t)
	tried := 0
	for _, r := range list {
		message, _ := filled(r, true)
		twin := false
		for _, o := range list {
			twin = twin || o != r && len(message) > 60 && strings.HasPrefix(o.ErrorMessage, message[:50])
		}
		if len(message) <= 61 || twin || strings.Contains(message[50:], "${") {
			continue // whole, or cut where several messages are still the same
		}
		tried++
		for _, cut := range []string{message[:60], message[:60] + "…", message[:60] + "...", "“" + message[:60] + "…”"} {
			answer := engine.Diagnose(context.Background(), []byte(cut), diagnose.Options{})
			if len(answer.Diagnoses) == 0 || answer.Diagnoses[0].Record.ID != r.ID {
				if len(message) <= 110 { // more than half of it is there
					t.Errorf("%q gives %s, want %s", cut, ids(&answer), r.ID)
				}
				continue
			}
			if kind := answer.Diagnoses[0].Kind; kind != diagnose.KindTruncated {
				t.Errorf("%q is %s, want truncated", cut, kind)
			}
		}
	}
	if tried == 0 {
		t.Fatal("no record with a long message")
	}
}

func TestExamples(t *testing.T) {
	engine, list := bundled(t)
	for _, r := range list {
		if len(r.Examples.Match) == 0 || len(r.Examples.NoMatch) == 0 {
			t.Errorf("%s: examples missing", r.Slug)
		}
		for _, text := range r.Examples.Match {
			answer := engine.Diagnose(context.Background(), []byte(text), diagnose.Options{})
			if len(answer.Diagnoses) == 0 || answer.Diagnoses[0].Record.ID != r.ID {
				t.Errorf("%q gives %s, want %s", text, ids(&answer), r.ID)
			}
		}
		for _, text := range r.Examples.NoMatch {
			answer := engine.Diagnose(context.Background(), []byte(text), diagnose.Options{})
			for _, d := range answer.Diagnoses {
				if d.Record.ID == r.ID {
					t.Errorf("%q gives %s, which must not match", text, ids(&answer))
				}
			}
		}
	}
}

func TestOrdinaryText(t *testing.T) {
	engine := seedEngine(t)
	for _, text := range []string{
		"",
		"\n\n \t\n",
		"The meeting is at ten. Please bring the list of drivers that we support.",
		"2023-08-29 08:56:05 INFO  worker started in 677 ms\n2023-08-29 08:56:06 WARN  pool at 54%\n",
		"Does the sandbox support duplex channels? I could not find it in the documentation.",
		"throw new Error(message);",
	} {
		answer := engine.Diagnose(context.Background(), []byte(text), diagnose.Options{})
		if answer.Verdict != diagnose.VerdictUnknown || answer.Unknown == nil {
			t.Errorf("%q gives %s, want unknown", text, ids(&answer))
			continue
		}
		if blank := strings.TrimSpace(text) == ""; blank != (answer.Unknown.Line == nil) {
			t.Errorf("%q: telling line %v", text, answer.Unknown.Line)
		}
	}
}

func TestGolden(t *testing.T) {
	engine := seedEngine(t)
	inputs, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(inputs) == 0 {
		t.Fatalf("no input in testdata: %v", err)
	}
	for _, path := range inputs {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		answer := engine.Diagnose(context.Background(), text, diagnose.Options{})
		checkSpans(t, string(text), &answer)
		var indented bytes.Buffer
		if err := json.Indent(&indented, answer.AppendJSON(nil), "", "  "); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		indented.WriteByte('\n')
		golden := strings.TrimSuffix(path, ".txt") + ".golden"
		if *update {
			if err := os.WriteFile(golden, indented.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatalf("%v; run go test -update", err)
		}
		if !bytes.Equal(indented.Bytes(), want) {
			t.Errorf("%s: answer differs from %s; got\n%s", path, golden, indented.Bytes())
		}
	}
}

// The one encoder and encoding/json say the same.
func TestJSON(t *testing.T) {
	engine, _ := bundled(t)
	for _, text := range []string{
		"Error: Environment driver \"a\\b\x00\xff\u2028\" does not support duplex channels.",
		"nothing <known> & \"quoted\" \xf0\x9f\x98\x80 failed",
		"",
	} {
		answer := engine.Diagnose(context.Background(), []byte(text), diagnose.Options{})
		var got, want any
		if err := json.Unmarshal(answer.AppendJSON(nil), &got); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		data, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q:\n%v\nwant\n%v", text, got, want)
		}
		for _, list := range []string{"diagnoses", "runnersUp", "near", "evidence", "captures", "undone", "solutions"} {
			if bytes.Contains(answer.AppendJSON(nil), []byte(`"`+list+`":null`)) {
				t.Errorf("%q: %s is null in %s", text, list, answer.AppendJSON(nil))
			}
		}
	}
}

func TestDeadline(t *testing.T) {
	engine, _ := bundled(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	answer := engine.Diagnose(ctx, []byte("Sandbox driver does not support duplex channels for this lease."), diagnose.Options{})
	if !answer.Partial {
		t.Error("an answer after the deadline is not partial")
	}
}

func TestCountsEveryPlace(t *testing.T) {
	engine, _ := bundled(t)
	text := strings.Repeat("Environment driver \"a\" does not support duplex channels.\nEnvironment driver \"b\" does not support duplex channels.\n", 40)
	answer := engine.Diagnose(context.Background(), []byte(text), diagnose.Options{MaxEvidence: 3})
	if len(answer.Diagnoses) != 1 || answer.Diagnoses[0].Count != 80 || len(answer.Diagnoses[0].Evidence) != 3 {
		t.Fatalf("got %s", ids(&answer))
	}
}
