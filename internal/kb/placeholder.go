package kb

import (
	"regexp"
	"strings"
)

// Placeholders lists the places of a message that are filled at run time, as
// they stand in it and in order: ${…} of template strings, else printf verbs,
// else {}, {0} and {name}. A message is written in one language, so only the
// first kind that occurs counts.
func Placeholders(message string) []string {
	if found := templateHoles(message); len(found) > 0 {
		return found
	}
	if strings.Contains(message, "%") {
		var found []string
		for _, m := range printfVerb.FindAllString(message, -1) {
			if m != "%%" {
				found = append(found, m)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return braceHole.FindAllString(message, -1)
}

var (
	printfVerb = regexp.MustCompile(`%%|%[-+#0]*[0-9]*(?:\.[0-9]+)?(?:hh|h|ll|l|z)?[sdiuvqwxXtTfgecp]\b`)
	braceHole  = regexp.MustCompile(`\{(?:[0-9]+|[A-Za-z_][A-Za-z0-9_.]*)?(?:![rsa])?(?::[^{}\s]*)?\}`)
)

// templateHoles finds ${…} with balanced braces inside.
func templateHoles(message string) []string {
	var found []string
	for i := 0; ; {
		start := strings.Index(message[i:], "${")
		if start < 0 {
			return found
		}
		start += i
		depth, end := 0, -1
		for j := start + 1; j < len(message) && end < 0; j++ {
			switch message[j] {
			case '{':
				depth++
			case '}':
				if depth--; depth == 0 {
					end = j + 1
				}
			}
		}
		if end < 0 {
			return found
		}
		found = append(found, message[start:end])
		i = end
	}
}
