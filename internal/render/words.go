package render

import (
	"slices"
	"strings"
	"unicode/utf8"

	"errorkb/internal/kb"
)

// The words that pages use for the enumerations of a record. A value that is
// not listed is shown as it is, without an explanation.

var severities = []string{string(kb.SeverityFatal), string(kb.SeverityError), string(kb.SeverityWarning), string(kb.SeverityInfo)}

var statusWords = map[kb.Status][2]string{
	kb.StatusDeprecated: {"On its way out", "The project has announced that this error will go."},
	kb.StatusRemoved:    {"No longer raised", "Newer versions of the project do not have this error."},
	kb.StatusWithdrawn:  {"Withdrawn", "This record was wrong. It stays so that links to it keep working."},
}

var reviewWords = map[kb.Review][2]string{
	kb.ReviewGenerated:  {"Not reviewed", "This text was generated from the source code; nobody has confirmed it yet."},
	kb.ReviewUnreviewed: {"Not reviewed", "This text was written by one author and awaits a second reader."},
}

var reviewNames = map[kb.Review]string{
	kb.ReviewGenerated:  "Generated, not reviewed",
	kb.ReviewUnreviewed: "Not reviewed",
	kb.ReviewReviewed:   "Reviewed",
}

var roleWords = map[kb.Role]string{
	kb.RoleCause:   "this is what went wrong; there is nothing behind it",
	kb.RoleSymptom: "something before it went wrong; look at what was reported earlier",
	kb.RoleWrapper: "it only passes another error on; the cause stands inside it",
}

var retryWords = map[kb.Retry]string{
	kb.RetryNever:    "doing it again gives the same error",
	kb.RetrySafe:     "doing it again is safe and can help",
	kb.RetryAfterFix: "do it again once the cause is mended",
}

var strategyNames = map[string]string{
	"validation": "Validate first",
	"type-guard": "Guard by type",
	"try-catch":  "Catch and handle",
	"retry":      "Retry",
	"fallback":   "Fall back",
	"fail-fast":  "Fail fast",
}

var strategyNotes = map[string]string{
	"validation": "Check the condition before the call; the error then never arises.",
	"type-guard": "Let the type system rule the wrong value out.",
	"try-catch":  "The condition cannot be known beforehand: try, and handle this one error.",
	"retry":      "The cause passes by itself: try again, with a growing pause and a limit.",
	"fallback":   "Have another way ready and take it.",
	"fail-fast":  "Nothing sensible can follow: stop at once and say why.",
}

// known gives the value when it is one of the list, else the first of it: the
// name of a style class never comes from a record.
func known(value string, list []string) string {
	if slices.Contains(list, value) {
		return value
	}
	return "other"
}

// words turns a kebab-case name into words.
func words(name string) string { return strings.ReplaceAll(visible(name), "-", " ") }

// sentence closes a phrase as prose does.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" || strings.ContainsAny(text[len(text)-1:], ".!?…") {
		return text
	}
	return text + "."
}

// cutBytes cuts text between characters so that at most max bytes stay, marked
// by an ellipsis.
func cutBytes(text string, max int) string {
	if len(text) <= max {
		return text
	}
	for max > 0 && !utf8.RuneStart(text[max]) {
		max--
	}
	return text[:max] + "…"
}
