package lint

import (
	"regexp"
	"slices"
	"strings"

	"errorkb/internal/kb"
)

// trimmed is a text of a record whose outer white space means nothing, and how
// to take it off.
type trimmed struct {
	field string
	value *string
	trim  func(string) string
}

// trimmable lists the prose and code that was written for the record. Messages,
// patterns, examples and excerpts are copies of something else: white space in
// them may mean something.
func trimmable(r *kb.Record) []trimmed {
	list := []trimmed{
		{"documentation", &r.Documentation, trimMarkdown},
		{"triggerScenarios", &r.TriggerScenarios, trimMarkdown},
		{"commonSituations", &r.CommonSituations, trimMarkdown},
		{"exampleFix", &r.ExampleFix, trimCode},
	}
	for _, t := range []trimmed{
		{"statusReason", r.StatusReason, strings.TrimSpace},
		{"validationCode", r.ValidationCode, trimCode},
		{"typeGuard", r.TypeGuard, trimCode},
		{"tryCatchPattern", r.TryCatchPattern, trimCode},
	} {
		if t.value != nil {
			list = append(list, t)
		}
	}
	for _, l := range []struct {
		field  string
		values []string
	}{{"solutions", r.Solutions}, {"preventionTips", r.PreventionTips}} {
		for i := range l.values {
			list = append(list, trimmed{element(l.field, i), &l.values[i], trimMarkdown})
		}
	}
	for i := range r.Captures {
		list = append(list, trimmed{element("captures", i) + ".description", &r.Captures[i].Description, strings.TrimSpace})
	}
	return list
}

var lineEnd = regexp.MustCompile(`[ \t]+\n`)

// trimMarkdown takes white space off the ends of the text and of its lines, but
// leaves two spaces before a line break, which are a break.
func trimMarkdown(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = lineEnd.ReplaceAllStringFunc(s, func(end string) string {
		if strings.HasSuffix(end, "  \n") {
			return "  \n"
		}
		return "\n"
	})
	// An indented first line is code.
	return strings.TrimRight(strings.TrimLeft(s, "\n"), " \t\n")
}

// trimCode takes empty lines off the ends; what lines end in may stand in a
// string.
func trimCode(s string) string {
	return strings.TrimRight(strings.TrimLeft(strings.ReplaceAll(s, "\r\n", "\n"), "\n"), " \t\n")
}

// mend does to a record what is safe and gives the names of what it did.
func mend(r *kb.Record) []string {
	var done []string
	for _, t := range trimmable(r) {
		if mended := t.trim(*t.value); mended != *t.value {
			*t.value = mended
			done = append(done, "trimmed white space in "+t.field)
		}
	}
	if tags := slices.Compact(slices.Sorted(slices.Values(r.Tags))); !slices.Equal(tags, r.Tags) {
		r.Tags = tags
		done = append(done, "sorted tags")
	}
	return done
}
