// Package corpus makes messages and logs for tests and benchmarks. They are the
// same on every run and look like the real thing: messages of four to twelve
// words, half of them with gaps, and logs in which two lines of a hundred hold a
// filled one.
package corpus

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
)

var (
	verbs  = strings.Fields("open read write find parse load resolve connect create delete update convert allocate bind decode encode fetch initialize install lock map mount move query register release rename send start stop verify watch")
	nouns  = strings.Fields("file module table column index socket buffer lease session channel driver plugin schema migration container image volume network token certificate key branch commit ref tree object worker queue task job cache entry record cursor snapshot segment page region thread process handle device stream request response header cookie route template component property type function method argument parameter")
	adjs   = strings.Fields("invalid missing unknown unexpected duplicate corrupt expired unsupported ambiguous empty stale nested circular detached frozen internal external remote local temporary")
	tails  = strings.Fields("because while during after before without within against beyond under")
	grades = strings.Fields("INFO INFO INFO INFO DEBUG DEBUG WARN ERROR")
	// Values are what Fill puts in.
	Values = []string{"users", "/etc/app/config.yaml", "10.0.0.7:5432", "main", "db_connection", "42", "a b", "src/index.ts", "key=value", "0x7ffe", "v1.2.3", "it's", "f(x)", "node-logger", "https://example.org/a?b=c"}
)

// GapMark stands in a message where a value goes.
const GapMark = "\x01"

func message(r *rand.Rand) string {
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	var b strings.Builder
	switch r.IntN(4) {
	case 0:
		b.WriteString("cannot " + pick(verbs) + " ")
	case 1:
		b.WriteString(pick(adjs) + " " + pick(nouns) + " ")
	case 2:
		b.WriteString("failed to " + pick(verbs) + " the " + pick(nouns) + ": ")
	default:
		b.WriteString(strings.ToUpper(pick(nouns)) + " is " + pick(adjs) + ", ")
	}
	gap := r.IntN(2) == 0
	for range 2 + r.IntN(4) {
		switch r.IntN(4) {
		case 0:
			b.WriteString(pick(adjs) + " ")
		case 1:
			b.WriteString(pick(verbs) + pick(nouns) + " ")
		default:
			b.WriteString(pick(nouns) + " ")
		}
		if gap && r.IntN(3) == 0 {
			switch r.IntN(3) {
			case 0:
				b.WriteString("'" + GapMark + "' ")
			case 1:
				b.WriteString(`"` + GapMark + `" `)
			default:
				b.WriteString(GapMark + " ")
			}
		}
	}
	b.WriteString(pick(tails) + " the " + pick(nouns) + " " + pick(verbs) + "s")
	if r.IntN(6) == 0 {
		b.WriteString(": " + GapMark)
	}
	return b.String()
}

// Messages makes n distinct messages.
func Messages(n int) []string {
	r := rand.New(rand.NewPCG(1, 2))
	seen := make(map[string]bool, n)
	out := make([]string, 0, n)
	for len(out) < n {
		if m := message(r); !seen[m] {
			seen[m] = true
			out = append(out, m)
		}
	}
	return out
}

// Expression is the expression of a message: its gaps are named groups.
func Expression(m string) string {
	var b strings.Builder
	for i, part := range strings.Split(m, GapMark) {
		if i > 0 {
			b.WriteString("(?P<p" + strconv.Itoa(i-1) + ">.+?)")
		}
		b.WriteString(regexp.QuoteMeta(part))
	}
	return b.String()
}

// Fill puts values in the gaps of a message.
func Fill(r *rand.Rand, m string) string {
	for strings.Contains(m, GapMark) {
		m = strings.Replace(m, GapMark, Values[r.IntN(len(Values))], 1)
	}
	return m
}

// Log makes about size bytes of log; two lines of a hundred hold one of the
// messages.
func Log(size int, from []string) []byte {
	r := rand.New(rand.NewPCG(3, 4))
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	num := func(n int) string { return strconv.Itoa(r.IntN(n)) }
	var b bytes.Buffer
	for b.Len() < size {
		b.WriteString("2026-03-0" + strconv.Itoa(1+r.IntN(9)) + "T" + strconv.Itoa(10+r.IntN(14)) + ":" + strconv.Itoa(10+r.IntN(50)) + ":" + strconv.Itoa(10+r.IntN(50)) + "." + num(1000) + "Z ")
		switch {
		case len(from) > 0 && r.IntN(50) == 0:
			b.WriteString("ERROR " + Fill(r, from[r.IntN(len(from))]))
		default:
			switch r.IntN(7) {
			case 0:
				b.WriteString(`"GET /api/` + pick(nouns) + "/" + num(1000) + ` HTTP/1.1" 200 ` + num(9000))
			case 1:
				b.WriteString(pick(grades) + "  " + pick(nouns) + "." + pick(nouns) + " - started in " + num(900) + " ms")
			case 2:
				b.WriteString("transforming (" + num(2000) + ") src/" + pick(nouns) + "/" + pick(nouns) + ".ts")
			case 3:
				b.WriteString("dist/assets/" + pick(nouns) + "-" + num(99999999) + ".js   " + num(900) + ".71 kB")
			case 4:
				b.WriteString("level=" + strings.ToLower(pick(grades)) + " caller=" + pick(nouns) + ".go:" + num(400) + ` msg="` + pick(verbs) + "ing the " + pick(nouns) + `" request=` + num(99999999))
			case 5:
				b.WriteString("  Applying " + pick(nouns) + ".00" + num(99) + "_" + pick(nouns) + "... OK")
			default:
				b.WriteString(pick(grades) + " " + pick(nouns) + " pool at " + num(100) + "% of its limit for user " + num(1000))
			}
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// Pastes makes texts of ordinary log lines of about size bytes, each with one of
// the messages somewhere in it.
func Pastes(n, size int, from []string) [][]byte {
	r := rand.New(rand.NewPCG(7, 8))
	log := Log(n*size, nil)
	out := make([][]byte, 0, n)
	for len(out) < n {
		at := len(out) * len(log) / n
		lines := bytes.SplitAfter(log[at:min(at+size, len(log))], []byte("\n"))
		lines = lines[1 : len(lines)-1] // the others may be parts of lines
		k := r.IntN(len(lines))
		message := "2026-03-01T08:15:02.113Z ERROR " + Fill(r, from[r.IntN(len(from))]) + "\n"
		lines[k] = []byte(message)
		out = append(out, bytes.Join(lines, nil))
	}
	return out
}

// Disguise does to a log what terminals, containers and programs that log JSON
// do: every line wears at least one of it, so that all of the undoing is at work.
func Disguise(log []byte) []byte {
	r := rand.New(rand.NewPCG(5, 6))
	out := make([]byte, 0, len(log)*3/2)
	for line := range bytes.Lines(log) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		switch r.IntN(6) {
		case 0:
			out = append(out, "\x1b[1;31m"...)
			out = append(out, bytes.ReplaceAll(line, []byte(" "), []byte("\x1b[0m \x1b[36m"))...)
			out = append(out, "\x1b[0m"...)
		case 1:
			text, _ := json.Marshal(string(line)) // a string always encodes
			out = append(out, `{"log":`...)
			out = append(out, text...)
			out = append(out, `,"stream":"stderr"}`...)
		case 2:
			inner, _ := json.Marshal(map[string]string{"msg": string(line)})
			outer, _ := json.Marshal(string(inner))
			out = append(out, `{"log":`...)
			out = append(out, outer...)
			out = append(out, '}')
		case 3:
			out = append(out, "web-1     | "...)
			out = append(out, bytes.ReplaceAll(line, []byte(" "), []byte("  "))...)
			out = append(out, '\r')
		case 4:
			out = append(out, "Mar  1 08:15:04 host app[4121]: "...)
			s := strings.NewReplacer(`"`, "&quot;", "'", "&#39;", "<", "&lt;").Replace(string(line))
			out = append(out, s...)
		default:
			out = append(out, "> "...)
			s := strings.NewReplacer("'", "\u2019", " - ", " \u2013 ", "...", "\u2026", " is ", "\u00a0is ").Replace(string(line))
			out = append(out, s...)
		}
		out = append(out, '\n')
	}
	return out
}
