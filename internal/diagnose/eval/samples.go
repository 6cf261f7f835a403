package eval

import (
	"context"
	"encoding/json"
	"html"
	"math/rand/v2"
	"strings"

	"errorkb/internal/diagnose"
)

// Sample is a score that the diagnosis gave to a record, and whether that
// record was in the text.
type Sample struct {
	Score float64
	Right bool
}

// wrappings are common ways in which a text reaches a paste.
var wrappings = []func(string) string{
	func(s string) string { return s },
	func(s string) string { return perLine(s, func(l string) string { return "> " + l }) },
	func(s string) string {
		return perLine(s, func(l string) string { return "2024-03-01T10:00:00.123Z " + l })
	},
	func(s string) string { return perLine(s, func(l string) string { return "web-1  | " + l }) },
	func(s string) string { return perLine(s, func(l string) string { return "\x1b[31m" + l + "\x1b[0m" }) },
	func(s string) string { return "I get this:\n\n```\n" + s + "\n```\n\nWhat is wrong?" },
	func(s string) string { return html.EscapeString(s) },
	func(s string) string {
		data, _ := json.Marshal(s) // a string always has a JSON form
		return `{"level":"error","msg":` + string(data) + `,"pid":12}`
	},
}

func perLine(s string, f func(string) string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = f(lines[i])
	}
	return strings.Join(lines, "\n")
}

// sampleSeed makes the pastes that the confidence is fitted to; they are others than
// those it is measured with.
const sampleSeed = 5

// Samples tries the development cases in several wrappings against their own
// catalogue and against the others; per places of each kind that hold a message or a
// stranger, and every step-th message bare and cut, with all catalogues loaded; and
// lines in which nothing is. A message whose template stands in several catalogues
// counts as right under each.
func Samples(ctx context.Context, cataloguesDir, casesFile string, per, step int) ([]Sample, error) {
	catalogues, err := LoadCatalogues(cataloguesDir)
	if err != nil {
		return nil, err
	}
	cases, err := LoadCases(casesFile)
	if err != nil {
		return nil, err
	}
	var out []Sample
	for _, name := range names(catalogues) {
		engine, err := diagnose.New("", entries(catalogues, []string{name}))
		if err != nil {
			return nil, err
		}
		for _, c := range cases {
			for i, wrap := range wrappings {
				if c.Catalogue != name && i > 0 {
					break
				}
				right := map[string]bool{}
				if c.Catalogue == name {
					for _, e := range c.Expected {
						for _, id := range append(append([]string{e.ID}, e.Also...), c.Tolerated...) {
							right[name+separator+id] = true
						}
					}
				}
				for _, w := range engine.Weights(ctx, []byte(wrap(c.Input))) {
					out = append(out, Sample{w.Score, right[w.ID]})
				}
			}
		}
	}
	engine, err := diagnose.New("", entries(catalogues, names(catalogues)))
	if err != nil {
		return nil, err
	}
	pool := NewPool(catalogues)
	pastes := pool.Pastes(per, sampleSeed)
	for _, line := range OrdinaryLines(ordinarySamples) {
		pastes = append(pastes, Paste{Text: line, Negative: true})
	}
	r := filler{rand.New(rand.NewPCG(sampleSeed, 1))}
	n := 0
	for _, name := range names(catalogues) {
		for _, m := range catalogues[name] {
			if n++; n%step != 0 {
				continue
			}
			p := Planted{ID: EntryOf(name, m).Ref.ID, Filled: Fill(m.Pattern, r.Rand, r.value)}
			cut := strings.ToValidUTF8(p.Text[:len(p.Text)*3/5], "")
			pastes = append(pastes, Paste{Text: p.Text, Planted: []Planted{p}}, Paste{Text: cut, Planted: []Planted{p}})
		}
	}
	for _, p := range pastes {
		out = append(out, pool.samples(p, engine.Weights(ctx, []byte(p.Text)))...)
	}
	return out, ctx.Err()
}

// ordinarySamples is how many ordinary lines are among the samples.
const ordinarySamples = 3000

// samples are the scores given for a paste, but those of messages that are in it by
// right though nobody put them there.
func (p *Pool) samples(paste Paste, weights []diagnose.Weight) []Sample {
	right := map[string]bool{}
	for _, m := range paste.Planted {
		for _, id := range p.Same(m.ID) {
			right[id] = true
		}
	}
	flat := squeeze(paste.Text)
	var out []Sample
	for _, w := range weights {
		if right[w.ID] || !p.Holds(w.ID, flat) {
			out = append(out, Sample{w.Score, right[w.ID]})
		}
	}
	return out
}

// Awkward are values that are hard to read: quotes, dots, colons, blanks and paths
// among them.
var Awkward = []string{
	"users", "/home/user/my app/config.json", "10.0.0.1:5432", "foo.bar.Baz", "it's", "a: b", `C:\Program Files\x`,
	"main", "@scope/pkg", "v1.2.3", "two words", `a "quoted" one`, "x", "key=value",
}
