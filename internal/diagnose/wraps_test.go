package diagnose_test

import (
	"context"
	"strings"
	"testing"

	"errorkb/internal/diagnose"
)

// wrapText wraps the lines of a text at a width, at blanks or anywhere.
func wrapText(text string, width int, anywhere bool) string {
	return eachLine(text, func(l string) string {
		var out []string
		r := []rune(l)
		for len(r) > width {
			k := width
			for !anywhere && k > 0 && r[k] != ' ' {
				k--
			}
			if k == 0 {
				break
			}
			out = append(out, string(r[:k]))
			if r = r[k:]; !anywhere {
				r = r[1:]
			}
		}
		return strings.Join(append(out, string(r)), "\n")
	})
}

// Whatever stands in front of the lines and at whatever width they are wrapped, before it
// was put there or after, the record is found first and its values are read. Where a value
// at the end of a message ends is not asked here: other lines follow.
func TestWrappedAtAnyWidth(t *testing.T) {
	engine, list := bundled(t)
	prefixes := []string{"", "> ", "web-1  | ", "│ ", "2026-03-01T08:15:04.118Z ", "Mar 01 08:15:04 host-1 app[4121]: ", "    ", "npm ERR! ", "[ERROR] ", "hint: "}
	const after = "\nand the job is over now, nothing to be seen here any more in the whole wide world, so go home and sleep well until tomorrow"
	all, wrong := 0, 0
	for _, prefix := range prefixes {
		for _, anywhere := range []bool{true, false} {
			for width := 40; width <= 120; width += 10 {
				for _, prefixFirst := range []bool{true, false} {
					tried, right, example := 0, 0, ""
					for _, r := range list {
						if fewWords(r) {
							continue
						}
						message, values := filled(r, false)
						if n := len(values); n > 0 && strings.HasSuffix(strings.TrimSuffix(message, "."), values[n-1]) {
							values = values[:n-1]
						}
						text := "Error: " + message + after
						put := func(l string) string { return prefix + l }
						if prefixFirst {
							text = wrapText(eachLine(text, put), width, anywhere)
						} else {
							text = eachLine(wrapText(text, width, anywhere), put)
						}
						tried++
						answer := engine.Diagnose(context.Background(), []byte(text), diagnose.Options{})
						ok := len(answer.Diagnoses) > 0 && answer.Diagnoses[0].Record.ID == r.ID
						for i := range values {
							ok = ok && valueIn(answer.Diagnoses[0], i) == values[i]
						}
						if ok {
							right++
						} else if example == "" {
							example = text
						}
					}
					all, wrong = all+tried, wrong+tried-right
					if tried < 40 || 10*right < 9*tried {
						t.Errorf("%q, width %d, anywhere %v, prefix first %v: %d of %d right; not\n%s", prefix, width, anywhere, prefixFirst, right, tried, example)
					}
				}
			}
		}
	}
	t.Logf("%d of %d wrong", wrong, all)
	if 100*wrong > all {
		t.Errorf("%d of %d wrong", wrong, all)
	}
}

// valueIn is the value of capture i, or nothing where the match has no values.
func valueIn(d diagnose.Diagnosis, i int) string {
	if captures := d.Evidence[0].Captures; i < len(captures) {
		return captures[i].Value
	}
	return ""
}
