package render

import (
	"context"
	"fmt"
	"strconv"

	"errorkb/internal/kb"
)

// LiveForm is the button that proves a record on the machine of the server.
type LiveForm struct {
	Action string
	Words  string // address of the script that has the words of the pages
	Script string
	Again  bool // it was pressed before
}

// liveForm makes the button of a record; nil where there is none: on a site of
// plain files, on a server that takes no live proofs, for a record without a
// scenario.
func (r *Renderer) liveForm(record *kb.Record) *LiveForm {
	if !r.live || record.Scenario == nil {
		return nil
	}
	return &LiveForm{
		Action: r.site.To(PlaceAPIProve, record.ID), Words: r.site.Asset("answer.js"), Script: r.site.Asset("live.js"),
	}
}

// LiveView is the page of a live proof that has ended.
type LiveView struct {
	Layout   Layout
	Record   Link
	Kind     string // class of the verdict
	Title    string
	Summary  string
	Problems []Prose
	Parts    []LivePartView
	Form     *LiveForm
}

// LivePartView is a part of a run.
type LivePartView struct {
	Heading Prose
	End     string // what is to be said of its last step: "fails", "works", "" for nothing
	Steps   []StepView
	Emitted Prose // what was seen after the last step, "" for nothing
	Facts   []Fact
	Place   Link
}

// LiveSummary says in a sentence or two what a run came to.
func LiveSummary(r kb.LiveResult) string {
	took := fmt.Sprintf("%.1f s", float64(r.Milliseconds)/1000)
	switch {
	case r.Ended != kb.LiveComplete:
		return "Not finished after " + took + "."
	case !r.Proven:
		return "Not proven, after " + took + ": " + plural(len(r.Problems), "problem", "problems") + "."
	case r.Agrees == nil:
		return "Proven in " + took + ". The data set has no evidence to compare this with."
	case *r.Agrees:
		return "Proven in " + took + ". This agrees with the evidence of the data set."
	}
	return "Proven in " + took + ". The evidence of the data set differs in " + enumerate(r.Differs) + "."
}

var liveTitles = map[bool]string{true: "Proven", false: "Not proven"}

// newLiveView makes the page of a run.
func (r *Renderer) newLiveView(record *kb.Record, events []kb.LiveEvent, result kb.LiveResult) LiveView {
	title := visible(record.ErrorMessage)
	v := LiveView{
		Layout: r.site.layout(PlaceAPIProve, "Live proof: "+cutWords(title, 80), "What happened when the scenario of this record was run."),
		Record: Link{title, r.site.To(PlaceError, record.Repo, record.Slug)},
		Kind:   "failure", Title: liveTitles[result.Proven], Summary: LiveSummary(result),
		Form: r.liveForm(record),
	}
	v.Layout.Hidden = true
	if result.Proven {
		v.Kind = "known"
	}
	if v.Form != nil {
		v.Form.Again = true
	}
	for _, problem := range result.Problems {
		v.Problems = append(v.Problems, inlineProse(sentence(problem)))
	}
	for _, e := range events {
		if e.Part != nil {
			p := LivePartView{Heading: inlineProse(e.Part.Heading)}
			if e.Part.Solution != nil && result.Proven {
				p.End = "works"
			}
			v.Parts = append(v.Parts, p)
		}
		if len(v.Parts) == 0 {
			continue // nothing is told before the first part
		}
		p := &v.Parts[len(v.Parts)-1]
		if e.Step != nil {
			p.Steps = append(p.Steps, stepViews([]kb.ProofStep{*e.Step})...)
		}
		if e.Emitted != nil {
			p.End, p.Emitted = "fails", emitted(record, *e.Emitted)
			p.Facts = emittedFacts(*e.Emitted)
			p.Place = r.proof.link(r.site, e.Emitted.Place.Place)
		}
	}
	return v
}

// emittedFacts are what a caller can read off an error apart from its message.
func emittedFacts(e kb.Emitted) []Fact {
	var list []Fact
	if e.Code != nil {
		list = append(list, Fact{Name: "Code", Value: visible(*e.Code), Code: true})
	}
	if e.Class != nil {
		list = append(list, Fact{Name: "Class", Value: visible(*e.Class), Code: true})
	}
	if e.Status != nil {
		list = append(list, Fact{Name: "HTTP status", Value: strconv.Itoa(*e.Status)})
	}
	return list
}

// LivePage makes the page of a live proof that has ended, for browsers without
// a script: with one, the transcript comes while it happens.
func (r *Renderer) LivePage(ctx context.Context, record *kb.Record, events []kb.LiveEvent, result kb.LiveResult) (Document, error) {
	return ok(ctx, LivePage(r.newLiveView(record, events, result)))
}
