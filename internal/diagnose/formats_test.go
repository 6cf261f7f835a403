package diagnose_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"errorkb/internal/diagnose"
	"errorkb/internal/kb"
)

// place is a text of testdata/formats.cases.
type place struct {
	name, change, text string
}

func places(t testing.TB) []place {
	t.Helper()
	data, err := os.ReadFile("testdata/formats.cases")
	if err != nil {
		t.Fatal(err)
	}
	var list []place
	for _, part := range regexp.MustCompile(`(?m)^-- (.+) --\n`).Split(string(data), -1)[1:] {
		list = append(list, place{text: strings.TrimSuffix(part, "\n")})
	}
	for i, m := range regexp.MustCompile(`(?m)^-- (.+) --\n`).FindAllStringSubmatch(string(data), -1) {
		list[i].name, list[i].change, _ = strings.Cut(m[1], " | ")
	}
	return list
}

// inner is what stands between the quotes of a string.
func inner(s string) string { return s[1 : len(s)-1] }

// writings are the ways in which places write messages.
var writings = map[string]func(string) string{
	"json":     func(m string) string { return inner(quoted(m)) },
	"json-msg": func(m string) string { return `{"level":50,"msg":` + quoted(m) + `}` },
	"stack":    func(m string) string { return "Error: " + m + "\n    at open (/app/channel.js:31:11)" },
	"go":       strconv.Quote,
	"rust":     func(m string) string { return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(m) },
	"xml": func(m string) string {
		var b strings.Builder
		if err := xml.EscapeText(&b, []byte(m)); err != nil {
			panic(err)
		}
		return b.String()
	},
	"teamcity": strings.NewReplacer("|", "||", "'", "|'", "\n", "|n", "\r", "|r", "[", "|[", "]", "|]").Replace,
	"yaml":     func(m string) string { return strings.ReplaceAll(m, "'", "''") },
	"sql":      func(m string) string { return strings.ReplaceAll(m, "'", "''") },
	"csv":      func(m string) string { return strings.ReplaceAll(m, `"`, `""`) },
	"shell":    func(m string) string { return strings.ReplaceAll(m, "'", `'\''`) },
	"url":      func(m string) string { return strings.ReplaceAll(url.QueryEscape(m), "+", "%20") },
	"form":     url.QueryEscape,
	"smart": func(m string) string {
		return strings.NewReplacer(` "`, " “", `"`, "”", " '", " ‘", "'", "’", "...", "…").Replace(m)
	},
	// Python and Node take the quotes that the text does not hold.
	"python": func(m string) string {
		if strings.Contains(m, "'") && !strings.Contains(m, `"`) {
			return `"` + strings.ReplaceAll(m, `\`, `\\`) + `"`
		}
		return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(m) + "'"
	},
	"inspect": func(m string) string {
		for _, quote := range []string{"'", `"`, "`"} {
			if !strings.Contains(m, quote) {
				return quote + m + quote
			}
		}
		return "'" + strings.ReplaceAll(m, "'", `\'`) + "'"
	},
}

// write is the text of a place with a message in it.
func (p place) write(message string) string {
	text := p.text
	if p.change == "ansi" {
		text = strings.NewReplacer(`\e`, "\x1b", `\r`, "\r", `\a`, "\a").Replace(text)
	}
	text = regexp.MustCompile(`\{\{([a-z -]*)m\}\}`).ReplaceAllStringFunc(text, func(s string) string {
		words := strings.Fields(inner(inner(s)))
		m := message
		for i := len(words) - 2; i >= 0; i-- {
			m = writings[words[i]](m)
		}
		return m
	})
	switch p.change {
	case "", "ansi", "tail":
	case "crlf":
		text = strings.ReplaceAll(text, "\n", "\r\n")
	case "nbsp":
		text = strings.ReplaceAll(text, " ", "\u00a0")
	case "bom":
		text = "\ufeff" + text
	case "mojibake":
		var b strings.Builder
		for _, c := range []byte(text) {
			if r, ok := windows1252[c]; ok {
				b.WriteRune(r)
			} else {
				b.WriteRune(rune(c))
			}
		}
		text = b.String()
	case "utf16le", "utf16be":
		var b bytes.Buffer
		for _, u := range utf16.Encode([]rune("\ufeff" + text)) {
			if p.change == "utf16le" {
				b.Write([]byte{byte(u), byte(u >> 8)})
			} else {
				b.Write([]byte{byte(u >> 8), byte(u)})
			}
		}
		text = b.String()
	default:
		panic(p.name + ": nobody knows how to " + p.change)
	}
	return text
}

// windows1252 are the characters of that code page that Latin 1 has not, of the bytes
// of quotes and dashes.
var windows1252 = map[byte]rune{0x80: '€', 0x93: '“', 0x94: '”', 0x98: '˜', 0x99: '™', 0x9c: 'œ', 0xa6: '¦'}

// Wherever a message comes from, its record is found first, with its values and its
// line.
func TestFormats(t *testing.T) {
	engine, list := bundled(t)
	all := places(t)
	if len(all) < 100 {
		t.Fatalf("%d places", len(all))
	}
	for _, p := range all {
		t.Run(p.name, func(t *testing.T) {
			line := 1 + strings.Count(p.text[:strings.Index(p.text, "{{")], "\n")
			right, tried, example := 0, 0, ""
			for _, r := range list {
				message, values := filled(r, false)
				if fewWords(r) {
					continue // needs more than its words; see TestWeak
				}
				tried++
				known := values
				if n := len(values); p.change == "tail" && n > 0 && strings.HasSuffix(strings.TrimSuffix(message, "."), values[n-1]) {
					known = values[:n-1]
				}
				text := p.write(message)
				if wrong := wrongIn(engine, text, r, known, line); wrong == "" {
					right++
				} else if example == "" {
					example = fmt.Sprintf("%s in\n%s", wrong, text)
				}
			}
			if tried < 40 || right < tried {
				t.Errorf("%s: %d of %d right; %s", p.name, right, tried, example)
			}
		})
	}
}

func fewWords(r *kb.Record) bool {
	return len(strings.Fields(regexp.MustCompile(`\$\{[^}]*\}`).ReplaceAllString(r.ErrorMessage, ""))) < 5
}

// wrongIn says what is wrong with the diagnosis of a text that holds the message of a
// record, "" if nothing is.
func wrongIn(engine *diagnose.Engine, text string, r *kb.Record, values []string, line int) string {
	answer := engine.Diagnose(context.Background(), []byte(text), diagnose.Options{})
	if !json.Valid(answer.AppendJSON(nil)) {
		return "no valid JSON"
	}
	if len(answer.Diagnoses) == 0 || answer.Diagnoses[0].Record.ID != r.ID {
		return fmt.Sprintf("%s, want %s", ids(&answer), r.ID)
	}
	got := answer.Diagnoses[0].Evidence[0]
	for i, c := range r.Captures[:len(values)] {
		if len(got.Captures) <= i || got.Captures[i].Name != c.Name || got.Captures[i].Value != values[i] {
			return fmt.Sprintf("captures %v, want %s %q", got.Captures, c.Name, values[i])
		}
	}
	if got.Line != line {
		return fmt.Sprintf("line %d, want %d", got.Line, line)
	}
	return ""
}
