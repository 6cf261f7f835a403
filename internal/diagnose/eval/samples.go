package eval

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"math/rand"
	"regexp"
	"regexp/syntax"
	"strconv"
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

// Samples tries the development cases in several wrappings against their own
// catalogue and against the others, and every step-th message of the catalogues
// rendered with made-up values: bare, as one line of a log, cut off, and
// reworded so that it is another message; all of them with all catalogues loaded. A message whose template stands in several catalogues counts as right
// under each.
func Samples(ctx context.Context, cataloguesDir, casesFile string, step int) ([]Sample, error) {
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
	rendered, err := renderedSamples(ctx, catalogues, step)
	return append(out, rendered...), err
}

// renderedSamples are those of messages filled with values.
func renderedSamples(ctx context.Context, catalogues map[string][]Message, step int) ([]Sample, error) {
	engine, err := diagnose.New("", entries(catalogues, names(catalogues)))
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewSource(1))
	expressions, words := map[string]string{}, map[string]int{}
	bare := map[string]map[string]bool{} // template without values → ids
	for name, list := range catalogues {
		for _, m := range list {
			_, key, _ := Render(m.Pattern, rand.New(rand.NewSource(0)))
			if bare[key] == nil {
				bare[key] = map[string]bool{}
			}
			bare[key][name+separator+m.ID] = true
			expressions[name+separator+m.ID] = m.Pattern
			words[name+separator+m.ID] = len(strings.Fields(strings.ReplaceAll(key, "\x00", " ")))
		}
	}
	var out []Sample
	n := 0
	for _, name := range names(catalogues) {
		for _, m := range catalogues[name] {
			if n++; n%step != 0 {
				continue
			}
			text, key, _ := Render(m.Pattern, random)
			const log = "12:00:01 INFO server started in %d ms\n12:00:02 ERROR request failed: %s\n12:00:03 INFO bye\n"
			other := reword(text, random)
			same := func(text string) bool { // only values were reworded
				return matches(m.Pattern, text)
			}
			for _, try := range []struct {
				text  string
				right bool
			}{
				{text, true},
				{fmt.Sprintf(log, random.Intn(900), text), true},
				{strings.ToValidUTF8(text[:len(text)*3/5], ""), true},
				{fmt.Sprintf(log, random.Intn(900), other), same(other)},
			} {
				for _, w := range engine.Weights(ctx, []byte(try.text)) {
					right := try.right && bare[key][w.ID]
					if !right && !bare[key][w.ID] && words[w.ID] >= 4 && matches(expressions[w.ID], try.text) {
						continue // so much text is there by right, though nobody put it there
					}
					out = append(out, Sample{w.Score, right})
				}
			}
		}
	}
	return out, nil
}

// matches reports whether an expression, with values that may be empty, stands
// in a text.
func matches(expr, text string) bool {
	ok, err := regexp.MatchString(strings.ReplaceAll(expr, ".+?", ".*?"), text)
	return ok && err == nil
}

// otherWords stand in for words of a message to make a near miss of it.
var otherWords = []string{"table", "worker", "request", "invalid", "not", "missing", "value", "too", "remote", "user", "session", "found", "cannot", "required"}

// reword puts other words in the place of every third word of a text or so.
func reword(text string, random *rand.Rand) string {
	words := strings.Split(text, " ")
	changed := false
	for i := range words {
		if random.Intn(3) == 0 || i == len(words)/2 && !changed {
			words[i] = otherWords[random.Intn(len(otherWords))]
			changed = true
		}
	}
	return strings.Join(words, " ")
}

// values are what placeholders are filled with: quotes, dots, colons, blanks
// and paths among them.
var values = []string{
	"users", "/home/user/my app/config.json", "10.0.0.1:5432", "foo.bar.Baz", "it's", "a: b", `C:\Program Files\x`,
	"main", "@scope/pkg", "v1.2.3", "two words", `a "quoted" one`, "x", "key=value",
}

// Render fills the gaps of an expression with made-up values, which it returns
// by name. The key is the text of the message without them: messages with the
// same key cannot be told apart.
func Render(expr string, random *rand.Rand) (text, key string, made map[string]string) {
	made = map[string]string{}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return "", "", made
	}
	var filled, plain strings.Builder
	var walk func(t *syntax.Regexp)
	walk = func(t *syntax.Regexp) {
		switch t.Op {
		case syntax.OpLiteral:
			filled.WriteString(string(t.Rune))
			plain.WriteString(string(t.Rune))
		case syntax.OpConcat:
			for _, sub := range t.Sub {
				walk(sub)
			}
		case syntax.OpAlternate:
			walk(t.Sub[0])
		case syntax.OpPlus:
			filled.WriteByte('\n')
			plain.WriteByte(' ')
		case syntax.OpCapture:
			plain.WriteByte(0)
			value := ""
			switch gap := t.Sub[0].String(); {
			case strings.Contains(gap, "true"):
				value = "true"
			case strings.Contains(gap, "A-F"):
				value = "9f"
			case strings.Contains(gap, "0-9") || strings.Contains(gap, `\d`):
				value = strconv.Itoa(random.Intn(5000))
			default:
				value = values[random.Intn(len(values))]
			}
			made[t.Name] = value
			filled.WriteString(value)
		}
	}
	walk(tree)
	return filled.String(), strings.ToLower(strings.TrimRight(strings.TrimSpace(plain.String()), ".")), made
}
