package search

import (
	"regexp"
	"strings"
)

var (
	fence  = regexp.MustCompile("(?m)^\\s*(```|~~~).*$")
	lead   = regexp.MustCompile(`(?m)^[ \t]*(#{1,6}|>|[-*+]|\d+[.)])[ \t]+`)
	link   = regexp.MustCompile(`!?\[([^\]\n]*)\]\([^()\n]*\)`)
	rule   = regexp.MustCompile(`(?m)^[ \t]*\|[ \t]*:?-[-:| \t]*$`)
	row    = regexp.MustCompile(`(?m)^[ \t]*\|(.*?)\|?[ \t]*$`)
	strong = regexp.MustCompile(`\*{1,3}([^*\s](?:[^*\n]*[^*\s])?)\*{1,3}`)
)

// plainText takes the marks off Markdown and puts it on one line: good enough
// for excerpts, which show words and no structure.
func plainText(markdown string) string {
	text := lead.ReplaceAllString(markdown, "")
	if strings.Contains(text, "```") || strings.Contains(text, "~~~") {
		text = fence.ReplaceAllString(text, "")
	}
	if strings.Contains(text, "|") {
		text = rule.ReplaceAllString(text, "")
		text = row.ReplaceAllStringFunc(text, func(cells string) string {
			return strings.ReplaceAll(strings.TrimSpace(row.ReplaceAllString(cells, "$1")), "|", "·") + ";"
		})
	}
	if strings.Contains(text, "](") {
		text = link.ReplaceAllString(text, "$1")
	}
	if strings.Contains(text, "*") {
		text = strong.ReplaceAllString(text, "$1")
	}
	text = strings.ReplaceAll(text, "`", "")
	return strings.Join(strings.Fields(text), " ")
}

func plainTexts(markdown []string) []string {
	var out []string
	for _, m := range markdown {
		if text := plainText(m); text != "" {
			out = append(out, text)
		}
	}
	return out
}
