package render

import (
	"bytes"
	"html"
	"regexp"
	"strconv"
	"strings"

	"errorkb/internal/diagnose"
	"errorkb/internal/kb"
)

// MessagePart is a piece of a message: literal text, or a placeholder that is
// explained below it.
type MessagePart struct {
	Text    string
	Capture int // from 1; 0 for literal text
}

// CaptureView explains one placeholder.
type CaptureView struct {
	Number      int // from 1, the same as in the message
	Placeholder string
	Name        string
	Description Prose
	Example     string
}

// markPlaceholders cuts a message at its placeholders. The captures of a record
// stand in the order of the placeholders; a placeholder without a capture stays
// literal text, for there is nothing to explain it with.
func markPlaceholders(message string, captures []kb.Capture) ([]MessagePart, []CaptureView) {
	var parts []MessagePart
	views := make([]CaptureView, len(captures))
	for i, c := range captures {
		views[i] = CaptureView{i + 1, "", visible(c.Name), inlineProse(c.Description), visible(c.Example)}
	}
	rest := message
	for i, placeholder := range kb.Placeholders(message) {
		if i == len(captures) {
			break
		}
		head, tail, found := strings.Cut(rest, placeholder)
		if !found {
			break
		}
		if head != "" {
			parts = append(parts, MessagePart{Text: visible(head)})
		}
		parts = append(parts, MessagePart{visible(placeholder), i + 1})
		views[i].Placeholder = visible(placeholder)
		rest = tail
	}
	if rest != "" {
		parts = append(parts, MessagePart{Text: visible(rest)})
	}
	return parts, views
}

// messageHTML spells a message out without a space that is not in it.
func messageHTML(parts []MessagePart) Prose {
	var b strings.Builder
	for _, p := range parts {
		text := html.EscapeString(p.Text)
		if p.Capture > 0 {
			text = `<strong class="cap ` + capClass(p.Capture) + `">` + text + `</strong>`
		}
		b.WriteString(text)
	}
	return Prose(b.String())
}

// capClass is the colour of a capture; the colours repeat after the last.
func capClass(number int) string { return "cap" + strconv.Itoa((number-1)%5+1) }

// examplesShown is the number of examples on a page.
const examplesShown = 3

// seen shows the examples that tell more than the message itself does, with the
// message and its values marked where the portable pattern finds them as they
// stand. An example that has to be read first, such as one with escapes, stays
// unmarked.
func seen(r *kb.Record) []Prose {
	pattern, numbers := compiled(r.MessagePattern), captureNumbers(r)
	var list []Prose
	for _, example := range r.Examples.Match {
		if example == r.ErrorMessage || len(list) == examplesShown {
			continue
		}
		text := []byte(example)
		list = append(list, excerptAround(text, findMessage(pattern, text), numbers, exampleLines).HTML())
	}
	return list
}

// compiled is nil for a pattern that does not compile: the linter reports it;
// the page is for readers.
func compiled(pattern string) *regexp.Regexp {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil
	}
	return re
}

// captureNumbers gives each capture the number that it has in the message.
func captureNumbers(r *kb.Record) map[string]int {
	numbers := map[string]int{}
	for i, c := range r.Captures {
		numbers[c.Name] = i + 1
	}
	return numbers
}

// findMessage is the evidence of a pattern in a text, the zero one when it is not
// there.
func findMessage(pattern *regexp.Regexp, text []byte) diagnose.Evidence {
	if pattern == nil || len(text) > maxHighlight {
		return diagnose.Evidence{}
	}
	at := pattern.FindSubmatchIndex(text)
	if at == nil {
		return diagnose.Evidence{}
	}
	e := diagnose.Evidence{Start: at[0], End: at[1], Line: 1 + bytes.Count(text[:at[0]], []byte("\n"))}
	for i, name := range pattern.SubexpNames() {
		if name != "" && at[2*i] >= 0 {
			e.Captures = append(e.Captures, diagnose.CaptureSpan{Name: name, Start: at[2*i], End: at[2*i+1]})
		}
	}
	return e
}
