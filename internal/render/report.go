package render

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"errorkb/internal/kb"
)

// ProofPageView is the report of the whole proof.
type ProofPageView struct {
	Layout   Layout
	There    bool // there is a proof
	Counts   []ReportCount
	Contents []Anchor

	Records   []ReportRecord
	Unproven  []Link // records that the proof says nothing of
	Files     []ReportFile
	Coverage  string
	Flows     []FlowView
	Matrix    Prose
	Confused  []ReportSibling // what another record was found in too
	Siblings  string
	NoRemedy  []ReportReason
	Solutions string
}

// ReportCount is a number at the top of the report.
type ReportCount struct {
	Value, Of, Label string
	Whole            bool // nothing is missing
	URL              string
}

// ReportRecord is the outcome for one record.
type ReportRecord struct {
	Record    Link
	Scenario  string
	Title     Prose
	Proven    bool
	Problems  []string
	Diagnosis string
	Remedies  string
}

// ReportFile is a file of the runtime with its places that raise errors.
type ReportFile struct {
	Link    Link
	Summary string
	Raises  []RaiseView
}

// ReportSibling is a message in which not only its own record was found.
type ReportSibling struct {
	Record Link
	Found  []Link // best first
}

// ReportReason is a record with a sentence about it.
type ReportReason struct {
	Record Link
	Reason Prose
}

func (r *Renderer) proofPage(ctx context.Context) (Document, error) {
	items, err := r.items(ctx)
	if err != nil {
		return Document{}, err
	}
	names := r.namer(ctx)
	v := NewProofPageView(r.site, r.proof, items, names)
	if names.err != nil {
		return Document{}, names.err
	}
	return ok(ctx, ProofPage(v))
}

// NewProofPageView makes the report. The items are all records of the set.
func NewProofPageView(site Site, p *proofs, items []kb.Item, names *namer) ProofPageView {
	v := ProofPageView{There: p.Proof != nil}
	v.Layout = site.layout(PlaceProof, "Proof", "What shows that the records are right: each error made to happen, each place that raises one, each remedy tried.")
	v.Layout.Canonical = site.To(PlaceProof)
	for _, item := range items {
		names.seen[item.ID] = Link{visible(item.Title), site.To(PlaceError, item.Repo, item.Slug)}
	}
	if p.Proof == nil {
		return v
	}
	v.records(p, items, names)
	v.coverage(site, p, names)
	v.siblings(p, names)
	for _, operation := range p.Operations {
		v.Flows = append(v.Flows, FlowView{Title: visible(operation.Title), Guards: guardViews(site, p, operation, "", names)})
	}
	for _, s := range []struct {
		there     bool
		id, label string
	}{
		{true, "records", "Records"},
		{len(v.NoRemedy) > 0, "remedies", "Remedies"},
		{len(v.Files) > 0, "coverage", "Coverage"},
		{v.Matrix != "", "siblings", "Siblings"},
		{len(v.Flows) > 0, "operations", "Operations"},
	} {
		if s.there {
			v.Contents = append(v.Contents, Anchor{s.id, s.label})
		}
	}
	return v
}

func (v *ProofPageView) count(n, of int, label, section string) {
	v.Counts = append(v.Counts, ReportCount{thousands(n), thousands(of), label, n == of && of > 0, "#" + section})
}

func (v *ProofPageView) records(p *proofs, items []kb.Item, names *namer) {
	proven, remedied := 0, 0
	for _, e := range p.Records {
		row := ReportRecord{
			Record: names.of(e.Record), Scenario: visible(e.Scenario), Title: inlineProse(sentence(e.Title)), Proven: e.Proven,
			Diagnosis: diagnosisResult(e.Diagnosis),
		}
		for _, problem := range e.Problems {
			row.Problems = append(row.Problems, sentence(visible(problem)))
		}
		works := 0
		for _, r := range e.Remedies {
			if r.Works {
				works++
			}
		}
		switch {
		case len(e.Remedies) > 0:
			row.Remedies = fmt.Sprintf("%d of %d work", works, len(e.Remedies))
		default:
			row.Remedies = "none"
		}
		if e.Proven {
			proven++
		}
		if works > 0 {
			remedied++
		}
		if e.NoRemedy != nil {
			v.NoRemedy = append(v.NoRemedy, ReportReason{row.Record, inlineProse(sentence(*e.NoRemedy))})
		}
		v.Records = append(v.Records, row)
	}
	for _, item := range items {
		if p.Of(item.ID) == nil {
			v.Unproven = append(v.Unproven, names.of(item.ID))
		}
	}
	v.count(proven, len(v.Records)+len(v.Unproven), "records proven", "records")
	if len(v.Records) > 0 {
		section := "records"
		if len(v.NoRemedy) > 0 {
			section = "remedies"
		}
		v.count(remedied, len(v.Records), "with a remedy that works", section)
	}
}

func diagnosisResult(d kb.PasteResult) string {
	switch {
	case d.First:
		return "comes first"
	case d.Cause != nil:
		return "behind its cause"
	default:
		return "does not come first"
	}
}

func (v *ProofPageView) coverage(site Site, p *proofs, names *namer) {
	allRecorded, allExempt := 0, 0
	var file *ReportFile
	var recorded, exempt int
	summarise := func() {
		if file != nil {
			file.Summary = coverageSummary(len(file.Raises), recorded, exempt)
		}
		allRecorded, allExempt = allRecorded+recorded, allExempt+exempt
		recorded, exempt = 0, 0
	}
	last := ""
	for _, place := range p.Places {
		if file == nil || place.File != last {
			summarise()
			l := Link{Label: visible(place.File)}
			if _, have := p.texts[place.File]; have {
				l.URL = site.To(PlaceSource, place.File)
			}
			v.Files = append(v.Files, ReportFile{Link: l})
			file, last = &v.Files[len(v.Files)-1], place.File
		}
		file.Raises = append(file.Raises, raiseView(place, names))
		switch {
		case place.Record != nil:
			recorded++
		case place.Exemption != nil:
			exempt++
		}
	}
	summarise()
	if len(p.Places) > 0 {
		v.count(allRecorded+allExempt, len(p.Places), "places accounted for", "coverage")
		v.Coverage = coverageSummary(len(p.Places), allRecorded, allExempt)
	}
}

func coverageSummary(all, recorded, exempt int) string {
	var parts []string
	if recorded > 0 {
		parts = append(parts, thousands(recorded)+" with a record")
	}
	if exempt > 0 {
		parts = append(parts, thousands(exempt)+" exempt")
	}
	if left := all - recorded - exempt; left > 0 {
		parts = append(parts, thousands(left)+" without either")
	}
	return plural(all, "place", "places") + ": " + enumerate(parts)
}

// matrixCell is the side of a cell of the confusion matrix, in pixels.
const matrixCell = 8

// causeFirst reports whether a message is found right behind the cause that its
// record passes on, as the evidence of that record says.
func causeFirst(p *proofs, s kb.Sibling) bool {
	e := p.Of(s.Record)
	return e != nil && e.Diagnosis.Cause != nil && len(s.Found) > 1 && s.Found[0] == *e.Diagnosis.Cause && s.Found[1] == s.Record
}

// What a cell of the matrix says, the gravest last.
const (
	cellLater = iota // the record was found too, further down
	cellRight        // the message's own record came first
	cellCause        // it came behind the cause that it carries
	cellWrong        // another record came first
)

var cellClasses = [...]string{cellLater: "cell-later", cellRight: "cell-right", cellCause: "cell-cause", cellWrong: "cell-wrong"}

func (v *ProofPageView) siblings(p *proofs, names *namer) {
	if len(p.Siblings) == 0 {
		return
	}
	index := map[string]int{}
	number := func(id string) int {
		n, have := index[id]
		if !have {
			n = len(index)
			index[id] = n
		}
		return n
	}
	for _, s := range p.Siblings {
		number(s.Record)
	}
	cells := make(map[[2]int]int) // the gravest class of each cell
	right := 0
	for _, s := range p.Siblings {
		first := len(s.Found) > 0 && s.Found[0] == s.Record
		behind := causeFirst(p, s)
		if first || behind {
			right++
		}
		if !first || len(s.Found) > 1 {
			row := ReportSibling{Record: names.of(s.Record)}
			for _, id := range s.Found {
				row.Found = append(row.Found, names.of(id))
			}
			v.Confused = append(v.Confused, row)
		}
		for rank, id := range s.Found {
			class := cellLater
			switch {
			case rank == 0 && id == s.Record:
				class = cellRight
			case rank == 0 && behind:
				class = cellCause
			case rank == 0:
				class = cellWrong
			}
			at := [2]int{number(s.Record), number(id)}
			cells[at] = max(cells[at], class)
		}
	}
	var drawn strings.Builder
	for row := range len(index) {
		for column := range len(index) {
			if class, have := cells[[2]int{row, column}]; have {
				fmt.Fprintf(&drawn, `<rect class="%s" x="%d" y="%d" width="%d" height="%d"></rect>`,
					cellClasses[class], column*matrixCell, row*matrixCell, matrixCell-1, matrixCell-1)
			}
		}
	}
	v.count(right, len(p.Siblings), "messages told apart", "siblings")
	v.Siblings = fmt.Sprintf("Each of %s was pasted into the diagnosis. For %s its own record came first, or right behind the cause that it carries.",
		plural(len(p.Siblings), "rendered message", "rendered messages"), thousands(right))
	side := strconv.Itoa(len(index) * matrixCell)
	v.Matrix = Prose(`<svg class="matrix" role="img" viewBox="0 0 ` + side + ` ` + side + `" aria-labelledby="matrix-title matrix-desc">` +
		`<title id="matrix-title">Confusion matrix</title>` +
		`<desc id="matrix-desc">A row for each message, a column for each record. ` + thousands(right) + ` of ` + thousands(len(p.Siblings)) +
		` messages are told apart: their own record comes first, which is the diagonal, or behind the cause that they carry.</desc>` +
		`<rect class="matrix-ground" width="` + side + `" height="` + side + `"></rect>` + drawn.String() + `</svg>`)
}
