package lint

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"errorkb/internal/kb"
	"errorkb/internal/pattern"
)

// patternChecks look at whether a record will be recognised.
var patternChecks = []*aCheck{
	{CheckInfo: CheckInfo{Code: "pattern-size", Name: "pattern too large", Severity: kb.FindingError,
		Description: "A pattern has at most 4 KiB, and its compiled form is bounded.",
		Advice:      "shorten it: a telling part of the message is enough"}, record: checkPatternSize},
	{CheckInfo: CheckInfo{Code: "pattern-compile", Name: "pattern does not compile", Severity: kb.FindingError,
		Description: "messagePattern, also of earlier wordings, is an RE2 expression: no look-around, no back-references.",
		Advice:      "mend the expression; escape what is meant literally"}, record: checkPatternCompile},
	{CheckInfo: CheckInfo{Code: "pattern-example", Name: "pattern does not find its example", Severity: kb.FindingError,
		Description: "The pattern finds every text of examples.match, by the engine and as a plain regular expression.",
		Advice:      "mend the pattern or the example"}, record: checkPatternExample},
	{CheckInfo: CheckInfo{Code: "pattern-near-miss", Name: "pattern finds a near miss", Severity: kb.FindingError,
		Description: "The pattern finds no text of examples.noMatch.",
		Advice:      "make the pattern narrower"}, record: checkPatternNearMiss},
	{CheckInfo: CheckInfo{Code: "pattern-message", Name: "pattern disagrees with the message", Severity: kb.FindingError,
		Description: "The pattern finds errorMessage when its placeholders are filled; so do the patterns of earlier wordings.",
		Advice:      "write the pattern from the message: escape its text, put a named group for each placeholder"}, record: checkPatternMessage},
	{CheckInfo: CheckInfo{Code: "pattern-partial", Name: "pattern covers a part of the message", Severity: kb.FindingWarning,
		Description: "The pattern covers the whole message; what it leaves out is not marked in a paste and does not count as evidence.",
		Advice:      "write the whole message into the pattern"}, record: checkPatternPartial},
	{CheckInfo: CheckInfo{Code: "pattern-anchored", Name: "pattern is anchored", Severity: kb.FindingWarning,
		Description: "People paste messages inside log lines, so a pattern is not tied to the start or the end of a line.",
		Advice:      `remove ^ and $, \A and \z`}, record: checkPatternAnchored},
	{CheckInfo: CheckInfo{Code: "pattern-weak", Name: "weak pattern", Severity: kb.FindingWarning,
		Description: "A pattern whose literals have fewer than two words or ten characters finds too much; what it finds needs further evidence.",
		Advice:      "add more of the message's own text"}, record: checkPatternWeak},
	{CheckInfo: CheckInfo{Code: "pattern-slow", Name: "pattern is no list of literals and gaps", Severity: kb.FindingWarning,
		Description: "A pattern that cannot be turned into literals and gaps is run as a regular expression, which is slower.",
		Advice:      "use literals and gaps such as (?P<name>.+?); leave nested repetitions out"}, record: checkPatternSlow},
	{CheckInfo: CheckInfo{Code: "captures", Name: "captures disagree", Severity: kb.FindingError,
		Description: "Placeholders of the message, named groups of the pattern and captures are the same values in the same order.",
		Advice:      "give each placeholder a named group and an entry in captures"}, record: checkCaptures},
	{CheckInfo: CheckInfo{Code: "capture-unnamed", Name: "group without a name", Severity: kb.FindingWarning, Strict: true,
		Description: "Each gap of the pattern that stands for a placeholder is a named group, so that its value can be shown.",
		Advice:      "write (?P<name>.+?) with the capture's name"}, record: checkCaptureUnnamed},
	{CheckInfo: CheckInfo{Code: "capture-text", Name: "capture not explained", Severity: kb.FindingWarning, Strict: true,
		Description: "Each capture has a description and an example.",
		Advice:      "say what the value is and where it comes from, and give one that people see"}, record: checkCaptureText},
	{CheckInfo: CheckInfo{Code: "capture-example", Name: "example of a capture not seen", Severity: kb.FindingWarning, Strict: true,
		Description: "The example of a capture is the value that the pattern takes from a text of examples.match.",
		Advice:      "use the value of an example, or add an example that has it"}, record: checkCaptureExample},
	{CheckInfo: CheckInfo{Code: "example-missing", Name: "no example", Severity: kb.FindingWarning, Strict: true,
		Description: "examples.match shows at least one text as people really see it, placeholders filled.",
		Advice:      "add a text from a log or a terminal"}, record: checkExampleMissing},
	{CheckInfo: CheckInfo{Code: "near-miss-missing", Name: "no near miss", Severity: kb.FindingWarning, Strict: true,
		Description: "examples.noMatch holds at least one text that looks alike and is another error; without it nobody sees a pattern that finds too much.",
		Advice:      "add a similar message of the same project, or this one with a telling word changed"}, record: checkNearMissMissing},
}

func checkPatternSize(s *subject, report reporter) {
	switch {
	case errors.Is(s.patternErr, pattern.ErrTooLong):
		report("messagePattern", "has %d bytes, at most %d are allowed", len(s.record.MessagePattern), pattern.MaxExpr)
	case errors.Is(s.patternErr, pattern.ErrTooLarge):
		report("messagePattern", "compiles to a program that is too large")
	}
}

func checkPatternCompile(s *subject, report reporter) {
	if err := s.patternErr; err != nil && !errors.Is(err, pattern.ErrTooLong) && !errors.Is(err, pattern.ErrTooLarge) {
		report("messagePattern", "%s", reason(err))
	}
	for i, h := range s.record.MessageHistory {
		if _, err := pattern.Compile(h.MessagePattern, h.ErrorMessage); err != nil {
			report(element("messageHistory", i)+".messagePattern", "%s", reason(err))
		}
	}
}

// reason gives the innermost error, which does not repeat the expression.
func reason(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		}
		err = inner
	}
}

// finds reports whether the engine and the plain expression find a text.
func (s *subject) finds(text string) (engine, expression bool) {
	_, engine = s.pattern.Match([]byte(text))
	re, err := regexp.Compile(s.record.MessagePattern)
	return engine, err == nil && re.MatchString(text)
}

func checkPatternExample(s *subject, report reporter) {
	if s.pattern == nil {
		return
	}
	for i, example := range s.record.Examples.Match {
		field := element("examples.match", i)
		switch engine, expression := s.finds(example); {
		case !engine && !expression:
			report(field, "is not found by messagePattern")
		case !engine:
			report(field, "is found by messagePattern as a regular expression, not as literals and gaps")
		case !expression:
			report(field, "is found by messagePattern as literals and gaps, not as a regular expression")
		}
	}
}

func checkPatternNearMiss(s *subject, report reporter) {
	if s.pattern == nil {
		return
	}
	for i, example := range s.record.Examples.NoMatch {
		if engine, expression := s.finds(example); engine || expression {
			report(element("examples.noMatch", i), "is found by messagePattern")
		}
	}
}

// fillings gives the message with its placeholders filled, the likeliest first:
// with the captures' examples, then with values that most gaps accept.
func fillings(message string, captures []kb.Capture) []string {
	placeholders := kb.Placeholders(message)
	if len(placeholders) == 0 {
		return []string{message}
	}
	fill := func(value func(i int) string) string {
		var b strings.Builder
		rest := message
		for i, p := range placeholders {
			before, after, _ := strings.Cut(rest, p)
			b.WriteString(before + value(i))
			rest = after
		}
		return b.String() + rest
	}
	var all []string
	if len(captures) == len(placeholders) && !slices.ContainsFunc(captures, func(c kb.Capture) bool { return c.Example == "" }) {
		all = append(all, fill(func(i int) string { return captures[i].Example }))
	}
	for _, value := range []string{"value", "7", "a1b2c3d4", "/tmp/value.txt"} {
		all = append(all, fill(func(int) string { return value }))
	}
	return append(all, message)
}

// coverage is how much of a message its pattern finds.
type coverage struct {
	filled string // the message, its placeholders filled
	match  pattern.Match
	ok     bool
}

// left is the number of bytes that are not covered.
func (c coverage) left() int { return len(c.filled) - (c.match.End - c.match.Start) }

// bestCover tries the fillings and gives the one of which the pattern leaves
// least.
func bestCover(p *pattern.Pattern, message string, captures []kb.Capture) coverage {
	var best coverage
	for _, f := range fillings(message, captures) {
		m, ok := p.Match([]byte(f))
		if c := (coverage{f, m, ok}); ok && (!best.ok || c.left() < best.left()) {
			best = c
		}
	}
	return best
}

func checkPatternMessage(s *subject, report reporter) {
	r := s.record
	if s.pattern != nil && !s.cover.ok && r.ErrorMessage != "" && !s.hasBad("errorMessage") {
		report("messagePattern", "does not find errorMessage")
	}
	for i, h := range r.MessageHistory {
		p, err := pattern.Compile(h.MessagePattern, h.ErrorMessage)
		if err != nil || h.MessagePattern == "" || h.ErrorMessage == "" {
			continue
		}
		if !bestCover(p, h.ErrorMessage, r.Captures).ok {
			report(element("messageHistory", i)+".messagePattern", "does not find its errorMessage")
		}
	}
}

func checkPatternPartial(s *subject, report reporter) {
	if !s.cover.ok {
		return
	}
	// A message may end or start with a quote or full stop that a gap at the
	// end of the pattern stops before.
	filled, m := s.cover.filled, s.cover.match
	left := strings.Trim(filled[:m.Start]+filled[m.End:], " \t\n.\"'")
	if left != "" {
		report("messagePattern", "leaves out %q of errorMessage", shorten(left, 60))
	}
}

func checkPatternAnchored(s *subject, report reporter) {
	if s.pattern == nil {
		return
	}
	for _, example := range s.record.Examples.Match {
		if _, ok := s.pattern.Match([]byte(example)); !ok {
			continue
		}
		if _, ok := s.pattern.Match([]byte("12:00:00 ERROR app: " + example + " (worker 3)")); !ok {
			report("messagePattern", "finds its example only when it stands alone")
			return
		}
	}
}

func checkPatternWeak(s *subject, report reporter) {
	if s.pattern != nil && s.pattern.Weak() {
		report("messagePattern", "has too little text of its own: %q", s.pattern.Literals())
	}
}

func checkPatternSlow(s *subject, report reporter) {
	if s.pattern != nil && !s.pattern.Reduced() {
		report("messagePattern", "cannot be turned into literals and gaps")
	}
}

func captureNames(r *kb.Record) []string {
	names := make([]string, len(r.Captures))
	for i, c := range r.Captures {
		names[i] = c.Name
	}
	return names
}

func checkCaptures(s *subject, report reporter) {
	r := s.record
	if r.ErrorMessage == "" || s.hasBad("errorMessage") {
		return
	}
	names := captureNames(r)
	if s.pattern != nil {
		groups := s.pattern.Names()
		if len(groups) > 0 && !slices.Equal(groups, names) {
			report("captures", "are %q, and the groups of messagePattern are %q", names, groups)
			return
		}
		// Braces or a percent sign may be meant as they stand.
		if len(names) == 0 && len(groups) == 0 && literally(s.pattern, r.ErrorMessage) {
			return
		}
	}
	all := kb.Placeholders(r.ErrorMessage)
	distinct := len(slices.Compact(slices.Sorted(slices.Values(all))))
	if len(names) < distinct || len(names) > len(all) {
		report("captures", "has %d, and errorMessage has %d placeholders", len(names), len(all))
	}
}

// literally reports whether the pattern is text that stands in the message as
// it is, so that nothing in it is a placeholder.
func literally(p *pattern.Pattern, message string) bool {
	m, ok := p.Match([]byte(message))
	return ok && p.LiteralLen() >= m.End-m.Start
}

func checkCaptureUnnamed(s *subject, report reporter) {
	if s.pattern != nil && len(s.pattern.Names()) == 0 && len(s.record.Captures) > 0 {
		report("messagePattern", "has no named group for %q", captureNames(s.record))
	}
}

func checkCaptureText(s *subject, report reporter) {
	for i, c := range s.record.Captures {
		if strings.TrimSpace(c.Description) == "" {
			report(element("captures", i)+".description", "is empty")
		}
		if c.Example == "" {
			report(element("captures", i)+".example", "is empty")
		}
	}
}

func checkCaptureExample(s *subject, report reporter) {
	if s.pattern == nil || len(s.pattern.Names()) == 0 || len(s.record.Examples.Match) == 0 {
		return
	}
	seen := map[string][]string{}
	for _, example := range s.record.Examples.Match {
		if m, ok := s.pattern.Match([]byte(example)); ok {
			for _, c := range m.Captures {
				seen[c.Name] = append(seen[c.Name], example[c.Start:c.End])
			}
		}
	}
	for i, c := range s.record.Captures {
		if c.Example != "" && !slices.Contains(seen[c.Name], c.Example) {
			report(element("captures", i)+".example", "%q is in no example; the pattern takes %q", c.Example, seen[c.Name])
		}
	}
}

func checkExampleMissing(s *subject, report reporter) {
	if len(s.record.Examples.Match) == 0 {
		report("examples.match", "is empty")
	}
}

func checkNearMissMissing(s *subject, report reporter) {
	if len(s.record.Examples.NoMatch) == 0 {
		report("examples.noMatch", "is empty")
	}
}
