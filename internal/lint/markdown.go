package lint

import (
	"regexp"
	"strings"

	"errorkb/internal/kb"
)

// section is one piece of Markdown of a record.
type section struct {
	field string
	text  string
	bare  string // text with its code blanked out, offsets kept
}

// sectionsOf lists the Markdown of a record.
func sectionsOf(r *kb.Record) []section {
	all := []section{
		{field: "documentation", text: r.Documentation},
		{field: "triggerScenarios", text: r.TriggerScenarios},
		{field: "commonSituations", text: r.CommonSituations},
	}
	if r.StatusReason != nil {
		all = append(all, section{field: "statusReason", text: *r.StatusReason})
	}
	for i, s := range r.Solutions {
		all = append(all, section{field: element("solutions", i), text: s})
	}
	for i, s := range r.PreventionTips {
		all = append(all, section{field: element("preventionTips", i), text: s})
	}
	for i := range all {
		all[i].bare = blankCode(all[i].text)
	}
	return all
}

var (
	fenceOpen = regexp.MustCompile("^ {0,3}(`{3,}|~{3,})")
	codeTicks = regexp.MustCompile("`+")
)

// blankCode replaces code blocks, code spans and escaped characters by spaces,
// so that what is left is prose.
func blankCode(markdown string) string {
	out := []byte(markdown)
	blank := func(from, to int) {
		for i := from; i < to; i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
	fence, offset := "", 0
	for line := range strings.Lines(markdown) {
		start := offset
		offset += len(line)
		open := fenceOpen.FindStringSubmatch(line)
		switch {
		case fence != "":
			blank(start, offset)
			if open != nil && strings.HasPrefix(open[1], fence) {
				fence = ""
			}
		case open != nil:
			fence = open[1]
			blank(start, offset)
		}
	}
	for i := 0; i+1 < len(out); i++ {
		if out[i] == '\\' && strings.IndexByte("<>`[]()*_\\", out[i+1]) >= 0 {
			blank(i, i+2)
		}
	}
	// A code span ends at as many backticks as it starts with, within its
	// paragraph.
	offset = 0
	for _, paragraph := range strings.SplitAfter(string(out), "\n\n") {
		runs := codeTicks.FindAllStringIndex(paragraph, -1)
		for i := 0; i < len(runs); i++ {
			for j := i + 1; j < len(runs); j++ {
				if runs[j][1]-runs[j][0] == runs[i][1]-runs[i][0] {
					blank(offset+runs[i][0], offset+runs[j][1])
					i = j
					break
				}
			}
		}
		offset += len(paragraph)
	}
	return string(out)
}

// rawHTML is what Markdown takes for HTML: a whole tag, comment, declaration or
// instruction.
var rawHTML = regexp.MustCompile(`</?[A-Za-z][A-Za-z0-9-]*(?:\s[^<>]*)?/?>|<!--|<![A-Za-z]|<\?`)

var (
	inlineLink    = regexp.MustCompile(`\]\(\s*<?([^)\s>]*)`)
	referenceLink = regexp.MustCompile(`(?m)^ {0,3}\[[^\]]+\]:\s*<?([^\s>]+)`)
	autoLink      = regexp.MustCompile(`<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^<>\s]*)>`)
	bareLink      = regexp.MustCompile(`\bhttps?://[^\s<>"')\]]+`)
)

// links lists the addresses that a section points to.
func (s section) links() []string {
	var all []string
	seen := map[string]bool{}
	add := func(url string) {
		if url != "" && !seen[url] {
			seen[url] = true
			all = append(all, url)
		}
	}
	for _, re := range []*regexp.Regexp{inlineLink, referenceLink, autoLink} {
		for _, m := range re.FindAllStringSubmatch(s.bare, -1) {
			add(m[1])
		}
	}
	for _, m := range bareLink.FindAllString(s.bare, -1) {
		add(strings.TrimRight(m, ".,;:!?"))
	}
	return all
}
