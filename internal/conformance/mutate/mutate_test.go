package main

import (
	"flag"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"errorkb/internal/kb"
)

var update = flag.Bool("update", false, "write the golden files again")

// toy reads the toy file. Each of its templates is documented, apart from
// "undocumented", by a record whose id is the template.
func toy(t *testing.T) (*tree, string) {
	t.Helper()
	data, err := os.ReadFile("testdata/toy.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	templates := map[string]string{
		"msgFirst": `The first "%s" is bad.`, "msgSecond": "second", "msgOther": "undocumented", "msgBare": "bare",
		`"five"`: "five", `"else"`: "else", `"unguarded"`: "unguarded", `"one"`: "one", `"two"`: "two",
	}
	symbols := []string{"(*thing).use", "(*thing).check", "bare", "(*thing).problems", "known"}
	var places []kb.RaisePlace
	at := -1
	for i, line := range strings.Split(string(data), "\n") {
		if strings.HasPrefix(line, "func ") {
			at++
		}
		_, call, found := strings.Cut(line, "fault.New(")
		if !found {
			continue
		}
		template := templates[call[:strings.IndexAny(call, ",)")]]
		p := kb.RaisePlace{Place: kb.Place{File: "toy/toy.go", Line: i + 1, Symbol: symbols[at]}, Message: template}
		if template != "undocumented" {
			p.Record = &template
		}
		places = append(places, p)
	}
	tr, err := readTree(fstest.MapFS{
		"toy/toy.go":      {Data: data},
		"toy/toy_test.go": {Data: []byte("not Go")},
		"toy/other.go":    {Data: []byte("package toy\n\nvar template = msgFirst\n")},
	}, places)
	if err != nil {
		t.Fatal(err)
	}
	return tr, string(data)
}

func TestMutants(t *testing.T) {
	tr, _ := toy(t)
	var have []string
	for i, m := range tr.mutants {
		if m.number != i+1 {
			t.Errorf("%s has the number %d, want %d", m.Name, m.number, i+1)
		}
		have = append(have, m.Name+" @ "+strings.Join(m.Records, ", "))
	}
	golden(t, "testdata/mutants.golden", strings.Join(have, "\n")+"\n")
	if want := []string{"toy/toy.go (*thing).check: unguarded"}; !slices.Equal(tr.unguarded, want) {
		t.Errorf("unguarded: %q, want %q", tr.unguarded, want)
	}
	for _, k := range kinds {
		if !slices.ContainsFunc(tr.mutants, func(m *mutant) bool { return m.Kind == k }) {
			t.Errorf("no mutant of the kind %q", k)
		}
	}
}

func TestChangedFile(t *testing.T) {
	tr, source := toy(t)
	changed := tr.changed()
	out := string(changed["toy/toy.go"])
	if _, err := parser.ParseFile(token.NewFileSet(), "toy.go", out, parser.SkipObjectResolution); err != nil {
		t.Errorf("what was changed does not parse: %v", err)
	}
	if a, b := strings.Count(source, "\n"), strings.Count(out, "\n"); a != b {
		t.Errorf("the changed file has %d lines, the original %d", b, a)
	}
	golden(t, "testdata/changed.golden", out)
	if other := string(changed["toy/other.go"]); !strings.Contains(other, "mutationpoint.Text(1, msgFirst)") {
		t.Errorf("a use in another file is not changed:\n%s", other)
	}
}

func golden(t *testing.T, name, have string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(have), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if have != string(want) {
		t.Errorf("%s differs (-update rewrites it):\n%s", name, have)
	}
}

func TestNothingDocumented(t *testing.T) {
	if _, err := readTree(fstest.MapFS{"a.go": {Data: []byte("package a\n")}}, nil); err == nil {
		t.Error("a source that raises nothing is accepted")
	}
}

func TestJudge(t *testing.T) {
	a, b := &mutant{Name: "a"}, &mutant{Name: "b"}
	results := []result{{mutant: a, outcome: survived}, {mutant: b, outcome: killed}}
	for name, c := range map[string]struct {
		known map[string]string
		whole bool
		want  int
	}{
		"a listed survivor":             {map[string]string{"a": "why"}, true, 0},
		"an unlisted survivor":          {map[string]string{}, true, 1},
		"listed and killed":             {map[string]string{"a": "why", "b": "why"}, true, 1},
		"no reason":                     {map[string]string{"a": ""}, true, 1},
		"listed and gone":               {map[string]string{"a": "why", "c": "why"}, true, 1},
		"not run says nothing about it": {map[string]string{"a": "why", "c": "why"}, false, 0},
	} {
		if have := judge(results, c.known, c.whole); len(have) != c.want {
			t.Errorf("%s: %q", name, have)
		}
	}
}

func TestInTurns(t *testing.T) {
	var list []*mutant
	for range 4 {
		list = append(list, &mutant{Kind: guard})
	}
	list = append(list, &mutant{Kind: swap}, &mutant{Kind: swap})
	seen := ""
	for _, m := range inTurns(list)[:3] {
		seen += string(m.Kind[:1])
	}
	if seen != "gsg" {
		t.Errorf("the kinds come in the order %q", seen)
	}
}

func TestFirstProblem(t *testing.T) {
	for report, want := range map[string]struct {
		why  string
		late bool
	}{
		`{"evidence":[{"record":"a","scenario":"s","problems":["p"]}],"late":[],"problems":["q"]}`:                                  {"s: p", false},
		`{"evidence":[{"record":"a","scenario":"s","problems":[]}],"late":[],"problems":["q"]}`:                                     {"q", false},
		`{"evidence":[],"late":[],"problems":[]}`:                                                                                   {},
		`{"evidence":[{"record":"a","scenario":"s","problems":["p"]},{"record":"b","scenario":"t","problems":["q"]}],"late":["a"]}`: {"t: q", false},
		`{"evidence":[{"record":"a","scenario":"s","problems":["p"]}],"late":["a"],"problems":["q"]}`:                               {"q", false},
		`{"evidence":[{"record":"a","scenario":"s","problems":["p","q"]}],"late":["a"],"problems":[]}`:                              {"s: p", true},
		`{"evidence":[{"record":"a","scenario":"s","problems":["it says: context deadline exceeded"]}],"late":[],"problems":[]}`:    {"s: it says: context deadline exceeded", false},
		`kb: no such record`: {},
	} {
		why, late, ok := firstProblem([]byte(report))
		if why != want.why || late != want.late || ok != (want.why != "") {
			t.Errorf("firstProblem(%s) = %q, %v, %v", report, why, late, ok)
		}
	}
}

// Every known survivor has a reason; that they survive only a run can say.
func TestSurvivors(t *testing.T) {
	if problems := judge(nil, survivors, false); len(problems) > 0 {
		t.Error(problems)
	}
}
