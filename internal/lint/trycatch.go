package lint

import (
	"regexp"
	"slices"
	"strings"

	"errorkb/internal/kb"
)

// textTest is one test of a message's text in the code of a record.
type textTest struct {
	kind    string // contains, equals, prefix, suffix, regexp
	text    string // the literal or expression
	negated bool
	whole   string         // as it stands in the code
	expr    *regexp.Regexp // of the kind regexp; nil when RE2 does not know the expression
}

// maxCode is how much of a piece of code is read. Nobody writes that much to show
// how an error is caught, and the work grows faster than the code.
const maxCode = 16 << 10

const quoted = `("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|` + "`(?:[^`\\\\$\\n]|\\\\.)*`" + `)`

// about is the part of an expression that says it is about the message; what
// follows may be the same text in another form, not a member of it.
const about = `(?i:[\w.?)(\] ]*(?:message|msg|text|stderr|string|str|\.error)\b(?:\([\w.]*\))?(?:\??\.(?:to\w+|trim|lower|upper|strip)\(\))*[?)\] ]*)`

var (
	methodTest   = regexp.MustCompile(`(!?)\s*` + about + `!?\.(includes|contains|startsWith|endsWith|indexOf|starts_with|ends_with|startswith|endswith)\(\s*` + quoted)
	equalityTest = regexp.MustCompile(about + `\s*(===?|!==?)\s*` + quoted)
	regexpTest   = regexp.MustCompile(`(!?)/((?:[^/\\\n]|\\.)+)/([a-z]*)\.(?:test|exec)\(([^\n;{)]*)`)
	matchTest    = regexp.MustCompile(`(!?)` + about + `!?\.(?:match|search)\(\s*/((?:[^/\\\n]|\\.)+)/([a-z]*)`)
	pythonTest   = regexp.MustCompile(quoted + `\s+(not\s+)?in\s+` + about)
	pythonMatch  = regexp.MustCompile(`re\.(?:search|match)\(\s*r?` + quoted)
	goTest       = regexp.MustCompile(`(!?)strings\.(Contains|HasPrefix|HasSuffix)\([^,\n]*Error\(\)\s*,\s*` + quoted)
	aboutText    = regexp.MustCompile(about)
	aboutMessage = regexp.MustCompile(`(?i)message|msg|stderr|Error\(\)`)
)

// named is a constant that holds an expression or a text, tested by its name.
var named = regexp.MustCompile(`\bconst\s+(\w+)\s*(?::\s*\w+\s*)?=\s*(/(?:[^/\\\n]|\\.)+/[a-z]*|` + quoted + `)(?:\s+as\s+const)?\s*;?`)

var name = regexp.MustCompile(`\w+`)

// inlined puts the values of such constants where their names are used, as long as
// there is room.
func inlined(code string) string {
	values := map[string]string{}
	for _, m := range named.FindAllStringSubmatch(code, -1) {
		values[m[1]] = m[2]
		code = strings.Replace(code, m[0], "", 1)
	}
	if len(values) == 0 {
		return code
	}
	room := maxCode
	return name.ReplaceAllStringFunc(code, func(n string) string {
		if v, ok := values[n]; ok && len(v) <= room {
			room -= len(v)
			return v
		}
		return n
	})
}

// leaves is what follows a test that sends everything else away: then its
// negation asks for the text all the same.
var leaves = regexp.MustCompile(`^[^;{\n]*\)\s*(?:\{\s*)?(?:throw|return|raise|continue)\b`)

// afterAnd reports whether the code in front of a test makes it one more
// condition.
func afterAnd(before string) bool {
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return strings.LastIndex(line, "&&") > strings.LastIndex(line, "||")
}

// textTests finds the tests of the message's text, as they are written in
// JavaScript, TypeScript, Python, Go and their like. Tests of codes, names and
// classes are none of them.
func textTests(code string) []textTest {
	code = inlined(code[:min(len(code), maxCode)])
	var tests []textTest
	find := func(re *regexp.Regexp, read func(m []string) (kind, text, not string)) {
		for _, at := range re.FindAllStringSubmatchIndex(code, -1) {
			m := make([]string, len(at)/2)
			for i := range m {
				if at[2*i] >= 0 {
					m[i] = code[at[2*i]:at[2*i+1]]
				}
			}
			if kind, text, not := read(m); text != "" && !strings.Contains(m[0], "typeof ") {
				negated := strings.TrimSpace(not) != "" && (!leaves.MatchString(code[at[1]:]) || afterAnd(code[:at[0]]))
				test := textTest{kind: kind, text: text, negated: negated, whole: m[0]}
				if kind == "regexp" {
					test.expr, _ = regexp.Compile(text)
				}
				tests = append(tests, test)
			}
		}
	}
	kinds := map[string]string{
		"startsWith": "prefix", "starts_with": "prefix", "startswith": "prefix", "HasPrefix": "prefix",
		"endsWith": "suffix", "ends_with": "suffix", "endswith": "suffix", "HasSuffix": "suffix",
	}
	kindOf := func(method string) string {
		if k := kinds[method]; k != "" {
			return k
		}
		return "contains"
	}
	method := func(m []string) (string, string, string) { return kindOf(m[2]), unquote(m[3]), m[1] }
	find(methodTest, method)
	find(goTest, method)
	find(equalityTest, func(m []string) (string, string, string) { return "equals", unquote(m[2]), strings.TrimLeft(m[1], "=") })
	find(regexpTest, func(m []string) (string, string, string) {
		if !aboutText.MatchString(m[4]) {
			return "", "", ""
		}
		return "regexp", expression(m[2], m[3]), m[1]
	})
	find(matchTest, func(m []string) (string, string, string) { return "regexp", expression(m[2], m[3]), m[1] })
	find(pythonTest, func(m []string) (string, string, string) { return "contains", unquote(m[1]), m[2] })
	find(pythonMatch, func(m []string) (string, string, string) { return "regexp", m[1][1 : len(m[1])-1], "" })
	return tests
}

var escapeInString = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`, `\"`, `"`, `\'`, `'`, "\\`", "`")

func unquote(literal string) string { return escapeInString.Replace(literal[1 : len(literal)-1]) }

// expression turns a JavaScript expression into one of ours.
func expression(source, flags string) string {
	source = strings.NewReplacer(`\/`, "/", `[^]`, `(?s:.)`).Replace(source)
	for _, flag := range "ims" {
		if strings.ContainsRune(flags, flag) {
			source = "(?" + string(flag) + ")" + source
		}
	}
	return source
}

// holds reports whether a text passes the test. An expression that RE2 does not
// know is given the benefit of the doubt.
func (t textTest) holds(text string) bool {
	switch t.kind {
	case "equals":
		return text == t.text
	case "prefix":
		return strings.HasPrefix(text, t.text)
	case "suffix":
		return strings.HasSuffix(text, t.text)
	case "regexp":
		return t.expr == nil || t.expr.MatchString(text)
	}
	return strings.Contains(text, t.text)
}

// checkTexts tries the tests on the message inside each example. Tests joined
// by "or" need one that holds, others all of them.
func checkTexts(s *subject, report reporter) {
	r := s.record
	fix, _ := kb.SplitFix(r.ExampleFix)
	for _, c := range []struct{ field, code string }{
		{"tryCatchPattern", value(r.TryCatchPattern)}, {"typeGuard", value(r.TypeGuard)},
		{"validationCode", value(r.ValidationCode)}, {"exampleFix", fix.After},
	} {
		tests := textTests(c.code)
		if c.field != "tryCatchPattern" {
			// Elsewhere a text may be any value that is looked at.
			tests = slices.DeleteFunc(tests, func(t textTest) bool { return !aboutMessage.MatchString(t.whole) })
		}
		if s.pattern == nil || len(tests) == 0 {
			continue
		}
		either := strings.Contains(c.code, "||") || orWord.MatchString(c.code)
		for _, example := range r.Examples.Match {
			m, ok := s.pattern.Match([]byte(example))
			if !ok {
				continue
			}
			message := example[m.Start:m.End]
			held, failed := 0, ""
			for _, t := range tests {
				if t.negated || t.holds(message) {
					held++
				} else if failed == "" {
					failed = t.text
				}
			}
			if failed != "" && (!either || held == 0) {
				report(c.field, "tests for %q, which is not in %q", shorten(failed, 60), shorten(message, 80))
				break
			}
		}
	}
}

var orWord = regexp.MustCompile(`\bor\b`)
