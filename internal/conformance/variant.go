package conformance

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"errorkb/internal/kb"
)

// variant runs another way to the message of a scenario.
func (p *proof) variant(ctx context.Context, v Variant) {
	s := &Scenario{Title: v.Title, Host: v.Host, Values: v.Values, Steps: v.Steps, Fails: p.scenario.Fails, Seen: cmp.Or(v.Seen, p.scenario.Seen)}
	if v.Values == nil {
		s.Values = p.scenario.Values
	}
	if v.Fails != nil {
		s.Fails = *v.Fails
	}
	x := p.begin(p.record, s)
	x.then = v.Then
	x.evidence.Also = []kb.Variant{{Title: v.Title, Then: []kb.Then{}}}
	if err := x.expect(); err != nil {
		x.problem("%v", err)
	} else {
		x.runOnce(ctx, 0)
	}
	done := x.evidence.Also[0]
	done.Steps, done.Emitted, done.Place = x.evidence.Steps, x.evidence.Emitted.Text, x.evidence.Emitted.Place.Place
	p.evidence.Also = append(p.evidence.Also, done)
	for _, problem := range x.evidence.Problems {
		p.note(v.Title+": "+problem, x.late())
	}
}

// follow shows that other errors were waiting behind the one that came: in the
// same result, or once what leads to the first is gone.
func (p *proof) follow(w *world, out outcome) {
	before := p.expected
	for _, next := range p.then {
		i := slices.IndexFunc(p.Records.Records, func(r *kb.Record) bool { return r.Repo == p.record.Repo && r.Slug == next.Record })
		if i < 0 {
			p.problem("there is no record %q", next.Record)
			return
		}
		want, _, err := filled(p.Records.Records[i], next.Values)
		if err != nil {
			p.problem("%s: %v", next.Record, err)
			return
		}
		done := kb.Then{Record: p.Records.Records[i].ID, Message: want, Steps: []kb.ProofStep{}}
		if len(next.Steps) > 0 {
			p.tell(Event{Heading: "What comes next"})
			if !p.steps(w, next.Steps, &done.Steps) {
				return
			}
			out = w.run(p.scenario.Fails)
			done.Steps = append(done.Steps, p.traced(kb.ProofStep{Text: p.scenario.Fails.words(), Result: w.steady(failureWords(out))}))
		}
		said := out.messages()
		at, first := slices.Index(said, want), slices.Index(said, before)
		if at < 0 || len(next.Steps) == 0 && at < first || len(next.Steps) > 0 && first >= 0 {
			p.problem("%s does not come behind %s, but %q", code(want), code(before), said)
			return
		}
		p.evidence.Also[0].Then = append(p.evidence.Also[0].Then, done)
		before = want
	}
}

// Before lists for each record, by its id, the records whose scenarios show that
// their message comes before its own.
func (s Scenarios) Before(records *kb.Set) map[string][]string {
	slugs := map[string]string{}
	for _, r := range records.Records {
		slugs[r.Repo+" "+r.Slug] = r.ID
	}
	before := map[string][]string{}
	for _, r := range records.Records {
		if scenario := s.of(r); scenario != nil {
			for _, v := range scenario.Also {
				for _, next := range v.Then {
					id := slugs[r.Repo+" "+next.Record]
					before[id] = append(before[id], r.ID)
				}
			}
		}
	}
	return before
}

// messages lists what a step says that failed: the texts of its errors,
// outermost first, or those in its result, without the error output of a
// worker behind them.
func (o outcome) messages() []string {
	var said []string
	for err := o.err; err != nil; err = errors.Unwrap(err) {
		text, _, _ := strings.Cut(err.Error(), stderrHeading)
		said = append(said, text)
	}
	return append(said, o.refusals...)
}

// stderrHeading stands between a message and the error output of a worker.
const stderrHeading = "\n\nWorker stderr:\n"
