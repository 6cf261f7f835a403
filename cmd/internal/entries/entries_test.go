package entries

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"errorkb/internal/diagnose"
)

func sample() []Entry {
	return []Entry{
		{},
		{
			Entry: diagnose.Entry{
				Ref: diagnose.Ref{
					ID: "0123456789abcdef", Repo: "o/r", Slug: "s", Title: "Line one\nline two: 3:x", URL: "/kb/errors/o/r/s/",
					Severity: "error", Role: "cause", Status: "active",
				},
				Code: "E1", Class: "X", Template: "Ünïcode ${a}\x00", Pattern: "(?P<a>.+)",
				Aliases: []string{"", "a:1"}, Solutions: []string{"do `this`\n"},
				History: []diagnose.Wording{{Template: "t", Pattern: "p", Until: "u"}, {}},
			},
			Captures: []Capture{{"a", "what it is"}, {"b", ""}},
			Proven:   true,
		},
	}
}

func TestParseReadsWhatAppendWrites(t *testing.T) {
	for _, want := range [][]Entry{nil, sample()} {
		file := string(Append(nil, "2026-01-01T00:00:00.000Z+12345678", want))
		version, got, err := Parse(file)
		if err != nil {
			t.Fatal(err)
		}
		if version != "2026-01-01T00:00:00.000Z+12345678" {
			t.Errorf("version %q", version)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("entries (-want +got):\n%s", diff)
		}
	}
}

func TestDamagedEntries(t *testing.T) {
	file := string(Append(nil, "v", sample()))
	for n := range len(file) {
		if _, _, err := Parse(file[:n]); err == nil {
			t.Fatalf("the first %d of %d bytes were read as a whole file", n, len(file))
		}
	}
	for name, damaged := range map[string]string{
		"other form": strings.Replace(file, "entries 2", "entries 1", 1),
		"more":       file + "\n",
		"other word": strings.Replace(file, "proven", "proved", 1),
		"huge count": form + "1:v\n999999999999:",
		"negative":   form + "1:v\n-1:",
		"overflow":   form + "1:v\n99999999999999999999:",
		"zeros":      form + "1:v\n00:",
	} {
		if _, _, err := Parse(damaged); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// FuzzParse states the law that what can be read is written back identically.
func FuzzParse(f *testing.F) {
	f.Add(string(Append(nil, "v", sample())))
	f.Add(form + "0:\n0:")
	f.Fuzz(func(t *testing.T, file string) {
		version, list, err := Parse(file)
		if err != nil {
			return
		}
		if again := string(Append(nil, version, list)); again != file {
			t.Errorf("%q was written back as %q", file, again)
		}
	})
}
