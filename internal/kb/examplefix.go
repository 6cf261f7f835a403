package kb

import (
	"regexp"
	"strings"
)

// Fix is an example fix taken apart.
type Fix struct {
	Before, After         string // code, without the marking comments
	BeforeNote, AfterNote string // what stands behind the words before and after, such as "in the worker"
}

// fixMark is a comment that says before or after and at most adds a note in
// brackets or behind a colon or dash. A sentence that starts with After is none.
var fixMark = regexp.MustCompile(`(?im)^[ \t]*(?://|#|--|;|%|/\*|<!--|\(\*)[ \t]*(before|after)\b(?:[ \t]*[(:,–—-][ \t]*(.*?))?[).]*[ \t]*(?:\*/|-->|\*\))?[ \t]*$\n?`)

// SplitFix takes exampleFix apart at its comments "// before" and "// after",
// in that order. ok is false when one of them is missing.
func SplitFix(exampleFix string) (fix Fix, ok bool) {
	var before, after []int
	for _, m := range fixMark.FindAllStringSubmatchIndex(exampleFix, -1) {
		isBefore := strings.EqualFold(exampleFix[m[2]:m[3]], "before")
		switch {
		case isBefore && before == nil:
			before = m
		case !isBefore && before != nil && after == nil:
			after = m
		}
	}
	if after == nil {
		return Fix{}, false
	}
	note := func(m []int) string {
		if m[4] < 0 {
			return ""
		}
		return strings.TrimSpace(exampleFix[m[4]:m[5]])
	}
	return Fix{
		Before:     strings.Trim(exampleFix[before[1]:after[0]], "\n"),
		After:      strings.Trim(exampleFix[after[1]:], "\n"),
		BeforeNote: note(before),
		AfterNote:  note(after),
	}, true
}
