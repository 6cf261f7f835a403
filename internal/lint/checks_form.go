package lint

import (
	"bytes"
	"slices"
	"strings"
	"time"
	"unicode"

	"errorkb/internal/kb"
)

// formChecks look at how a record is written down.
var formChecks = []*aCheck{
	{CheckInfo: CheckInfo{Code: "path", Name: "file at another place", Severity: kb.FindingWarning,
		Description: "A record lies at <owner>/<name>/<slug>.json below the records folder, so that it is found by its address.",
		Advice:      "move the file"}, record: checkPath},
	{CheckInfo: CheckInfo{Code: "version-2", Name: "older version", Severity: kb.FindingWarning,
		Description: "Version 2 is read, version 3 is written; only version 3 can hold all that the other checks ask for.",
		Advice:      "run kb lint --fix"}, record: checkVersion},
	{CheckInfo: CheckInfo{Code: "canonical", Name: "not in canonical form", Severity: kb.FindingWarning,
		Description: "Canonical form (two-space indent, keys in schema order, all fields present, final newline) keeps differences between commits small.",
		Advice:      "run kb lint --fix"}, record: checkCanonical},
	{CheckInfo: CheckInfo{Code: "control-character", Name: "control character", Severity: kb.FindingError,
		Description: "Texts hold no control characters but line breaks and tabs, and no characters that reorder or hide text, as they deceive readers.",
		Advice:      "remove it; an example shows the text as people see it"}, record: checkControl},
	{CheckInfo: CheckInfo{Code: "white-space", Name: "white space at an end", Severity: kb.FindingWarning,
		Description: "Prose and code of a record do not start or end with white space. Two spaces before a line break inside Markdown mean a break and may stay.",
		Advice:      "run kb lint --fix"}, record: checkWhiteSpace},
	{CheckInfo: CheckInfo{Code: "tag-order", Name: "tags not sorted", Severity: kb.FindingWarning,
		Description: "Tags are sorted and each stands once, so that differences between commits show what changed.",
		Advice:      "run kb lint --fix"}, record: checkTagOrder},
	{CheckInfo: CheckInfo{Code: "tag-odd", Name: "odd tag", Severity: kb.FindingWarning,
		Description: "A record has two to eight tags that say something about this error: not the severity, not the words error or bug, not the repository's name.",
		Advice:      "choose words by which people would group this error with others"}, record: checkTagOdd},
	{CheckInfo: CheckInfo{Code: "repeated-item", Name: "item stands twice", Severity: kb.FindingWarning,
		Description: "Lists hold each item once.",
		Advice:      "remove one of them"}, record: checkRepeated},
	{CheckInfo: CheckInfo{Code: "dates", Name: "dates out of order", Severity: kb.FindingError,
		Description: "firstPublishedAt is not after contentChangedAt.",
		Advice:      "set contentChangedAt to the time of the last change; firstPublishedAt never changes"}, record: checkDates},
	{CheckInfo: CheckInfo{Code: "dates-analyzed", Name: "analysis newer than content", Severity: kb.FindingWarning,
		Description: "analyzedAt is not after contentChangedAt: a new analysis changes the record, and those who copy records look for newer contentChangedAt only.",
		Advice:      "set contentChangedAt to the time of the analysis or later"}, record: checkDatesAnalyzed},
	{CheckInfo: CheckInfo{Code: "dates-utc", Name: "time not in UTC", Severity: kb.FindingWarning,
		Description: "Times are written in UTC, ending in Z, so that they sort as texts.",
		Advice:      "write it in UTC"}, record: checkDatesUTC},
}

func checkPath(s *subject, report reporter) {
	want, err := kb.Path(s.record)
	if err == nil && s.source.Path != want {
		report("", "the file should be %s", want)
	}
	if err != nil && kb.CheckRepo(s.record.Repo) != nil {
		report("repo", "%v", err)
	}
}

func checkVersion(s *subject, report reporter) {
	if s.source.Version < kb.SchemaVersion {
		report("schemaVersion", "is %d, want %d", s.source.Version, kb.SchemaVersion)
	}
}

func checkCanonical(s *subject, report reporter) {
	if s.source.Version != kb.SchemaVersion || len(s.bad) > 0 {
		return
	}
	want := s.record.Canonical()
	if bytes.Equal(s.source.Data, want) {
		return
	}
	same := 0
	for same < len(want) && same < len(s.source.Data) && want[same] == s.source.Data[same] {
		same++
	}
	report("", "the file is not in canonical form from line %d on", 1+bytes.Count(want[:same], []byte("\n")))
}

// text is one string of a record and the name of its field.
type text struct{ field, value string }

// texts lists every string of a record that people write freely.
func texts(r *kb.Record) []text {
	list := []text{
		{"errorMessage", r.ErrorMessage}, {"messagePattern", r.MessagePattern},
		{"filePath", r.FilePath},
		{"documentation", r.Documentation}, {"triggerScenarios", r.TriggerScenarios},
		{"commonSituations", r.CommonSituations}, {"exampleFix", r.ExampleFix},
	}
	for _, o := range []struct {
		field string
		value *string
	}{
		{"statusReason", r.StatusReason}, {"errorCode", r.ErrorCode}, {"errorClass", r.ErrorClass},
		{"symbol", r.Symbol}, {"sourceCode", r.SourceCode}, {"githubUrl", r.GithubURL},
		{"validationCode", r.ValidationCode}, {"typeGuard", r.TypeGuard}, {"tryCatchPattern", r.TryCatchPattern},
	} {
		if o.value != nil {
			list = append(list, text{o.field, *o.value})
		}
	}
	for _, l := range lists(r) {
		for i, v := range l.values {
			list = append(list, text{element(l.field, i), v})
		}
	}
	for i, c := range r.Captures {
		list = append(list, text{element("captures", i) + ".description", c.Description},
			text{element("captures", i) + ".example", c.Example})
	}
	for i, h := range r.MessageHistory {
		list = append(list, text{element("messageHistory", i) + ".errorMessage", h.ErrorMessage},
			text{element("messageHistory", i) + ".messagePattern", h.MessagePattern},
			text{element("messageHistory", i) + ".until", h.Until})
	}
	return list
}

type list struct {
	field  string
	values []string
}

func lists(r *kb.Record) []list {
	return []list{
		{"aliases", r.Aliases}, {"solutions", r.Solutions}, {"preventionTips", r.PreventionTips},
		{"related", r.Related}, {"examples.match", r.Examples.Match}, {"examples.noMatch", r.Examples.NoMatch},
	}
}

func checkControl(s *subject, report reporter) {
	for _, t := range texts(s.record) {
		for _, c := range t.value {
			if c == '\n' || c == '\t' {
				continue
			}
			if unicode.IsControl(c) || hidesText(c) {
				report(t.field, "holds %U", c)
				break
			}
		}
	}
}

// hidesText reports bidirectional controls, which reorder what is shown, and
// the characters that some programs take for line breaks or tags.
func hidesText(c rune) bool {
	return c >= 0x202a && c <= 0x202e || c >= 0x2066 && c <= 0x2069 ||
		c == 0x2028 || c == 0x2029 || c == 0xfeff || c >= 0xe0000 && c <= 0xe007f
}

func checkWhiteSpace(s *subject, report reporter) {
	for _, t := range trimmable(s.record) {
		if strings.TrimSpace(*t.value) != "" && *t.value != t.trim(*t.value) {
			report(t.field, "has white space at an end of the text or of a line")
		}
	}
}

func checkTagOrder(s *subject, report reporter) {
	tags := s.record.Tags
	for i := 1; i < len(tags); i++ {
		if tags[i] < tags[i-1] {
			report("tags", "are not sorted: %q stands after %q", tags[i], tags[i-1])
			break
		}
	}
	sorted := slices.Sorted(slices.Values(tags))
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			report("tags", "%q stands twice", sorted[i])
			break
		}
	}
}

// vagueTags fit any record and group nothing.
var vagueTags = map[string]bool{
	"error": true, "errors": true, "bug": true, "exception": true, "issue": true, "problem": true, "misc": true,
	"other": true, "general": true, "fatal": true, "warning": true, "info": true, "todo": true, "failure": true,
}

func checkTagOdd(s *subject, report reporter) {
	r := s.record
	_, name, _ := strings.Cut(strings.ToLower(r.Repo), "/")
	for i, tag := range r.Tags {
		field := element("tags", i)
		switch {
		case vagueTags[tag]:
			report(field, "%q fits any error", tag)
		case tag == name:
			report(field, "%q is the repository's name, which every record of it shares", tag)
		case strings.Trim(tag, "0123456789-") == "":
			report(field, "%q is no word", tag)
		}
	}
	if len(r.Tags) < 2 {
		report("tags", "has %d, want two to eight", len(r.Tags))
	} else if len(r.Tags) > 8 {
		report("tags", "has %d, want two to eight", len(r.Tags))
	}
}

func checkRepeated(s *subject, report reporter) {
	for _, l := range lists(s.record) {
		seen := map[string]int{}
		for i, v := range l.values {
			v = strings.TrimSpace(v)
			if first, ok := seen[v]; ok && v != "" {
				report(element(l.field, i), "is the same as %s[%d]", l.field, first)
				continue
			}
			seen[v] = i
		}
	}
}

// times parses firstPublishedAt and contentChangedAt or another pair; a time
// that does not parse is a finding of the schema.
func times(a, b string) (ta, tb time.Time, ok bool) {
	ta, errA := time.Parse(time.RFC3339Nano, a)
	tb, errB := time.Parse(time.RFC3339Nano, b)
	return ta, tb, errA == nil && errB == nil
}

func checkDates(s *subject, report reporter) {
	first, changed, ok := times(s.record.FirstPublishedAt, s.record.ContentChangedAt)
	if ok && first.After(changed) {
		report("firstPublishedAt", "%s is after contentChangedAt %s", s.record.FirstPublishedAt, s.record.ContentChangedAt)
	}
}

func checkDatesAnalyzed(s *subject, report reporter) {
	analyzed, changed, ok := times(s.record.AnalyzedAt, s.record.ContentChangedAt)
	if ok && analyzed.After(changed) {
		report("analyzedAt", "%s is after contentChangedAt %s", s.record.AnalyzedAt, s.record.ContentChangedAt)
	}
}

func checkDatesUTC(s *subject, report reporter) {
	for _, t := range []text{
		{"analyzedAt", s.record.AnalyzedAt}, {"firstPublishedAt", s.record.FirstPublishedAt},
		{"contentChangedAt", s.record.ContentChangedAt},
	} {
		if _, err := time.Parse(time.RFC3339Nano, t.value); err == nil && !strings.HasSuffix(t.value, "Z") {
			report(t.field, "%s is not in UTC", t.value)
		}
	}
}
