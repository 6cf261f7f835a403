package render

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestColour reads testdata/colour.txt: a language, code, and the code with
// each coloured part as {class text}.
func TestColour(t *testing.T) {
	data, err := os.ReadFile("testdata/colour.txt")
	if err != nil {
		t.Fatal(err)
	}
	cases := strings.Split(strings.TrimSpace(string(data)), "\n---\n")
	if len(cases) < 10 {
		t.Fatalf("%d cases", len(cases))
	}
	seen := map[*syntax]bool{}
	for _, c := range cases {
		language, rest, _ := strings.Cut(c, "\n")
		code, want, found := strings.Cut(rest, "\n=\n")
		known := syntaxes[language]
		if !found || known == nil {
			t.Fatalf("not a case: %q", c)
		}
		seen[known] = true
		var got strings.Builder
		for _, part := range known.tokens(code) {
			if part.class == "" {
				got.WriteString(part.text)
			} else {
				got.WriteString("{" + part.class + " " + part.text + "}")
			}
		}
		if diff := cmp.Diff(want, got.String()); diff != "" {
			t.Errorf("%s %s (-want +got)\n%s", language, code, diff)
		}
	}
	for name, known := range syntaxes {
		if !seen[known] {
			t.Errorf("no case for %s", name)
		}
	}
}

// FuzzColour states that colouring loses and adds nothing.
func FuzzColour(f *testing.F) {
	for name := range syntaxes {
		f.Add(name, "const a = `x${b + `y${c}`}z`; // é\n/* \" */ '\\'' /[/]\"/g 1.5e3 {\"k\": null}")
		f.Add(name, "`${`${`${")
		f.Add(name, "'a 'b' \"\"\" x\\")
	}
	f.Fuzz(func(t *testing.T, name, source string) {
		known := syntaxes[name]
		if known == nil {
			return
		}
		var all strings.Builder
		for _, part := range known.tokens(source) {
			all.WriteString(part.text)
		}
		if all.String() != source {
			t.Errorf("%q became %q", source, all.String())
		}
	})
}
