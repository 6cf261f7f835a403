package render

import (
	"fmt"
	"html"
	"strconv"
	"strings"

	"errorkb/internal/kb"
)

// FlowView shows where in an operation a record's error is raised.
type FlowView struct {
	Title   string
	Intro   string
	Picture Prose
	Guards  []GuardView // all of the operation, in the order in which they are tried
}

// GuardView is one condition of an operation.
type GuardView struct {
	Number  int
	Here    bool // raises the error of the page
	Message string
	URL     string // of the record, "" for none
	Symbol  string
	Place   Link
}

// newFlowViews makes a view of each operation with a guard that raises the
// error of a record.
func newFlowViews(site Site, p *proofs, id string, names *namer) []FlowView {
	var flows []FlowView
	for _, operation := range p.Operations {
		guards := guardViews(site, p, operation, id, names)
		here := 0
		for _, g := range guards {
			if g.Here {
				here++
			}
		}
		if here == 0 {
			continue
		}
		v := FlowView{Title: visible(operation.Title), Guards: guards}
		v.Intro = fmt.Sprintf("%s. Each is tried in this order; the first one that does not hold ends the operation with its message.",
			plural(len(guards), "condition", "conditions"))
		v.Picture = flowPicture("flow-"+strconv.Itoa(len(flows)+1), v.Title, guards)
		flows = append(flows, v)
	}
	return flows
}

func guardViews(site Site, p *proofs, operation kb.Operation, id string, names *namer) []GuardView {
	views := make([]GuardView, len(operation.Guards))
	for i, g := range operation.Guards {
		v := GuardView{Number: i + 1, Message: visible(g.Message), Symbol: visible(g.Symbol), Place: p.link(site, g.Place)}
		if g.Record != nil {
			known := names.of(*g.Record)
			v.Here = id != "" && *g.Record == id
			if v.URL = known.URL; known.URL != "" {
				v.Message = known.Label
			}
		}
		if v.Message == "" {
			v.Message = "an error that comes from elsewhere"
		}
		views[i] = v
	}
	return views
}

// The picture of a flow is drawn to be read at its own size in a window of 360
// pixels: a rail with the conditions, and beside each what is raised when it
// does not hold. All lengths are pixels.
const (
	flowWidth   = 318
	flowRail    = 13 // middle of the rail
	flowRadius  = 12 // of a condition on it
	flowBox     = 38 // left side of the messages
	flowPad     = 10 // inside of a box
	flowLine    = 17 // height of a line of text
	flowGap     = 14 // between two boxes
	flowLetters = 35 // of a line in a box
	flowLines   = 3  // of a message
	flowAround  = 3  // conditions before and after the ones of the page
)

// flowPicture draws the guards around those of the page. The list beside it
// says the same in words, so its links are out of the way of the keyboard.
func flowPicture(id, title string, guards []GuardView) Prose {
	first, last := len(guards), 0
	for i, g := range guards {
		if g.Here {
			first, last = min(first, i), max(last, i)
		}
	}
	from, to := max(first-flowAround, 0), min(last+flowAround+1, len(guards))
	var body strings.Builder
	y := flowStart(&body, from)
	top := y
	for _, g := range guards[from:to] {
		y = flowGuard(&body, g, y) + flowGap
	}
	y = flowEnd(&body, len(guards)-to, y)

	var here []string
	for _, g := range guards {
		if g.Here {
			here = append(here, strconv.Itoa(g.Number))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="flow-picture" role="group" viewBox="0 0 %d %d" width="%d" height="%d" aria-labelledby="%s-title %s-desc">`,
		flowWidth, y, flowWidth, y, id, id)
	fmt.Fprintf(&b, `<title id="%s-title">The conditions of the operation: %s</title>`, id, html.EscapeString(title))
	fmt.Fprintf(&b, `<desc id="%s-desc">Condition %s of %d raises this error. The list says the same.</desc>`,
		id, enumerate(here), len(guards))
	fmt.Fprintf(&b, `<path class="flow-rail" d="M%d %dV%d"></path>`, flowRail, top-flowGap, y-2*flowRadius)
	b.WriteString(body.String())
	b.WriteString("</svg>")
	return Prose(b.String())
}

// flowStart draws what comes before the first guard and gives the height at
// which that begins.
func flowStart(b *strings.Builder, before int) int {
	text := "the operation is called"
	if before > 0 {
		text = plural(before, "condition", "conditions") + " before"
	}
	fmt.Fprintf(b, `<circle class="flow-tip" cx="%d" cy="8" r="5"></circle><text class="flow-note" x="%d" y="12">%s</text>`, flowRail, flowBox, text)
	return 8 + 2*flowGap
}

// flowGuard draws a guard with its top at y and gives its bottom.
func flowGuard(b *strings.Builder, g GuardView, y int) int {
	lines := wrap(g.Message, flowLetters, flowLines)
	height := 2*flowPad + len(lines)*flowLine - 4
	middle := y + height/2
	class := "flow-guard"
	if g.Here {
		class += " flow-here"
	}
	fmt.Fprintf(b, `<g class="%s">`, class)
	if g.URL != "" && !g.Here {
		fmt.Fprintf(b, `<a href="%s" tabindex="-1">`, html.EscapeString(g.URL))
	}
	fmt.Fprintf(b, `<path class="flow-branch" d="M%d %dH%d"></path>`, flowRail, middle, flowBox)
	fmt.Fprintf(b, `<circle cx="%d" cy="%d" r="%d"></circle><text class="flow-number" x="%d" y="%d">%d</text>`,
		flowRail, middle, flowRadius, flowRail, middle+4, g.Number)
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" rx="7"></rect>`, flowBox, y, flowWidth-flowBox-1, height)
	for i, line := range lines {
		fmt.Fprintf(b, `<text x="%d" y="%d">%s</text>`, flowBox+flowPad, y+flowPad+11+i*flowLine, html.EscapeString(line))
	}
	if g.URL != "" && !g.Here {
		b.WriteString("</a>")
	}
	b.WriteString("</g>")
	return y + height
}

// flowEnd draws what follows the last guard and gives the height of the whole.
func flowEnd(b *strings.Builder, after, y int) int {
	text := "all hold: the operation goes on"
	if after > 0 {
		text = plural(after, "condition", "conditions") + " after"
	}
	fmt.Fprintf(b, `<path class="flow-tip" d="M%d %dl5 7l5 -7z"></path><text class="flow-note" x="%d" y="%d">%s</text>`,
		flowRail-5, y, flowBox, y+8, text)
	return y + 14
}

// wrap breaks text into lines of at most so many letters, between words where
// it can, and cuts what does not fit into most lines.
func wrap(text string, letters, most int) []string {
	var lines []string
	line := ""
	push := func() {
		if line != "" {
			lines = append(lines, line)
			line = ""
		}
	}
	for word := range strings.FieldsSeq(text) {
		if line != "" && columns(line)+1+columns(word) > letters {
			push()
		}
		if line != "" {
			line += " "
		}
		for columns(line)+columns(word) > letters { // only at the start of a line
			head := fitting(word, letters)
			line, word = head, word[len(head):]
			push()
		}
		line += word
		if len(lines) > most {
			break
		}
	}
	push()
	if len(lines) > most {
		lines = lines[:most]
		lines[most-1] = strings.TrimRight(fitting(lines[most-1], letters-1), " ") + "…"
	}
	return lines
}

// columns is the room that a text takes, in letters: ideographs and their like
// take two.
func columns(text string) int {
	n := 0
	for _, r := range text {
		n += columnsOf(r)
	}
	return n
}

func columnsOf(r rune) int {
	if r >= 0x1100 && (r < 0x1200 || r >= 0x2e80) {
		return 2
	}
	return 1
}

// fitting is the longest beginning of a text that fits into so many letters.
func fitting(text string, letters int) string {
	n := 0
	for i, r := range text {
		if n += columnsOf(r); n > letters {
			return text[:i]
		}
	}
	return text
}
