package kb

import (
	"fmt"
	"regexp"
	"strings"
)

// upgrade gives a version 2 record what version 3 adds, where the file n does
// not already say it. No version 2 value is touched.
func upgrade(r *Record, n *node) {
	r.SchemaVersion = SchemaVersion
	set := func(key string) bool { return n.member(key) != nil }
	if !set("status") {
		r.Status = StatusActive
	}
	if !set("review") {
		r.Review = ReviewGenerated
	}
	if !set("role") {
		r.Role = RoleCause
	}
	if !set("retry") {
		r.Retry = RetryAfterFix
	}
	if !set("firstPublishedAt") {
		r.FirstPublishedAt = r.ContentChangedAt
	}
	placeholders := Placeholders(r.ErrorMessage)
	if !set("captures") {
		r.Captures = capturesOf(r.MessagePattern, placeholders)
	}
	// The template itself is not a text that people see; a message without
	// placeholders is.
	if !set("examples") && len(placeholders) == 0 && r.ErrorMessage != "" {
		r.Examples.Match = []string{r.ErrorMessage}
	}
}

// noNull makes lists that are missing empty ones, so that JSON shows [].
func (r *Record) noNull() {
	for _, list := range []*[]string{
		&r.Aliases, &r.Solutions, &r.PreventionTips, &r.Tags, &r.Related,
		&r.Examples.Match, &r.Examples.NoMatch,
	} {
		if *list == nil {
			*list = []string{}
		}
	}
	if r.Captures == nil {
		r.Captures = []Capture{}
	}
	if r.MessageHistory == nil {
		r.MessageHistory = []HistoricMessage{}
	}
}

// capturesOf names the placeholders: by the groups of the pattern when those
// are named, else by the placeholders themselves.
func capturesOf(pattern string, placeholders []string) []Capture {
	names := groupNames(pattern)
	if len(names) != len(placeholders) {
		names = nil
		taken := map[string]int{} // how often a name was given out
		for _, p := range placeholders {
			base := CaptureName(p)
			name := base
			for taken[name] > 0 {
				taken[base]++
				name = fmt.Sprint(base, taken[base])
			}
			taken[name]++
			names = append(names, name)
		}
	}
	captures := make([]Capture, len(names))
	for i, name := range names {
		captures[i].Name = name
	}
	return captures
}

// groupNames lists the named groups of an expression; nil when it does not
// compile.
func groupNames(expr string) []string {
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil
	}
	var names []string
	for _, name := range re.SubexpNames() {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

var (
	identifier = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
	literal    = regexp.MustCompile("\"[^\"]*\"|'[^']*'|`[^`]*`")
)

// CaptureName proposes a name for the value of a placeholder: the last
// identifier of ${driver.driver} is driver, of ${formatError(err)} err.
func CaptureName(placeholder string) string {
	inside := strings.Trim(placeholder, "${}%")
	// Separators and formats inside calls name nothing.
	all := identifier.FindAllString(literal.ReplaceAllString(inside, ""), -1)
	if !strings.HasPrefix(placeholder, "%") {
		for len(all) > 1 && callOnValue[all[len(all)-1]] {
			all = all[:len(all)-1]
		}
		if len(all) > 0 {
			return all[len(all)-1]
		}
	}
	return "value"
}

// callOnValue are methods that only shape the value before them.
var callOnValue = map[string]bool{
	"join": true, "toString": true, "trim": true, "toFixed": true, "slice": true,
	"toISOString": true, "stringify": true, "toLowerCase": true, "toUpperCase": true,
}
