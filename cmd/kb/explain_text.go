package main

import (
	"fmt"
	"regexp"
	"strings"

	"errorkb/cmd/internal/cli"
	"errorkb/internal/kb"
	"errorkb/internal/render"
)

// relatedShown is the number of related errors that a record lists.
const relatedShown = 6

// writeRecord writes a whole record for people, in the order of its page.
func writeRecord(p *cli.Printer, r *kb.Record, set *kb.Set) {
	about := []string{r.Repo, string(r.Severity)}
	if r.ErrorClass != nil {
		about = append(about, *r.ErrorClass)
	}
	p.Printf("%s\n", p.Styled(cli.Dim, strings.Join(about, " · ")))
	p.Wrap("", 0, cli.Span{Text: r.ErrorMessage, Style: cli.Bold})
	writeBanner(p, r, set)
	p.Printf("\n")
	writeFacts(p, r)
	section(p, "What it means", r.Documentation)
	writeSource(p, r)
	if len(r.Solutions) > 0 {
		heading(p, "Solutions")
		numbered(p, r.Solutions)
	}
	code(p, "Example fix", r.ExampleFix)
	writeDefence(p, r)
	section(p, "What triggers it", r.TriggerScenarios)
	section(p, "Where people meet it", r.CommonSituations)
	writeRelated(p, r, set)
	p.Printf("\n%s\n", p.Styled(cli.Dim, footer(r, set)))
}

// writeBanner says what a reader must know before trusting the record.
func writeBanner(p *cli.Printer, r *kb.Record, set *kb.Set) {
	if r.Status != kb.StatusActive {
		text := "This error is " + string(r.Status) + "."
		if r.StatusReason != nil {
			text += " " + *r.StatusReason
		}
		if r.ReplacedBy != nil {
			text += " Replaced by " + *r.ReplacedBy
			for _, other := range set.Records {
				if other.ID == *r.ReplacedBy {
					text += ": " + other.ErrorMessage
				}
			}
		}
		p.Printf("\n")
		p.Wrap("", 0, cli.Span{Text: text, Style: cli.Warn})
	}
	if r.Review != kb.ReviewReviewed {
		p.Printf("\n")
		p.Wrap("", 0, cli.Span{Text: "Nobody has reviewed this text yet (" + string(r.Review) + ").", Style: cli.Warn})
	}
}

// writeFacts lists the short fields.
func writeFacts(p *cli.Printer, r *kb.Record) {
	if r.ErrorCode != nil {
		field(p, "Code", cli.Span{Text: *r.ErrorCode, Style: cli.Value})
	}
	if r.HTTPStatus != nil {
		field(p, "HTTP", cli.Span{Text: fmt.Sprint(*r.HTTPStatus)})
	}
	for i, c := range r.Captures {
		label := ""
		if i == 0 {
			label = "Values"
		}
		spans := []cli.Span{{Text: c.Name, Style: cli.Value}}
		if c.Description != "" {
			spans = append(append(spans, cli.Span{Text: ": "}), cli.Inline(c.Description)...)
		}
		if c.Example != "" {
			spans = append(spans, cli.Span{Text: " (such as "}, cli.Span{Text: c.Example, Style: cli.Value}, cli.Span{Text: ")"})
		}
		field(p, label, spans...)
	}
	if len(r.Aliases) > 0 {
		field(p, "Also", cli.Span{Text: strings.Join(r.Aliases, ", "), Style: cli.Value})
	}
	field(p, "Role", cli.Span{Text: map[kb.Role]string{
		kb.RoleCause:   "cause: mend this one",
		kb.RoleSymptom: "symptom: it follows from something else",
		kb.RoleWrapper: "wrapper: the cause is inside it",
	}[r.Role]})
	field(p, "Retry", cli.Span{Text: map[kb.Retry]string{
		kb.RetryNever:    "never helps",
		kb.RetrySafe:     "is safe and can help",
		kb.RetryAfterFix: "helps after the cause is mended",
	}[r.Retry]})
	field(p, "Id", cli.Span{Text: r.ID})
	field(p, "Page", cli.Span{Text: render.Base("").Address(render.PlaceError, r.Repo, r.Slug)})
}

func heading(p *cli.Printer, title string) { p.Printf("\n%s\n", p.Styled(cli.Bold, title)) }

func section(p *cli.Printer, title, markdown string) {
	if strings.TrimSpace(markdown) == "" {
		return
	}
	heading(p, title)
	p.Markdown(2, markdown)
}

func numbered(p *cli.Printer, items []string) {
	for i, item := range items {
		number := fmt.Sprintf("  %d. ", i+1)
		p.Wrap(number, len(number), cli.Inline(item)...)
	}
}

// mark finds the comments that name the two halves of an example.
var mark = regexp.MustCompile(`(?i)^\s*(//|#|--)\s*(before|after)\b`)

func code(p *cli.Printer, title, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	heading(p, title)
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		style := cli.Value
		if mark.MatchString(line) {
			style = cli.Bold
		}
		p.Printf("%s\n", strings.TrimRight("    "+p.Styled(style, line), " "))
	}
}

// writeSource shows the place that raises the error, its line marked.
func writeSource(p *cli.Printer, r *kb.Record) {
	if r.FilePath == "" {
		return
	}
	heading(p, "Source")
	place := r.FilePath
	if r.LineNumber != nil {
		place += fmt.Sprintf(":%d", *r.LineNumber)
	}
	if r.Symbol != nil {
		place += " in " + *r.Symbol
	}
	p.Wrap("  ", 2, cli.Span{Text: place})
	if r.GithubURL != nil {
		p.Wrap("  ", 2, cli.Span{Text: *r.GithubURL, Style: cli.Dim})
	}
	if r.SourceCode == nil {
		return
	}
	number := 1
	if r.SourceCodeStart != nil {
		number = *r.SourceCodeStart
	}
	p.Printf("\n")
	for line := range strings.SplitSeq(strings.TrimRight(*r.SourceCode, "\n"), "\n") {
		pointer, style := " ", cli.Plain
		if r.LineNumber != nil && number == *r.LineNumber {
			pointer, style = ">", cli.Bold
		}
		p.Printf("  %s %s  %s\n", pointer, p.Styled(cli.Dim, fmt.Sprintf("%5d", number)), p.Styled(style, line))
		number++
	}
}

// writeDefence shows the patterns that keep the error from happening.
func writeDefence(p *cli.Printer, r *kb.Record) {
	if r.ValidationCode == nil && r.TypeGuard == nil && r.TryCatchPattern == nil && len(r.PreventionTips) == 0 {
		return
	}
	if r.HandlingStrategy != "" {
		heading(p, "Defensive patterns")
		p.Wrap("  ", 2, cli.Span{Text: "Strategy: "}, cli.Span{Text: r.HandlingStrategy, Style: cli.Value})
	}
	for _, part := range []struct {
		title string
		text  *string
	}{
		{"Validate before calling", r.ValidationCode},
		{"Type guard", r.TypeGuard},
		{"Try and catch", r.TryCatchPattern},
	} {
		if part.text != nil {
			code(p, part.title, *part.text)
		}
	}
	if len(r.PreventionTips) > 0 {
		heading(p, "Prevention")
		for _, tip := range r.PreventionTips {
			p.Wrap("  - ", 4, cli.Inline(tip)...)
		}
	}
}

func writeRelated(p *cli.Printer, r *kb.Record, set *kb.Set) {
	relations := kb.Related(set.Records, relatedShown)[r.ID]
	if len(relations) == 0 {
		return
	}
	titles := make(map[string]string, len(set.Records))
	for _, other := range set.Records {
		titles[other.ID] = other.ErrorMessage
	}
	heading(p, "Related errors")
	for _, relation := range relations {
		p.Wrap("  "+p.Styled(cli.Value, relation.ID)+"  ", 4+len(relation.ID),
			cli.Span{Text: titles[relation.ID]}, cli.Span{Text: " (" + relation.Why + ")", Style: cli.Dim})
	}
}

func footer(r *kb.Record, set *kb.Set) string {
	analysed := r.Repo
	if r.AnalyzedSHA != "" {
		analysed += fmt.Sprintf(" at %.12s", r.AnalyzedSHA)
	}
	if day, _, found := strings.Cut(r.AnalyzedAt, "T"); found {
		analysed += " on " + day
	}
	return fmt.Sprintf("Analysed: %s · records %s", analysed, set.Version)
}
