package eval

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"path/filepath"
	"strings"
	"testing"
)

func jsonString(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// variants are things that happen to a whole paste, with how many core cases and how
// many values may get lost by each, beyond the value that is not read anyway.
var variants = []struct {
	name   string
	lost   int
	unread int
	apply  func(string) string
}{
	{"crlf", 0, 0, func(s string) string {
		return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
	}},
	{"colour", 0, 0, func(s string) string { return strings.ReplaceAll(s, " ", "\x1b[0m \x1b[1;32m") }},
	{"json", 0, 0, func(s string) string { return `{"level":"error","msg":` + jsonString(s) + `,"pid":12}` }},
	{"json twice", 0, 0, func(s string) string {
		return `{"log":` + jsonString(`{"level":"error","msg":`+jsonString(s)+`}`) + `,"stream":"stderr"}`
	}},
	{"json three times", 0, 0, func(s string) string {
		return `{"a":` + jsonString(`{"log":`+jsonString(`{"level":"error","msg":`+jsonString(s)+`}`)+`}`) + `}`
	}},
	{"json lines", 0, 0, func(s string) string {
		return perLine(s, func(l string) string { return `{"log":` + jsonString(l+"\n") + `,"stream":"stderr"}` })
	}},
	{"go quotes", 0, 0, func(s string) string { return "level=error msg=" + fmt.Sprintf("%q", s) }},
	{"mail quote", 0, 0, func(s string) string {
		return "On Monday, A wrote:\n" + perLine(s, func(l string) string { return "> > " + l })
	}},
	{"fence", 0, 0, func(s string) string { return "I get this:\n\n```\n" + s + "\n```\n\nWhat now?" }},
	{"times", 0, 0, func(s string) string {
		return perLine(s, func(l string) string { return "2024-03-01T10:00:00.123Z " + l })
	}},
	{"syslog", 0, 0, func(s string) string {
		return perLine(s, func(l string) string { return "Mar 01 10:00:00 host-1 app[123]: " + l })
	}},
	{"compose", 0, 0, func(s string) string { return perLine(s, func(l string) string { return "web-1  | " + l }) }},
	{"box", 0, 0, func(s string) string {
		return "╷\n" + perLine(s, func(l string) string { return "│ " + l }) + "\n╵"
	}},
	{"npm", 0, 0, func(s string) string { return perLine(s, func(l string) string { return "npm ERR! " + l }) }},
	{"html twice", 0, 0, func(s string) string { return html.EscapeString(html.EscapeString(s)) }},
	{"wrapped at blanks, 50", 1, 4, func(s string) string { return wrapLines(s, 50, false) }},
	{"wrapped at column 60", 0, 1, func(s string) string { return wrapLines(s, 60, true) }},
	{"wrapped at column 40", 0, 1, func(s string) string { return wrapLines(s, 40, true) }},
	{"wrapped at blanks, 72", 0, 2, func(s string) string { return wrapLines(s, 72, false) }},
	{"wrapped at column 80", 0, 0, func(s string) string { return wrapLines(s, 80, true) }},
}

// What happens to a whole paste does not change the answer.
func TestVariants(t *testing.T) {
	dir := Shared(t)
	catalogues, err := LoadCatalogues(filepath.Join(dir, "eval", "catalogues"))
	if err != nil {
		t.Fatal(err)
	}
	cases, err := LoadCases(filepath.Join(dir, "eval", "cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	finders := map[string]Finder{}
	for _, name := range names(catalogues) {
		if finders[name], err = EngineFinder(entries(catalogues, []string{name})); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range variants {
		report := Report{classes: map[string]map[string]Count{modeOwn: {}}}
		for _, c := range cases {
			report.add(c, modeOwn, finders[c.Catalogue](context.Background(), []byte(v.apply(c.Input))))
		}
		own := report.Own
		t.Logf("%-22s core %d/%d stretch %d/%d negative %d/%d variables %d/%d", v.name, own.Core.Right, own.Core.Total,
			own.Stretch.Right, own.Stretch.Total, own.Negative.Right, own.Negative.Total, own.Variables.Equal, own.Variables.Total)
		if own.Core.Right < own.Core.Total-v.lost || own.Negative.Right < own.Negative.Total || own.Variables.Equal < own.Variables.Total-1-v.unread {
			t.Errorf("%s: core %d of %d, at most %d may get lost; negative %d of %d; variables %d of %d", v.name,
				own.Core.Right, own.Core.Total, v.lost, own.Negative.Right, own.Negative.Total, own.Variables.Equal, own.Variables.Total)
		}
	}
}
