package render

import (
	"regexp"
	"strings"

	"errorkb/internal/kb"
)

// FixPart is a piece of the example fix.
type FixPart struct {
	Kind  string // "before", "after" or ""
	Label string
	Note  string // what stands behind the mark
	Code  Code
	Copy  string
}

// DefenceView is how calling code can deal with the error.
type DefenceView struct {
	Strategy, StrategyNote string
	Snippets               []Snippet
	Tips                   []Prose
}

// Snippet is defensive code.
type Snippet struct {
	ID, Title, Note string
	Warning         string
	Code            Code
	Copy            string
}

// fixMark finds the comments that divide an example fix.
var fixMark = regexp.MustCompile(`(?i)^\s*(?://|#|--|/\*)\s*(before|after)\b[\s:.,–-]*(.*?)\s*(?:\*/)?\s*$`)

// fixParts divides the example fix into what is wrong and what is right.
func fixParts(r *kb.Record) []FixPart {
	if strings.TrimSpace(r.ExampleFix) == "" {
		return nil
	}
	var parts []FixPart
	var code []string
	current := FixPart{Label: "Example"}
	flush := func() {
		text := strings.Trim(strings.Join(code, "\n"), "\n")
		if strings.TrimSpace(text) != "" {
			current.Code, current.Copy = newCode(text, languageOf(r.FilePath)), holdable(text)
			parts = append(parts, current)
		}
		code = nil
	}
	for line := range strings.SplitSeq(strings.ReplaceAll(r.ExampleFix, "\r\n", "\n"), "\n") {
		mark := fixMark.FindStringSubmatch(line)
		if mark == nil {
			code = append(code, line)
			continue
		}
		flush()
		current = FixPart{Kind: strings.ToLower(mark[1]), Note: visible(strings.Trim(mark[2], "()"))}
		current.Label = map[string]string{"before": "Before: this raises the error", "after": "After: this works"}[current.Kind]
	}
	flush()
	return parts
}

// textTest finds code that tells errors apart by their message.
var textTest = regexp.MustCompile(`(?i)\bmessage\b\)*\s*\??(?:[!=]==?|\.\s*(?:includes|startsWith|endsWith|match|search|indexOf|test)\s*\()` +
	`|\.(?:test|exec)\([^)\n]*\bmessage\b|\.Error\(\)\s*[!=]=|strings\.\w+\([^)\n]*\.Error\(\)|\bin str\(`)

func defenceView(r *kb.Record) *DefenceView {
	v := &DefenceView{Strategy: strategyNames[r.HandlingStrategy], StrategyNote: strategyNotes[r.HandlingStrategy]}
	language := languageOf(r.FilePath)
	for _, s := range []struct {
		id, title, note string
		code            *string
	}{
		{"validate", "Validate before calling", "Ask first: the call is not made when it cannot work.", r.ValidationCode},
		{"type-guard", "Type guard", "Tells at compile time and at run time what the value can do.", r.TypeGuard},
		{"try-catch", "Catch it", "Where the call has to be tried, handle this error and let all others pass.", r.TryCatchPattern},
	} {
		if s.code == nil || strings.TrimSpace(*s.code) == "" {
			continue
		}
		snippet := Snippet{ID: s.id, Title: s.title, Note: s.note, Code: newCode(*s.code, language), Copy: holdable(*s.code)}
		if s.id == "try-catch" && textTest.MatchString(*s.code) {
			snippet.Warning = "This code tells the error by its message text. It stops working, without a sound, when the wording changes"
			if r.ErrorCode != nil {
				snippet.Warning += ": prefer the code " + visible(*r.ErrorCode) + " where the caller can see it."
			} else {
				snippet.Warning += ". The error carries no code; keep the test in one place and cover it by a test of your own."
			}
		}
		v.Snippets = append(v.Snippets, snippet)
	}
	for _, tip := range r.PreventionTips {
		v.Tips = append(v.Tips, inlineProse(tip))
	}
	if len(v.Snippets) == 0 && len(v.Tips) == 0 && v.Strategy == "" {
		return nil
	}
	return v
}
