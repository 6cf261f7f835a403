package main

import (
	"fmt"
	"strings"

	"errorkb/cmd/internal/cli"
	"errorkb/internal/diagnose"
	"errorkb/internal/kb"
)

// labelWidth is the width of the left column in text for people.
const labelWidth = 12

// How much of an answer is shown to people; --json has everything.
const (
	solutionsShown = 3
	placesShown    = 3
	shortSolutions = 1 // of the diagnoses after the first
)

// writeAnswer writes a diagnosis for people.
func writeAnswer(p *cli.Printer, a *diagnose.Answer, set *kb.Set) {
	records := make(map[string]*kb.Record, len(set.Records))
	for _, r := range set.Records {
		records[r.ID] = r
	}
	if a.Verdict == diagnose.VerdictUnknown {
		writeUnknown(p, a)
	}
	for i := range a.Diagnoses {
		if i > 0 {
			p.Printf("\n")
		}
		writeDiagnosis(p, a, i, records[a.Diagnoses[i].Record.ID])
	}
	if len(a.RunnersUp) > 0 {
		p.Printf("\n")
		for i, r := range a.RunnersUp {
			label := ""
			if i == 0 {
				label = "Not chosen"
			}
			field(p, label, cli.Span{Text: r.Record.Title}, cli.Span{Text: " (" + r.Record.ID + "): " + r.Why, Style: cli.Dim})
		}
	}
	if a.Partial {
		p.Printf("\nStopped before the end of the text: there may be more in it.\n")
	}
}

func writeDiagnosis(p *cli.Printer, a *diagnose.Answer, i int, record *kb.Record) {
	d := a.Diagnoses[i]
	switch {
	case i > 0:
		p.Printf("%s", p.Styled(cli.Bold, "Also in the text"))
	case a.Verdict == diagnose.VerdictKnown:
		p.Printf("%s", p.Styled(cli.Good, "Known error"))
	default:
		p.Printf("%s", p.Styled(cli.Warn, "Likely"))
	}
	about := []string{d.Record.Repo, d.Record.Severity, d.Record.Role}
	if d.Record.Status != string(kb.StatusActive) {
		about = append(about, d.Record.Status)
	}
	p.Printf("%s\n\n", p.Styled(cli.Dim, " · "+strings.Join(about, " · ")))
	p.Wrap("  ", 2, cli.Span{Text: d.Record.Title, Style: cli.Bold})
	p.Printf("\n")
	writePlaces(p, d)
	writeValues(p, d, record)
	field(p, "Why", cli.Span{Text: why(d)})
	p.Printf("\n")
	shown := solutionsShown
	if i > 0 {
		shown = shortSolutions
	}
	for k, solution := range d.Solutions[:min(shown, len(d.Solutions))] {
		label := ""
		if k == 0 {
			label = "Do this"
		}
		number := fmt.Sprintf("%d. ", k+1)
		p.Wrap(head(p, label)+number, labelWidth+2+len(number), cli.Inline(solution)...)
	}
	if left := len(d.Solutions) - shown; left > 0 {
		field(p, "", cli.Span{Text: cli.Count(left, "more solution") + ": kb explain " + d.Record.ID, Style: cli.Dim})
	}
	p.Printf("\n")
	field(p, "Page", cli.Span{Text: d.Record.URL})
	field(p, "Explain", cli.Span{Text: "kb explain " + d.Record.ID})
}

// head is the left column of a line: a label or nothing.
func head(p *cli.Printer, label string) string {
	return "  " + p.Styled(cli.Bold, label) + strings.Repeat(" ", max(1, labelWidth-len(label)))
}

// field writes a label and a wrapped value.
func field(p *cli.Printer, label string, value ...cli.Span) {
	p.Wrap(head(p, label), labelWidth+2, value...)
}

// writePlaces shows where the message stands, its values marked.
func writePlaces(p *cli.Printer, d diagnose.Diagnosis) {
	shown := d.Evidence[:min(placesShown, len(d.Evidence))]
	for i, e := range shown {
		label := ""
		if i == 0 {
			label = "Found"
		}
		place := fmt.Sprintf("line %d, column %d", e.Line, e.Column)
		if len(e.Undone) > 0 {
			place += ", after undoing " + strings.Join(e.Undone, ", ")
		}
		field(p, label, cli.Span{Text: place, Style: cli.Dim})
		field(p, "", marked(e)...)
	}
	if left := d.Count - len(shown); left > 0 {
		field(p, "", cli.Span{Text: fmt.Sprintf("and %s more", times(left)), Style: cli.Dim})
	}
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// marked cuts the text of an evidence at its captured values. The places of
// captures are in the input, so their values are looked for in order.
func marked(e diagnose.Evidence) []cli.Span {
	var spans []cli.Span
	rest := e.Text
	for _, c := range e.Captures {
		before, after, found := strings.Cut(rest, c.Value)
		if !found || c.Value == "" {
			continue
		}
		spans = append(spans, cli.Span{Text: before}, cli.Span{Text: c.Value, Style: cli.Marked})
		rest = after
	}
	return append(spans, cli.Span{Text: rest})
}

// writeValues lists what stood in the place of the placeholders, first time.
func writeValues(p *cli.Printer, d diagnose.Diagnosis, record *kb.Record) {
	if len(d.Evidence) == 0 {
		return
	}
	for i, c := range d.Evidence[0].Captures {
		label := ""
		if i == 0 {
			label = "Values"
		}
		spans := []cli.Span{{Text: c.Name + " = "}, {Text: c.Value, Style: cli.Value}}
		if c.Value == "" {
			spans[1] = cli.Span{Text: "(empty)", Style: cli.Dim}
		}
		if meaning := describe(record, c.Name); meaning != "" {
			spans = append(spans, cli.Span{Text: " · " + meaning, Style: cli.Dim})
		}
		field(p, label, spans...)
	}
}

func describe(record *kb.Record, capture string) string {
	if record == nil {
		return ""
	}
	for _, c := range record.Captures {
		if c.Name == capture {
			return kb.Summary(c.Description)
		}
	}
	return ""
}

// why says in words how the record was recognised.
func why(d diagnose.Diagnosis) string {
	reason := map[diagnose.Kind]string{
		diagnose.KindExact:      "the message stands there word for word",
		diagnose.KindNormalized: "the message stands there once the wrapping is taken off",
		diagnose.KindTruncated:  "a part of the message stands there, the rest is cut off",
		diagnose.KindHistoric:   "an earlier wording of the message stands there",
		diagnose.KindCode:       "its code or class stands there, not its message",
	}[d.Kind]
	if reason == "" {
		reason = string(d.Kind)
	}
	return fmt.Sprintf("%s (%s, confidence %.2f)", reason, d.Kind, d.Confidence)
}

// writeUnknown says what can be said about a text without a known error.
func writeUnknown(p *cli.Printer, a *diagnose.Answer) {
	p.Printf("%s", p.Styled(cli.Bad, "Unknown"))
	p.Printf("%s\n\n", p.Styled(cli.Dim, fmt.Sprintf(" · %s, %s", cli.Count(a.Input.Lines, "line"), cli.Count(a.Input.Bytes, "byte"))))
	u := a.Unknown
	if u == nil || u.Line == nil {
		p.Printf("  There is no text to diagnose.\n")
		return
	}
	p.Wrap("  ", 2, cli.Span{Text: "No documented error stands in this text."})
	p.Printf("\n")
	field(p, "Look at", cli.Span{Text: fmt.Sprintf("line %d: %s", u.Line.Line, u.Line.Why), Style: cli.Dim})
	field(p, "", cli.Span{Text: cli.Cut(u.Line.Text, 4*p.Width()), Style: cli.Bold})
	if u.Template != "" && u.Template != u.Line.Text {
		field(p, "Template", cli.Span{Text: cli.Cut(u.Template, 4*p.Width())})
	}
	for i, near := range u.Near {
		label := ""
		if i == 0 {
			p.Printf("\n")
			label = "Near"
		}
		field(p, label, cli.Span{Text: near.Record.Title}, cli.Span{Text: " (" + near.Record.ID + ")", Style: cli.Dim})
		if differs := difference(near); differs != "" {
			field(p, "", cli.Span{Text: differs, Style: cli.Dim})
		}
	}
}

// difference names the words that keep a record from being the answer.
func difference(near diagnose.NearRecord) string {
	var parts []string
	if len(near.Missing) > 0 {
		parts = append(parts, "not in the text: "+strings.Join(near.Missing, ", "))
	}
	if len(near.Extra) > 0 {
		parts = append(parts, "only in the text: "+strings.Join(near.Extra, ", "))
	}
	return strings.Join(parts, "; ")
}
