package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"errorkb/schema"
)

const recordsDir = "../../records"

// canonical is the form in which a scenario is written: keys in the order of
// the Go type, two spaces, a line end.
func canonical(s *Scenario) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(s) // plain types
	return b.Bytes()
}

func TestScenarioFiles(t *testing.T) {
	scenarios, err := Load(os.DirFS(recordsDir))
	if err != nil {
		t.Fatal(err)
	}
	if len(scenarios) < 72 {
		t.Fatalf("only %d scenarios", len(scenarios))
	}
	compiler := jsonschema.NewCompiler()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema.Scenario))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiler.AddResource("scenario", document); err != nil {
		t.Fatal(err)
	}
	checker, err := compiler.Compile("scenario")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for name, s := range scenarios {
		file := filepath.Join(recordsDir, name+".json")
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if err := checker.Validate(value); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if want := canonical(s); !bytes.Equal(data, want) {
			if *update {
				if err := os.WriteFile(file, want, 0o644); err != nil {
					t.Fatal(err)
				}
			} else {
				t.Errorf("%s is not in canonical form; run: go test ./internal/conformance -run TestScenarioFiles -update", name)
			}
		}
		for _, step := range s.all() {
			used[step.Do] = true
		}
	}
	for verb := range verbs {
		if !used[verb] {
			t.Errorf("no scenario uses the verb %q", verb)
		}
	}
}

// all lists every step of a scenario.
func (s *Scenario) all() []Step {
	list := append([]Step{s.Fails}, s.Steps...)
	for _, r := range s.Remedies {
		list = append(list, r.Steps...)
		if r.Instead != nil {
			list = append(list, *r.Instead)
		}
	}
	for _, v := range s.Also {
		list = append(list, v.Steps...)
		if v.Fails != nil {
			list = append(list, *v.Fails)
		}
		for _, next := range v.Then {
			list = append(list, next.Steps...)
		}
	}
	return list
}

// The schema, the manual and the vocabulary say the same about each verb.
func TestVocabulary(t *testing.T) {
	var s struct {
		Defs struct {
			Step struct {
				Properties struct {
					Do struct{ Enum []string }
				}
				AllOf []struct {
					If struct {
						Properties struct {
							Do struct{ Const string }
						}
					}
					Then struct {
						Required      []string
						PropertyNames struct{ Enum []string }
					}
				}
			}
		} `json:"$defs"`
	}
	if err := json.Unmarshal(schema.Scenario, &s); err != nil {
		t.Fatal(err)
	}
	names := sortedKeys(verbs)
	if !slices.Equal(s.Defs.Step.Properties.Do.Enum, names) {
		t.Errorf("the schema has the verbs %v, the vocabulary %v", s.Defs.Step.Properties.Do.Enum, names)
	}
	inSchema := map[string]string{}
	for _, rule := range s.Defs.Step.AllOf {
		inSchema[rule.If.Properties.Do.Const] = signature(rule.Then.Required[1:], slices.DeleteFunc(rule.Then.PropertyNames.Enum, func(m string) bool {
			return m == "do" || m == "refused" || slices.Contains(rule.Then.Required, m)
		}))
	}
	manual, err := os.ReadFile("../../docs/proof.md")
	if err != nil {
		t.Fatal(err)
	}
	inManual := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| (.*?) \\| (.*?) \\| .+ \\|$").FindAllStringSubmatch(string(manual), -1) {
		members := func(cell string) []string {
			return strings.FieldsFunc(cell, func(r rune) bool { return strings.ContainsRune("`, ", r) })
		}
		inManual[row[1]] = signature(members(row[2]), members(row[3]))
	}
	for _, name := range names {
		want := signature(verbs[name].needs, verbs[name].takes)
		if inSchema[name] != want {
			t.Errorf("%s: the schema says %s, the vocabulary %s", name, inSchema[name], want)
		}
		if inManual[name] != want {
			t.Errorf("%s: the manual says %q, the vocabulary %s", name, inManual[name], want)
		}
	}
}

func signature(needs, takes []string) string {
	needs, takes = slices.Sorted(slices.Values(needs)), slices.Sorted(slices.Values(takes))
	return fmt.Sprint("needs ", needs, " takes ", takes)
}

func TestDecodeRefuses(t *testing.T) {
	const good = `{"schemaVersion": 1, "title": "A lease is destroyed", "steps": [], "fails": {"do": "destroy", "lease": "l"}}`
	if _, err := Decode([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{`"schemaVersion": 1`, `"schemaVersion": 2`, "schemaVersion is 2"},
		{`"A lease is destroyed"`, `""`, "there is no title"},
		{`"destroy"`, `"melt"`, `unknown verb "melt"`},
		{`, "lease": "l"`, ``, `"destroy" needs "lease"`},
		{`"lease": "l"`, `"lease": "l", "plugin": "p"`, `"destroy" does not take "plugin"`},
		{`"lease": "l"`, `"lease": "l", "colour": "red"`, `unknown field "colour"`},
		{`"steps": []`, `"steps": [{"do": "x"}]`, `steps[0]: unknown verb`},
		{`"steps": []`, `"steps": [], "seen": "mind"`, `seen is "mind"`},
		{`"steps": []`, `"steps": [], "remedies": [{"solution": 0}]`, "they count from 1"},
		{`"steps": []`, `"steps": [], "remedies": [{"solution": 1, "instead": {"do": "x"}}]`, "remedies[0].instead[0]: unknown verb"},
		{`"steps": []`, `"steps": [], "also": [{"steps": []}]`, "also[0]: there is no title"},
		{`"steps": []`, `"steps": [], "also": [{"title": "t", "steps": [], "seen": "mind"}]`, `also[0].seen is "mind"`},
		{`"steps": []`, `"steps": [], "also": [{"title": "t", "steps": [{"do": "x"}]}]`, "also[0].steps[0]: unknown verb"},
		{`"steps": []`, `"steps": [], "also": [{"title": "t", "steps": [], "fails": {"do": "x"}}]`, "also[0].fails[0]: unknown verb"},
		{`"steps": []`, `"steps": [], "also": [{"title": "t", "steps": [], "then": [{}]}]`, "also[0].then[0]: there is no record"},
		{`"steps": []`, `"steps": [], "also": [{"title": "t", "steps": [], "then": [{"record": "r", "steps": [{"do": "x"}]}]}]`, "also[0].then[0].steps[0]: unknown verb"},
		{`"l"}}`, `"l"}} x`, "something after"},
	} {
		_, err := Decode([]byte(strings.Replace(good, c.from, c.to, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s → %s: got %v, want %s", c.from, c.to, err, c.want)
		}
	}
}
