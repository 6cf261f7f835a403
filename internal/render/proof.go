package render

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"errorkb/internal/diagnose"
	"errorkb/internal/kb"
)

// proofs is a proof with what pages look up in it.
type proofs struct {
	*kb.Proof // nil for none
	code      fs.FS
	files     []string          // of the runtime that the proof points to and that are there, sorted
	texts     map[string]string // what stands in them
}

// newProofs reads the files that a proof points to. One that is not there gets
// no page and no link.
func newProofs(proof *kb.Proof, code fs.FS) *proofs {
	p := &proofs{Proof: proof, code: code, texts: map[string]string{}}
	if proof == nil || code == nil {
		return p
	}
	add := func(at kb.Place) {
		if _, have := p.texts[at.File]; have || !fs.ValidPath(at.File) {
			return
		}
		if text, err := fs.ReadFile(code, at.File); err == nil {
			p.texts[at.File] = string(text)
		}
	}
	for _, e := range proof.Records {
		add(e.Emitted.Place.Place)
		for _, link := range e.Emitted.Chain {
			if link.Place != nil {
				add(*link.Place)
			}
		}
	}
	for _, place := range proof.Places {
		add(place.Place)
	}
	for _, operation := range proof.Operations {
		for _, guard := range operation.Guards {
			add(guard.Place)
		}
	}
	p.files = sortedKeys(p.texts)
	return p
}

// link leads to a place in the source of the runtime; its address is "" when
// there is no such line to look at.
func (p *proofs) link(site Site, at kb.Place) Link {
	l := Link{Label: visible(at.File) + ":" + strconv.Itoa(at.Line)}
	if text, have := p.texts[at.File]; have && at.Line > 0 && at.Line <= strings.Count(text, "\n")+1 {
		l.URL = site.To(PlaceSource, at.File) + "#L" + strconv.Itoa(at.Line)
	}
	return l
}

// ProofView is the section of an error page that proves it.
type ProofView struct {
	Proven   bool
	Title    Prose
	Scenario string
	Problems []string
	Steps    []StepView // the last one is the operation that fails
	Seen     string     // where the message was seen
	Emitted  Prose
	Facts    []Fact
	Chain    []ChainView // of wrapped errors, outermost first; empty when there is one only
	Place    PlaceView
	Paste    PasteView
	Remedies []RemedyView
	NoRemedy Prose // why there is none
	Also     []VariantView
	Report   string
}

// VariantView is another way to the message that was run.
type VariantView struct {
	Title Prose
	Steps []StepView // the last one is the operation that fails
	Place Link       // that raised the message
	Then  []ThenView
}

// ThenView is an error that waits behind another one.
type ThenView struct {
	Error Link // its record
	Steps []StepView
}

// StepView is a step of a scenario or a remedy.
type StepView struct{ Text, Result Prose }

// ChainView is one of the errors that wrap each other.
type ChainView struct {
	Message, Code, Class string
	Place                Link
}

// PlaceView is a place of the runtime with the lines around it.
type PlaceView struct {
	Link   Link
	Symbol string
	Code   Code
}

// PasteView tells what the diagnosis says of the emitted text.
type PasteView struct {
	Verdict, Kind string
	Confidence    string // how the sentence about the verdict ends
	First         bool
	Cause         Link // comes first because this record wraps it
	Captures      []ProvenCapture
}

// ProvenCapture compares the value that a scenario used with the one found.
type ProvenCapture struct {
	Number            int
	Name, Used, Found string
	Same              bool
}

// RemedyView is a way out that was run.
type RemedyView struct {
	ID      string
	Number  int // of the solution
	Works   bool
	Again   bool
	Verdict string
	Steps   []StepView
}

// channelWords say where a message was seen.
var channelWords = map[kb.Channel]string{
	kb.ChannelError:  "The error of the call",
	kb.ChannelResult: "A text in the result of the call, which did not fail itself",
	kb.ChannelStderr: "A line on the error output of the worker",
	kb.ChannelLog:    "A line in the log of the host",
}

// proofOf makes the sections of a record's page that the proof gives; nil and
// none when it says nothing of the record.
func (r *Renderer) proofOf(ctx context.Context, record *kb.Record) (*ProofView, []FlowView, error) {
	names := r.namer(ctx)
	var proof *ProofView
	if e := r.proof.Of(record.ID); e != nil {
		proof = newProofView(r.site, r.proof, record, e, names)
	}
	var flows []FlowView
	if r.proof.Proof != nil {
		flows = newFlowViews(r.site, r.proof, record.ID, names)
	}
	return proof, flows, names.err
}

// namer finds the title and the address of records by their id.
type namer struct {
	find func(id string) (*kb.Record, error)
	site Site
	seen map[string]Link
	err  error // of the source, the first one
}

func (r *Renderer) namer(ctx context.Context) *namer {
	return &namer{site: r.site, seen: map[string]Link{}, find: func(id string) (*kb.Record, error) { return r.src.Record(ctx, id) }}
}

// of gives a link to a record. A record that is not in the set any more has
// its id for a name and no address.
func (n *namer) of(id string) Link {
	if l, have := n.seen[id]; have {
		return l
	}
	l := Link{Label: visible(id)}
	switch record, err := n.find(id); {
	case err == nil:
		l = Link{visible(record.ErrorMessage), n.site.To(PlaceError, record.Repo, record.Slug)}
	case !errors.Is(err, kb.ErrNotFound) && n.err == nil:
		n.err = fmt.Errorf("read record %q: %w", id, err)
	}
	n.seen[id] = l
	return l
}

func newProofView(site Site, p *proofs, record *kb.Record, e *kb.Evidence, names *namer) *ProofView {
	v := &ProofView{
		Proven: e.Proven, Title: inlineProse(sentence(e.Title)), Scenario: visible(e.Scenario),
		Steps: stepViews(e.Steps), Seen: channelWords[e.Emitted.Channel], Emitted: emitted(record, e.Emitted),
		Place:  PlaceView{Link: p.link(site, e.Emitted.Place.Place), Symbol: visible(e.Emitted.Place.Symbol)},
		Paste:  pasteView(e, names),
		Report: site.To(PlaceProof),
	}
	for _, problem := range e.Problems {
		v.Problems = append(v.Problems, sentence(visible(problem)))
	}
	v.Facts = emittedFacts(e.Emitted)
	if len(e.Emitted.Chain) > 1 {
		for _, link := range e.Emitted.Chain {
			c := ChainView{Message: visible(link.Message)}
			if link.Code != nil {
				c.Code = visible(*link.Code)
			}
			if link.Class != nil {
				c.Class = visible(*link.Class)
			}
			if link.Place != nil {
				c.Place = p.link(site, *link.Place)
			}
			v.Chain = append(v.Chain, c)
		}
	}
	if lines := e.Emitted.Place.Lines; len(lines) > 0 {
		source := strings.Join(lines, "\n")
		v.Place.Code = newCode(source, languageOf(e.Emitted.Place.File)).numbered(e.Emitted.Place.Start, e.Emitted.Place.Line)
	}
	for i, remedy := range e.Remedies {
		v.Remedies = append(v.Remedies, RemedyView{
			ID: "remedy-" + strconv.Itoa(i+1), Number: remedy.Solution, Works: remedy.Works, Again: remedy.Again,
			Verdict: remedyVerdict(remedy), Steps: stepViews(remedy.Steps),
		})
	}
	if e.NoRemedy != nil {
		v.NoRemedy = inlineProse(sentence(*e.NoRemedy))
	}
	for _, other := range e.Also {
		o := VariantView{Title: inlineProse(sentence(other.Title)), Steps: stepViews(other.Steps), Place: p.link(site, other.Place)}
		for _, next := range other.Then {
			l := names.of(next.Record)
			l.Label = visible(next.Message)
			o.Then = append(o.Then, ThenView{l, stepViews(next.Steps)})
		}
		v.Also = append(v.Also, o)
	}
	return v
}

func stepViews(steps []kb.ProofStep) []StepView {
	views := make([]StepView, len(steps))
	for i, s := range steps {
		views[i] = StepView{inlineProse(sentence(s.Text)), inlineProse(outcome(s.Result))}
	}
	return views
}

// outcome closes what came of a step as prose does; a message at its end keeps
// its own end.
func outcome(result string) string {
	if strings.HasSuffix(result, "`") {
		return result
	}
	return sentence(result)
}

// emitted shows the text as it was seen, with the record's part of it marked
// and the values in that.
func emitted(record *kb.Record, e kb.Emitted) Prose {
	text := []byte(e.Text)
	var mark diagnose.Evidence
	if from := strings.Index(e.Text, e.Message); from >= 0 && e.Message != "" {
		v := findMessage(compiled(record.MessagePattern), []byte(e.Message))
		mark = diagnose.Evidence{Start: from, End: from + len(e.Message), Line: 1 + strings.Count(e.Text[:from], "\n")}
		for _, c := range v.Captures {
			mark.Captures = append(mark.Captures, diagnose.CaptureSpan{Name: c.Name, Start: from + c.Start, End: from + c.End})
		}
	}
	return excerptAround(text, mark, captureNumbers(record), exampleLines).HTML()
}

func pasteView(e *kb.Evidence, names *namer) PasteView {
	d := e.Diagnosis
	v := PasteView{Verdict: visible(d.Verdict), Confidence: ".", Kind: kindWords[diagnose.Kind(d.Kind)], First: d.First}
	if d.Confidence > 0 {
		v.Confidence = ", with a confidence of " + percent(d.Confidence) + "."
	}
	if d.Cause != nil {
		v.Cause = names.of(*d.Cause)
	}
	for i, used := range e.Captures {
		c := ProvenCapture{Number: i + 1, Name: visible(used.Name), Used: visible(used.Value)}
		if at := slices.IndexFunc(d.Captures, func(f kb.CaptureValue) bool { return f.Name == used.Name }); at >= 0 {
			c.Found, c.Same = visible(d.Captures[at].Value), d.Captures[at].Value == used.Value
		}
		v.Captures = append(v.Captures, c)
	}
	return v
}

// remedyVerdict says what came of a remedy.
func remedyVerdict(r kb.Remedy) string {
	switch {
	case r.Works && r.Again:
		return "The same operation then succeeds."
	case r.Works:
		return "What takes the place of the operation succeeds."
	case r.Again:
		return "The same operation still fails."
	default:
		return "What was to take the place of the operation fails."
	}
}

// markProven marks the solutions for which a remedy works.
func (v *ErrorView) markProven() {
	if v.Proof == nil {
		v.Contents = v.contents()
		return
	}
	for i := range v.Solutions {
		s := &v.Solutions[i]
		for _, r := range v.Proof.Remedies {
			if r.Number == i+1 && r.Works && s.Proven == "" {
				s.Proven = r.ID
			}
		}
	}
	for i := range v.Proof.Remedies {
		if r := &v.Proof.Remedies[i]; r.Number < 1 || r.Number > len(v.Solutions) {
			r.Number = 0 // nothing on the page to lead to
		}
	}
	v.Contents = v.contents()
}
