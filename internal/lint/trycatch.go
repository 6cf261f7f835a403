package lint

import (
	"regexp"
	"strings"
)

// textTest is one test of a message's text in the code of a record.
type textTest struct {
	kind    string // contains, equals, prefix, suffix, regexp
	text    string // the literal or expression
	negated bool
}

const quoted = `("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|` + "`(?:[^`\\\\$\\n]|\\\\.)*`" + `)`

// about is the part of an expression that says it is about the message.
const about = `(?i:[\w.?)(\] ]*(?:message|msg|text|stderr|string|str|\.error)\b[\w.?()\] ]*)`

var (
	methodTest   = regexp.MustCompile(`(!?)\s*` + about + `!?\.(includes|contains|startsWith|endsWith|indexOf|starts_with|ends_with|startswith|endswith)\(\s*` + quoted)
	equalityTest = regexp.MustCompile(about + `\s*(===?|!==?)\s*` + quoted)
	regexpTest   = regexp.MustCompile(`(!?)/((?:[^/\\\n]|\\.)+)/([a-z]*)\.(?:test|exec)\(([^\n;{]*)`)
	matchTest    = regexp.MustCompile(`(!?)` + about + `!?\.(?:match|search)\(\s*/((?:[^/\\\n]|\\.)+)/([a-z]*)`)
	pythonTest   = regexp.MustCompile(quoted + `\s+(not\s+)?in\s+` + about)
	pythonMatch  = regexp.MustCompile(`re\.(?:search|match)\(\s*r?` + quoted)
	goTest       = regexp.MustCompile(`(!?)strings\.(Contains|HasPrefix|HasSuffix)\([^,\n]*Error\(\)\s*,\s*` + quoted)
	aboutText    = regexp.MustCompile(about)
)

// textTests finds the tests of the message's text, as they are written in
// JavaScript, TypeScript, Python, Go and their like. Tests of codes, names and
// classes are none of them.
func textTests(code string) []textTest {
	var tests []textTest
	add := func(kind, text, not string) {
		if text != "" {
			tests = append(tests, textTest{kind, text, strings.TrimSpace(not) != ""})
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
	for _, m := range methodTest.FindAllStringSubmatch(code, -1) {
		add(kindOf(m[2]), unquote(m[3]), m[1])
	}
	for _, m := range goTest.FindAllStringSubmatch(code, -1) {
		add(kindOf(m[2]), unquote(m[3]), m[1])
	}
	for _, m := range equalityTest.FindAllStringSubmatch(code, -1) {
		add("equals", unquote(m[2]), strings.TrimLeft(m[1], "="))
	}
	for _, m := range regexpTest.FindAllStringSubmatch(code, -1) {
		if aboutText.MatchString(m[4]) {
			add("regexp", expression(m[2], m[3]), m[1])
		}
	}
	for _, m := range matchTest.FindAllStringSubmatch(code, -1) {
		add("regexp", expression(m[2], m[3]), m[1])
	}
	for _, m := range pythonTest.FindAllStringSubmatch(code, -1) {
		add("contains", unquote(m[1]), m[2])
	}
	for _, m := range pythonMatch.FindAllStringSubmatch(code, -1) {
		add("regexp", m[1][1:len(m[1])-1], "")
	}
	return tests
}

var escapeInString = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`, `\"`, `"`, `\'`, `'`, "\\`", "`")

func unquote(literal string) string { return escapeInString.Replace(literal[1 : len(literal)-1]) }

// expression turns a JavaScript expression into one of ours.
func expression(source, flags string) string {
	source = strings.ReplaceAll(source, `\/`, "/")
	if strings.Contains(flags, "i") {
		return "(?i)" + source
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
		re, err := regexp.Compile(t.text)
		return err != nil || re.MatchString(text)
	}
	return strings.Contains(text, t.text)
}

// checkTryCatch tries the tests on the message inside each example. Tests
// joined by "or" need one that holds, others all of them.
func checkTryCatch(s *subject, report reporter) {
	code := value(s.record.TryCatchPattern)
	tests := textTests(code)
	if s.pattern == nil || len(tests) == 0 {
		return
	}
	either := strings.Contains(code, "||") || orWord.MatchString(code)
	for _, example := range s.record.Examples.Match {
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
			report("tryCatchPattern", "tests for %q, which is not in %q", shorten(failed, 60), shorten(message, 80))
			return
		}
	}
}

var orWord = regexp.MustCompile(`\bor\b`)
