package diagnose_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"errorkb/internal/diagnose"
)

// The files in testdata/rules say in examples how findings are weighed and ranked.
// A file is a list of parts:
//
//	# what the rule is
//	record ID [code=CODE] [class=CLASS] [role=ROLE]: template
//	pattern ID: expression that is used instead of the template
//	earlier ID: earlier wording
//	| a line of the text
//	= ID known name="value", ID likely
//
// Records hold to the next comment that follows a text. The line after a text says what
// is found, the best first; a lone "=" says that nothing is. Values need not all be
// named.
func TestRules(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "rules", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no rules: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			texts := 0
			r := rules{}
			for n, line := range strings.Split(string(data), "\n") {
				checked, err := r.line(line)
				if err != nil {
					t.Errorf("%s:%d: %v", file, n+1, err)
				}
				if checked {
					texts++
				}
			}
			if texts == 0 || len(r.text) > 0 {
				t.Errorf("%s: %d texts; of the last one it is not said what is found", file, texts)
			}
		})
	}
}

// rules is what was read of a file of rules.
type rules struct {
	entries []diagnose.Entry
	text    []string
	asked   bool // a text was checked since the last record
}

// line reads a line and reports whether it was one that a text was checked with.
func (r *rules) line(line string) (bool, error) {
	kind, rest, _ := strings.Cut(line, " ")
	switch kind {
	case "", "#":
		return false, nil
	case "record", "pattern", "earlier":
		if r.asked {
			r.entries, r.asked = nil, false
		}
		return false, r.record(kind, rest)
	case "|":
		r.text = append(r.text, rest)
		return false, nil
	case "=":
		text := strings.Join(r.text, "\n")
		r.text, r.asked = nil, true
		return true, r.check(text, rest)
	}
	return false, fmt.Errorf("line begins with %q", kind)
}

func (r *rules) record(kind, rest string) error {
	head, template, ok := strings.Cut(rest, ": ")
	fields := strings.Fields(head)
	if !ok || len(fields) == 0 {
		return fmt.Errorf("no template in %q", rest)
	}
	template = strings.ReplaceAll(template, `\n`, "\n")
	if kind != "record" {
		if len(r.entries) == 0 || r.entries[len(r.entries)-1].Ref.ID != fields[0] {
			return fmt.Errorf("the %s of %q does not follow its record", kind, fields[0])
		}
		last := &r.entries[len(r.entries)-1]
		if kind == "pattern" {
			last.Pattern = template
			return nil
		}
		last.History = append(last.History, diagnose.Wording{Template: template})
		return nil
	}
	e := diagnose.Entry{Ref: diagnose.Ref{ID: fields[0], Repo: "o/r", Slug: fields[0], Title: template}, Template: template}
	for _, f := range fields[1:] {
		switch name, value, _ := strings.Cut(f, "="); name {
		case "code":
			e.Code = value
		case "class":
			e.Class = value
		case "role":
			e.Ref.Role = value
		default:
			return fmt.Errorf("unknown field %q", f)
		}
	}
	r.entries = append(r.entries, e)
	return nil
}

// check compares what is found in a text with what is wanted, as a whole and as a
// part of a text that is too large to be taken as a whole.
func (r *rules) check(text, want string) error {
	engine, err := diagnose.New("test", append([]diagnose.Entry(nil), r.entries...))
	if err != nil {
		return err
	}
	answer := engine.Diagnose(context.Background(), []byte(text), diagnose.Options{})
	var got []string
	for i := range answer.Diagnoses {
		got = append(got, described(&answer.Diagnoses[i], want))
	}
	if v := verdictOf(want); answer.Verdict != v {
		return fmt.Errorf("%q is %s, want %s", text, answer.Verdict, v)
	}
	if g := strings.Join(got, ", "); g != want {
		return fmt.Errorf("%q gives\n  %q, want\n  %q; not chosen: %+v", text, g, want, answer.RunnersUp)
	}
	return nil
}

// verdictOf is the verdict of an answer that holds such findings.
func verdictOf(want string) diagnose.Verdict {
	first, _, _ := strings.Cut(want, ", ")
	switch {
	case first == "":
		return diagnose.VerdictUnknown
	case strings.Contains(first, " known"):
		return diagnose.VerdictKnown
	}
	return diagnose.VerdictLikely
}

// described is a finding as rules write it, with those values that are wanted.
func described(d *diagnose.Diagnosis, want string) string {
	out := d.Record.ID + " likely"
	if d.Confidence >= diagnose.KnownConfidence {
		out = d.Record.ID + " known"
	}
	if d.Kind == diagnose.KindHistoric {
		out += " historic"
	}
	for _, c := range d.Evidence[0].Captures {
		if strings.Contains(want, " "+c.Name+"=") {
			out += fmt.Sprintf(" %s=%q", c.Name, c.Value)
		}
	}
	return out
}
