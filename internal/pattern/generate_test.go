package pattern

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
)

// This file makes templates and logs for tests and benchmarks. They are the same
// on every run and look like the real thing: messages of four to twelve words, half
// of them with gaps, and logs in which two lines of a hundred hold a filled one.

var (
	verbs  = strings.Fields("open read write find parse load resolve connect create delete update convert allocate bind decode encode fetch initialize install lock map mount move query register release rename send start stop verify watch")
	nouns  = strings.Fields("file module table column index socket buffer lease session channel driver plugin schema migration container image volume network token certificate key branch commit ref tree object worker queue task job cache entry record cursor snapshot segment page region thread process handle device stream request response header cookie route template component property type function method argument parameter")
	adjs   = strings.Fields("invalid missing unknown unexpected duplicate corrupt expired unsupported ambiguous empty stale nested circular detached frozen internal external remote local temporary")
	tails  = strings.Fields("because while during after before without within against beyond under")
	grades = strings.Fields("INFO INFO INFO INFO DEBUG DEBUG WARN ERROR")
	values = []string{"users", "/etc/app/config.yaml", "10.0.0.7:5432", "main", "db_connection", "42", "a b", "src/index.ts", "key=value", "0x7ffe", "v1.2.3", "it's", "f(x)", "node-logger", "https://example.org/a?b=c"}
)

// message makes the words of a message, with gapMark for gaps.
const gapMark = "\x01"

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
				b.WriteString("'" + gapMark + "' ")
			case 1:
				b.WriteString(`"` + gapMark + `" `)
			default:
				b.WriteString(gapMark + " ")
			}
		}
	}
	b.WriteString(pick(tails) + " the " + pick(nouns) + " " + pick(verbs) + "s")
	if r.IntN(6) == 0 {
		b.WriteString(": " + gapMark)
	}
	return b.String()
}

// messages makes n distinct messages.
func messages(n int) []string {
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

// exprFor makes the expression of a message.
func exprFor(m string) string {
	var b strings.Builder
	for i, part := range strings.Split(m, gapMark) {
		if i > 0 {
			b.WriteString("(?P<p" + strconv.Itoa(i-1) + ">.+?)")
		}
		b.WriteString(regexp.QuoteMeta(part))
	}
	return b.String()
}

func fillIn(r *rand.Rand, m string) string {
	for strings.Contains(m, gapMark) {
		m = strings.Replace(m, gapMark, values[r.IntN(len(values))], 1)
	}
	return m
}

// logText makes about size bytes of log; two lines of a hundred hold one of the
// messages.
func logText(size int, from []string) []byte {
	r := rand.New(rand.NewPCG(3, 4))
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	num := func(n int) string { return strconv.Itoa(r.IntN(n)) }
	var b bytes.Buffer
	for b.Len() < size {
		b.WriteString("2026-03-0" + strconv.Itoa(1+r.IntN(9)) + "T" + strconv.Itoa(10+r.IntN(14)) + ":" + strconv.Itoa(10+r.IntN(50)) + ":" + strconv.Itoa(10+r.IntN(50)) + "." + num(1000) + "Z ")
		switch {
		case len(from) > 0 && r.IntN(50) == 0:
			b.WriteString("ERROR " + fillIn(r, from[r.IntN(len(from))]))
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

func compileAll(exprs []string) []*Pattern {
	out := make([]*Pattern, len(exprs))
	for i, e := range exprs {
		p, err := Compile(e, "")
		if err != nil {
			panic(err)
		}
		out[i] = p
	}
	return out
}
