package lint

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"errorkb/internal/kb"
)

// textChecks look at what a record tells its readers.
var textChecks = []*aCheck{
	{CheckInfo: CheckInfo{Code: "section-empty", Name: "section is empty", Severity: kb.FindingWarning, Strict: true,
		Description: "Meaning, trigger, situations, solutions, example fix and prevention are there, and no item of a list is empty.",
		Advice:      "write it; a reader who lands here has nothing else"}, record: checkEmpty},
	{CheckInfo: CheckInfo{Code: "section-filler", Name: "sentence that fits any error", Severity: kb.FindingWarning, Strict: true,
		Description: "Sentences such as \"Check the logs.\" or \"This error occurs when something goes wrong.\" are true of every error and help with none; so does a section that repeats the message or another section.",
		Advice:      "say what is particular to this error: which value, which setting, which call"}, record: checkFiller},
	{CheckInfo: CheckInfo{Code: "raw-html", Name: "raw HTML in Markdown", Severity: kb.FindingWarning, Strict: true,
		Description: "Tags in Markdown are not shown; most often a type such as Map<string> was meant.",
		Advice:      "put it in backticks"}, record: checkHTML},
	{CheckInfo: CheckInfo{Code: "example-fix", Name: "example fix without before and after", Severity: kb.FindingWarning, Strict: true,
		Description: "exampleFix shows the failing code under the comment // before and the mended code under // after; the two differ. A note may follow in brackets.",
		Advice:      "write // before, the failing code, // after, the mended code"}, record: checkExampleFix},
	{CheckInfo: CheckInfo{Code: "strategy-code", Name: "strategy without its code", Severity: kb.FindingWarning,
		Description: "handlingStrategy validation, type-guard and try-catch come with validationCode, typeGuard and tryCatchPattern.",
		Advice:      "add the code or name another strategy"}, record: checkStrategy},
	{CheckInfo: CheckInfo{Code: "try-catch-text", Name: "code tests another text", Severity: kb.FindingWarning, Strict: true,
		Description: "Code that tests the text of the message, in tryCatchPattern, typeGuard, validationCode or the mended half of exampleFix, would catch the record's own examples.match.",
		Advice:      "copy the tested words from the message; better, test a code or class"}, record: checkTexts},
	{CheckInfo: CheckInfo{Code: "secret", Name: "looks like a secret", Severity: kb.FindingWarning, Strict: true,
		Description: "Texts and examples come from real logs; keys and tokens in them would be published.",
		Advice:      "replace it by an invented value, and revoke it if it was real"}, record: checkSecret},
}

func checkEmpty(s *subject, report reporter) {
	r := s.record
	for _, t := range []text{
		{"documentation", r.Documentation}, {"triggerScenarios", r.TriggerScenarios},
		{"commonSituations", r.CommonSituations}, {"exampleFix", r.ExampleFix},
	} {
		if strings.TrimSpace(t.value) == "" {
			report(t.field, "is empty")
		}
	}
	for _, l := range []list{{"solutions", r.Solutions}, {"preventionTips", r.PreventionTips}} {
		if len(l.values) == 0 {
			report(l.field, "is empty")
		}
		for i, v := range l.values {
			if strings.TrimSpace(v) == "" {
				report(element(l.field, i), "is empty")
			}
		}
	}
}

func checkFiller(s *subject, report reporter) {
	seen := map[string]string{plainWords(s.record.ErrorMessage): "errorMessage"}
	for _, sec := range s.prose {
		for _, sentence := range kb.Sentences(sec.text) {
			if isFiller(sentence) {
				report(sec.field, "%q would fit any error", shorten(sentence, 80))
				break
			}
		}
		words := plainWords(sec.text)
		if words == "" {
			continue
		}
		if first, ok := seen[words]; ok {
			// Equal items of one list are the check repeated-item.
			if list, _, _ := strings.Cut(first, "["); !strings.HasPrefix(sec.field, list+"[") {
				report(sec.field, "says no more than %s", first)
			}
			continue
		}
		seen[words] = sec.field
	}
}

// plainWords is a text without case, marks and spacing.
func plainWords(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), " ")
}

func checkHTML(s *subject, report reporter) {
	for _, sec := range s.prose {
		bare := autoLink.ReplaceAllString(sec.bare, "")
		if tag := rawHTML.FindString(bare); tag != "" {
			report(sec.field, "holds the tag %s, which is not shown", shorten(tag, 40))
		}
	}
}

func checkExampleFix(s *subject, report reporter) {
	code := s.record.ExampleFix
	if strings.TrimSpace(code) == "" {
		return
	}
	fix, ok := kb.SplitFix(code)
	failing, mended := strings.TrimSpace(fix.Before), strings.TrimSpace(fix.After)
	switch {
	case !ok:
		report("exampleFix", "has no comments before and after, in this order")
	case failing == "":
		report("exampleFix", "shows no code before the fix")
	case mended == "":
		report("exampleFix", "shows no code after the fix")
	case failing == mended:
		report("exampleFix", "shows the same code before and after")
	}
}

func checkStrategy(s *subject, report reporter) {
	r := s.record
	for _, c := range []struct {
		strategy, field string
		code            *string
	}{
		{"validation", "validationCode", r.ValidationCode},
		{"type-guard", "typeGuard", r.TypeGuard},
		{"try-catch", "tryCatchPattern", r.TryCatchPattern},
	} {
		if r.HandlingStrategy == c.strategy && blank(c.code) {
			report(c.field, "is missing, and handlingStrategy is %s", c.strategy)
		}
	}
}

// secrets are forms of keys and tokens that are given out by well-known
// services; each is long enough not to occur by chance.
var secrets = regexp.MustCompile(`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bgh[pousr]_[A-Za-z0-9]{36}|\bgithub_pat_[A-Za-z0-9_]{60,}|\bxox[abprs]-[A-Za-z0-9-]{20,}|\bsk_live_[A-Za-z0-9]{20,}|\bnpm_[A-Za-z0-9]{36}\b|\bglpat-[A-Za-z0-9_-]{20}|-----BEGIN [A-Z ]*PRIVATE KEY-----|\beyJ[A-Za-z0-9_-]{15,}\.eyJ[A-Za-z0-9_-]{15,}\.[A-Za-z0-9_-]{15,}`)

// secretMarks are parts of the forms above; a text without any of them needs no
// closer look.
var secretMarks = []string{"AKIA", "ASIA", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "xox", "sk_live_", "npm_", "glpat-", "PRIVATE KEY", "eyJ"}

func checkSecret(s *subject, report reporter) {
	for _, t := range texts(s.record) {
		if !slices.ContainsFunc(secretMarks, func(mark string) bool { return strings.Contains(t.value, mark) }) {
			continue
		}
		if found := secrets.FindString(t.value); found != "" {
			report(t.field, "holds %s, which has the form of a key", strings.ToValidUTF8(found[:8], "")+"…")
		}
	}
}
