package pattern

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// hardValues are what messages are filled with to see whether they are read back.
var hardValues = []string{
	"it's", `say "hi" now`, "a.b.c", "db:8080", "two words", "/etc/app conf/x.yaml", "users",
	"src/index.ts(3,4)", "https://example.org/a?b=c", "Foo<Bar>", "key=value", `C:\Program Files\x`,
	"[object Promise]", "foo_bar()", "42", "::1", "a, b and c",
}

// fill renders a variant with values. Unique reports whether a reader could tell
// where each value ends: no two gaps have only a sign or a blank between them.
func fill(r *rand.Rand, v *variant) (text string, want map[string]string, unique bool) {
	var b strings.Builder
	want = map[string]string{}
	unique = true
	mark := 0
	if !v.ownNames() {
		for _, k := range v.marks { // one of several words, which is the first variant
			want[string(k.name)] = "true"
		}
	}
	for i, st := range v.steps {
		switch st.kind {
		case literal:
			b.Write(st.text)
		case space:
			b.WriteByte('\n')
		case gap:
			value := "true"
			switch st.set {
			case anyLine:
				value = hardValues[r.IntN(len(hardValues))]
			case known[2], known[5]:
				value = "17"
			case known[3]:
				value = "7ffe"
			case known[4]:
				value = "1.5"
			}
			b.WriteString(value)
			if v.ownNames() && mark < len(v.marks) && v.marks[mark].from == i {
				want[string(v.marks[mark].name)] = value
				mark++
			} else {
				unique = unique && v.ownNames()
			}
			if i > 0 && v.steps[i-1].kind == gap {
				unique = false
			}
			if i > 1 && v.steps[i-2].kind == gap && !telling(v.steps[i-1]) {
				unique = false
			}
			// A function's name has no blanks, so a value with one is not read whole.
			if i == 0 && len(v.steps) > 1 && v.steps[1].kind == literal && v.steps[1].text[0] == '(' {
				unique = unique && !strings.Contains(value, " ")
			}
		}
	}
	return b.String(), want, unique
}

func telling(st step) bool {
	n := 0
	for _, b := range st.text {
		if isAlnum(b) || isQuote(b) {
			n++
		}
	}
	return n > 0 || len(st.text) > 2
}

// TestRenderedCatalogues fills every message of the catalogues and reads it back,
// alone and behind the prefix of a log line.
func TestRenderedCatalogues(t *testing.T) {
	all := catalogues(t)
	exprs := make([]string, len(all))
	for i, x := range all {
		exprs[i] = x.Pattern
	}
	ps := compileAll(exprs)
	ix := Build(ps)
	r := rand.New(rand.NewPCG(5, 6))
	values, equal, texts, unfound := 0, 0, 0, 0
	for id, p := range ps {
		var l layout
		text, want, unique := fill(r, &l.decode(p.rec)[0])
		if r.IntN(2) == 0 {
			text = "2024-05-06T07:08:09Z ERROR app: " + text
		}
		texts++
		hit := false
		ix.Find([]byte(text), func(found int, m Match) bool {
			if found != id {
				return true
			}
			hit = true
			if !unique {
				return false
			}
			for _, c := range m.Captures {
				values++
				if text[c.Start:c.End] == want[c.Name] {
					equal++
				} else if testing.Verbose() {
					t.Logf("%s\n\tin %q: %s = %q, want %q", p.expr, text, c.Name, text[c.Start:c.End], want[c.Name])
				}
			}
			return false
		})
		if !hit {
			unfound++
			if unfound < 10 {
				t.Logf("not found: %s in %q", p.expr, text)
			}
		}
	}
	t.Logf("%d of %d values equal (%.2f %%), %d of %d messages not found", equal, values, 100*float64(equal)/float64(values), unfound, texts)
	if values < 10000 || float64(equal) < 0.99*float64(values) {
		t.Errorf("%d of %d values equal, want 99 %%", equal, values)
	}
	if float64(unfound) > 0.0005*float64(texts) {
		t.Errorf("%d of %d messages not found", unfound, texts)
	}
}
