package main

import (
	"context"
	"strings"

	"errorkb/cmd/internal/cli"
	"errorkb/internal/diagnose"
	"errorkb/internal/kb"
	"errorkb/internal/lint"
)

// matrixOf tries every instance of a set on every pattern, and on the
// diagnosis.
func matrixOf(ctx context.Context, set *kb.Set) (*lint.Matrix, error) {
	engine, err := newEngine(set, "")
	if err != nil {
		return nil, err
	}
	return lint.NewMatrix(ctx, set, func(text []byte) []string {
		var ids []string
		for _, d := range engine.Diagnose(ctx, text, diagnose.Options{}).Diagnoses {
			ids = append(ids, d.Record.ID)
		}
		return ids
	})
}

// instanceShown is how much of an instance is shown, in columns.
const instanceShown = 200

// writeMatrix writes what is off the diagonal.
func writeMatrix(p *cli.Printer, m *lint.Matrix) {
	last := ""
	under := func(r lint.MatrixRecord, spans ...cli.Span) {
		if name := r.String(); name != last {
			p.Printf("%s\n", p.Styled(cli.Bold, name))
			last = name
		}
		p.Wrap("  ", 4, spans...)
	}
	for _, c := range m.Cells {
		under(c.Record,
			cli.Span{Text: cli.Count(c.Count, "instance") + " found by " + c.Other.String() + " as well; "},
			cli.Span{Text: c.First.Slug, Style: cli.Value},
			cli.Span{Text: " first: " + c.Why})
	}
	for _, w := range m.Wrong {
		got := "unknown"
		if w.Got != nil {
			got = w.Got.String()
		}
		under(w.Record,
			cli.Span{Text: "wrong: ", Style: cli.Bad},
			cli.Span{Text: w.Field + " is diagnosed as " + got + ": " + cli.Cut(strings.Join(strings.Fields(w.Text), " "), instanceShown)})
	}
	if last != "" {
		p.Printf("\n")
	}
	wrong := "each diagnosed as its record"
	if n := len(m.Wrong); n > 0 {
		wrong = cli.Count(n, "instance") + " diagnosed as something else"
	}
	p.Printf("%s of %s, %s off the diagonal, %s\n",
		cli.Count(m.Instances, "instance"), cli.Count(m.Records, "record"), cli.Count(len(m.Cells), "cell"), wrong)
}
