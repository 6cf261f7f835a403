package eval

import (
	"context"
	"fmt"
	"io"
	"sort"
	"strings"

	"errorkb/internal/diagnose"
)

// Report is the result of a run.
type Report struct {
	Own   Tally    `json:"own"` // each case against its own catalogue
	All   Tally    `json:"all"` // each case against all catalogues at once
	Cases []Result `json:"cases"`

	classes map[string]map[string]Count // by mode and class of case
}

// Tally counts by tier.
type Tally struct {
	Core      Count     `json:"core"`
	Stretch   Count     `json:"stretch"`
	Negative  Count     `json:"negative"`
	Variables Variables `json:"variables"`
}

// Count is a number of cases.
type Count struct {
	Right int `json:"right"`
	Total int `json:"total"`
}

// Variables is a number of expected values.
type Variables struct {
	Equal int `json:"equal"`
	Total int `json:"total"`
}

// Result is the result of one case in one mode.
type Result struct {
	Name  string `json:"name"`
	Mode  string `json:"mode"` // own or all
	Right bool   `json:"right"`
	Got   []Got  `json:"got"`
	Why   string `json:"why"` // what is wrong; empty when all is right

	tier string
}

// Got is one message that was reported.
type Got struct {
	ID         string            `json:"id"`
	Catalogue  string            `json:"catalogue"`
	Kind       string            `json:"kind"`
	Confidence float64           `json:"confidence"`
	Variables  map[string]string `json:"variables"`
}

// Finder reports what is in a text, best first: one entry per message and set
// of values. Ids are those of EntryOf.
type Finder func(ctx context.Context, text []byte) []Got

// The two ways in which a case is tried.
const (
	modeOwn = "own"
	modeAll = "all"
)

// Run tries every case of casesFile with the engine, against its own catalogue
// and against all catalogues of dir at once.
func Run(ctx context.Context, cataloguesDir, casesFile string) (Report, error) {
	return RunWith(ctx, cataloguesDir, casesFile, EngineFinder)
}

// EngineFinder makes a Finder of the diagnosis.
func EngineFinder(list []diagnose.Entry) (Finder, error) {
	engine, err := diagnose.New("", list)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, text []byte) []Got {
		answer := engine.Diagnose(ctx, text, diagnose.Options{})
		var got []Got
		for _, d := range answer.Diagnoses {
			for _, e := range d.Evidence {
				g := Got{ID: d.Record.ID, Kind: string(d.Kind), Confidence: d.Confidence, Variables: map[string]string{}}
				for _, c := range e.Captures {
					g.Variables[c.Name] = c.Value
				}
				got = append(got, g)
			}
		}
		return got
	}, nil
}

// RunWith is Run with another way of finding.
func RunWith(ctx context.Context, cataloguesDir, casesFile string, build func([]diagnose.Entry) (Finder, error)) (Report, error) {
	catalogues, err := LoadCatalogues(cataloguesDir)
	if err != nil {
		return Report{}, err
	}
	cases, err := LoadCases(casesFile)
	if err != nil {
		return Report{}, err
	}
	report := Report{classes: map[string]map[string]Count{modeOwn: {}, modeAll: {}}}
	all, err := build(entries(catalogues, names(catalogues)))
	if err != nil {
		return Report{}, err
	}
	own := map[string]Finder{}
	for _, c := range cases {
		if _, ok := catalogues[c.Catalogue]; !ok {
			return Report{}, fmt.Errorf("case %q: no catalogue %q", c.Name, c.Catalogue)
		}
		if own[c.Catalogue] == nil {
			if own[c.Catalogue], err = build(entries(catalogues, []string{c.Catalogue})); err != nil {
				return Report{}, err
			}
		}
		for _, mode := range []string{modeOwn, modeAll} {
			if err := ctx.Err(); err != nil {
				return Report{}, err
			}
			find := all
			if mode == modeOwn {
				find = own[c.Catalogue]
			}
			report.add(c, mode, find(ctx, []byte(c.Input)))
		}
	}
	return report, nil
}

// add scores a case.
func (r *Report) add(c Case, mode string, got []Got) {
	for i := range got {
		got[i].Catalogue, got[i].ID, _ = strings.Cut(got[i].ID, separator)
	}
	result := Result{Name: c.Name, Mode: mode, Got: got, tier: c.Tier}
	if result.Got == nil {
		result.Got = []Got{}
	}
	tally := &r.Own
	if mode == modeAll {
		tally = &r.All
	}
	result.Right, result.Why = judge(c, got)
	equal, total, wrong := compare(c, got)
	tally.Variables.Equal += equal
	tally.Variables.Total += total
	if wrong != "" {
		result.Why = strings.TrimPrefix(result.Why+"; "+wrong, "; ")
	}
	count := &tally.Core
	switch c.Tier {
	case "stretch":
		count = &tally.Stretch
	case "negative":
		count = &tally.Negative
	}
	count.Total++
	if result.Right {
		count.Right++
	}
	for _, class := range c.Classes {
		n := r.classes[mode][class]
		n.Total++
		if result.Right {
			n.Right++
		}
		r.classes[mode][class] = n
	}
	r.Cases = append(r.Cases, result)
}

// judge decides whether a case is right: every expected message reported, an
// expected one first, and nothing that is neither expected nor tolerated.
func judge(c Case, got []Got) (bool, string) {
	var wrong []string
	reported := map[string]bool{}
	for _, g := range got {
		if g.Catalogue == c.Catalogue {
			reported[g.ID] = true
		}
	}
	wanted := map[string]bool{}
	for _, e := range c.Expected {
		found := false
		for _, id := range append([]string{e.ID}, e.Also...) {
			wanted[id] = true
			found = found || reported[id]
		}
		if !found {
			wrong = append(wrong, "missing "+e.ID)
		}
	}
	tolerated := map[string]bool{}
	for _, id := range c.Tolerated {
		tolerated[id] = true
	}
	seen := map[string]bool{}
	for i, g := range got {
		ours := g.Catalogue == c.Catalogue
		name := g.Catalogue + " " + g.ID
		if i == 0 && len(c.Expected) > 0 && !(ours && wanted[g.ID]) {
			wrong = append(wrong, "first is "+name)
		}
		if !(ours && (wanted[g.ID] || tolerated[g.ID])) && !seen[name] {
			wrong = append(wrong, fmt.Sprintf("not asked for: %s (%s, %.2f)", name, g.Kind, g.Confidence))
		}
		seen[name] = true
	}
	return len(wrong) == 0, strings.Join(wrong, "; ")
}

// compare counts the expected values that were read right. An expected message
// is compared with the report of it that has most values right.
func compare(c Case, got []Got) (equal, total int, wrong string) {
	var notes []string
	for _, e := range c.Expected {
		total += len(e.Variables)
		ids := map[string]bool{e.ID: true}
		for _, id := range e.Also {
			ids[id] = true
		}
		best, note := -1, ""
		for _, g := range got {
			if g.Catalogue != c.Catalogue || !ids[g.ID] {
				continue
			}
			n := 0
			var bad []string
			for _, name := range sortedKeys(e.Variables) {
				want := e.Variables[name]
				if have, ok := g.Variables[name]; ok && squeeze(have) == squeeze(want) {
					n++
				} else {
					bad = append(bad, fmt.Sprintf("%s %s is %q, want %q", g.ID, name, have, want))
				}
			}
			if n > best {
				best, note = n, strings.Join(bad, ", ")
			}
		}
		equal += max(best, 0)
		if note != "" {
			notes = append(notes, note)
		}
	}
	return equal, total, strings.Join(notes, "; ")
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// WriteText writes the report for people: shares by tier and class, then each
// wrong case with what is wrong.
func (r *Report) WriteText(out io.Writer) error {
	var b strings.Builder
	for _, m := range []struct {
		name  string
		tally Tally
	}{{modeOwn, r.Own}, {modeAll, r.All}} {
		t := m.tally
		fmt.Fprintf(&b, "%-4s core %s  stretch %s  negative %s  variables %s\n", m.name,
			share(t.Core.Right, t.Core.Total), share(t.Stretch.Right, t.Stretch.Total),
			share(t.Negative.Right, t.Negative.Total), share(t.Variables.Equal, t.Variables.Total))
	}
	fmt.Fprintf(&b, "\nclass                    own      all\n")
	for _, class := range sortedKeys(r.classes[modeOwn]) {
		own, all := r.classes[modeOwn][class], r.classes[modeAll][class]
		fmt.Fprintf(&b, "%-22s %3d/%-3d  %3d/%-3d\n", class, own.Right, own.Total, all.Right, all.Total)
	}
	for _, c := range r.Cases {
		if c.Why == "" {
			continue
		}
		word := "wrong"
		if c.Right {
			word = "values"
		}
		fmt.Fprintf(&b, "\n%s %s %s %s\n    %s\n", word, c.Mode, c.tier, c.Name, strings.ReplaceAll(c.Why, "; ", "\n    "))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func share(part, whole int) string {
	if whole == 0 {
		return "0/0"
	}
	return fmt.Sprintf("%d/%d (%.1f %%)", part, whole, 100*float64(part)/float64(whole))
}
