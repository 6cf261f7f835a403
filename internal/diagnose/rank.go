package diagnose

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// Confidence from which on an answer is known, and from which on it is likely. Below,
// nothing is reported.
const (
	KnownConfidence  = 0.9
	likelyConfidence = 0.5
)

// judge weighs what was found and folds what another hit explains into it.
func (w *work) judge() {
	w.hits = settle(dropOverruns(w.hits))
	w.telling = nil
	for i := range w.hits {
		w.weigh(&w.hits[i])
		w.hits[i].follows = w.hits[i].isConsequence()
	}
	fold(w.hits)
	w.introduce()
}

// rank turns what was found into an answer: the best first.
func (w *work) rank(answer *Answer, opts Options) {
	groups := w.tally.ranked(w.roleRank)
	answer.Verdict = VerdictUnknown
	for _, g := range groups {
		if g.confidence < likelyConfidence {
			w.runnerUp(answer, g.entry, g.confidence, g.why)
			continue
		}
		if len(answer.Diagnoses) < opts.MaxDiagnoses {
			answer.Diagnoses = append(answer.Diagnoses, w.diagnosis(g, opts))
		}
	}
	for _, entry := range w.tally.twinsLeft() {
		w.runnerUp(answer, entry, w.tally.twins[entry], "it has the same words")
	}
	if len(answer.Diagnoses) > 0 {
		answer.Verdict = VerdictLikely
		if answer.Diagnoses[0].Confidence >= KnownConfidence {
			answer.Verdict = VerdictKnown
		}
	}
}

// maxRunnersUp is how many records that were not chosen are named, and
// minRunnerUp the confidence below which none is worth it.
const (
	maxRunnersUp = 5
	minRunnerUp  = 0.05
)

func (w *work) runnerUp(answer *Answer, entry int, confidence float64, why string) {
	if len(answer.RunnersUp) < maxRunnersUp && confidence >= minRunnerUp {
		answer.RunnersUp = append(answer.RunnersUp, RunnerUp{
			Record: w.engine.entries[entry].Ref, Confidence: confidence, Why: why,
		})
	}
}

// introduce puts what only introduces another message behind it: a message without a
// value at its end, a colon, and the other one.
func (w *work) introduce() {
	var at map[int][]*hit // by where they begin; made when needed
	for i := range w.hits {
		a := &w.hits[i]
		if a.folded || a.kind == KindCode || a.owner >= 0 && w.engine.owners[a.owner].tail {
			continue
		}
		rest := w.input[a.to:min(a.to+8, len(w.input))]
		if len(rest) < 2 || rest[0] != ':' || rest[1] != ' ' {
			continue
		}
		if at == nil {
			at = map[int][]*hit{}
			for j := range w.hits {
				if b := &w.hits[j]; !b.folded && confidenceOf(b.score) >= likelyConfidence {
					at[b.from] = append(at[b.from], b)
				}
			}
		}
		for _, b := range at[a.to+len(rest)-len(bytes.TrimLeft(rest[1:], " "))] {
			if b.entry != a.entry && b.score <= a.score {
				a.score = b.score - 0.1
				a.why = "it introduces what stands behind it"
			}
		}
	}
}

// dropOverruns leaves out the readings of wrapped lines in which a value swallows a
// line that another message begins.
func dropOverruns(hits []hit) []hit {
	if !slices.ContainsFunc(hits, func(h hit) bool { return h.extended }) {
		return hits
	}
	var begin []int // of lines, in the input
	for i := range hits {
		h := &hits[i]
		if h.extended || h.reading.isLong() || h.kind == KindCode || h.worth < 1.5 {
			continue
		}
		if l := h.reading.lineAt(h.start); h.start <= l.body || h.start <= l.message && l.level > levelNone {
			begin = append(begin, h.from)
		}
	}
	slices.Sort(begin)
	return slices.DeleteFunc(hits, func(h hit) bool {
		if !h.extended {
			return false
		}
		for _, c := range h.captures {
			from, to := h.reading.m.span(c.Start, c.End)
			if k, _ := slices.BinarySearch(begin, from+1); k < len(begin) && begin[k] < to {
				return true
			}
		}
		return false
	})
}

// settle keeps, of the hits of one record at one place, the best reading.
func settle(hits []hit) []hit {
	if len(hits) < 2 {
		return hits
	}
	order := orderOf(hits, func(a, b *hit) int {
		return cmp.Or(cmp.Compare(a.entry, b.entry), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	out := make([]hit, 0, len(hits))
	for _, i := range order {
		h, n := &hits[i], len(out)
		if n > 0 && out[n-1].entry == h.entry && h.from < out[n-1].to {
			if better(h, &out[n-1]) {
				out[n-1] = *h
			}
			continue
		}
		out = append(out, *h)
	}
	return out
}

// orderOf is the order of hits, those that are equal as they come. Hits are large,
// so they stay where they are.
func orderOf(hits []hit, compare func(a, b *hit) int) []int {
	order := make([]int, len(hits))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return compare(&hits[i], &hits[j]) })
	return order
}

// better reports whether a is the better reading of the same message.
func better(a, b *hit) bool {
	if x, y := kindRank(a.kind), kindRank(b.kind); x != y {
		return x < y
	}
	if a.share != b.share {
		return a.share > b.share
	}
	if a.retyped != b.retyped {
		return b.retyped
	}
	ra, rb := a.residue(), b.residue()
	if ra != rb {
		return ra < rb
	}
	if x, y := a.reading.isLong(), b.reading.isLong(); x != y {
		return x == (a.extended || b.extended)
	}
	if a.reading.unwrapped != b.reading.unwrapped {
		return a.reading.unwrapped
	}
	if a.literal != b.literal {
		return a.literal > b.literal
	}
	if a.reading.enclosed != b.reading.enclosed {
		return a.reading.enclosed
	}
	if a.reading.depth != b.reading.depth {
		return (a.reading.depth < b.reading.depth) != a.reading.enclosed
	}
	return a.end-a.start < b.end-b.start
}

// residue counts escapes and doubled quotes left in the values.
func (h *hit) residue() int {
	n := 0
	t := h.reading.m.text
	for _, c := range h.captures {
		v := t[c.Start:c.End]
		if k := len(v); k > 0 && (c.Start > 0 && isQuote(v[0]) && v[0] == t[c.Start-1] || c.End < len(t) && isQuote(v[k-1]) && v[k-1] == t[c.End]) {
			n++
		}
		for i := 0; i+1 < len(v); i++ {
			if v[i] == '\\' && (v[i+1] == '"' || v[i+1] == '\\' || v[i+1] == 'n' || v[i+1] == 'u') {
				n++
				i++
			}
		}
	}
	return n
}

// fold marks the hits that another one explains: their literal text lies in the
// literal text of a hit that has more of it.
func fold(hits []hit) {
	if len(hits) < 2 {
		return
	}
	order := orderOf(hits, byPlace)
	for x, i := range order {
		a := &hits[i]
		for _, j := range order[x+1:] {
			b := &hits[j]
			if b.from >= a.to {
				break
			}
			if a.entry == b.entry {
				continue
			}
			if a.shadows(b) {
				b.foldInto(a)
			} else if b.shadows(a) {
				a.foldInto(b)
			}
		}
	}
}

// foldInto marks a hit as explained by another one. One that has the very same
// words is a twin: which of them was meant cannot be told from the text.
func (b *hit) foldInto(a *hit) {
	b.folded = true
	b.twin = b.kind != KindTruncated && a.kind != KindTruncated && b.literal == a.literal && b.from == a.from
}

// shadows reports whether a explains b.
func (a *hit) shadows(b *hit) bool {
	switch cutA, cutB := a.kind == KindTruncated, b.kind == KindTruncated; {
	case cutA != cutB:
		// What is whole needs less text than what is not.
		if cutA && !b.isHeadOf(a) && 2*a.literal < 3*b.literal || cutB && (a.isHeadOf(b) || 3*a.literal < 2*b.literal) {
			return false
		}
	case a.literal < b.literal || a.literal == b.literal && (a.score < b.score || a.score == b.score && a.share < b.share):
		return false
	}
	return 2*a.shared(b) > b.literal
}

// shared is how much of the literal text of b is literal text of a as well.
func (a *hit) shared(b *hit) int {
	n := 0
	for _, s := range b.literals() {
		for _, o := range a.literals() {
			n += max(0, min(s[1], o[1])-max(s[0], o[0]))
		}
	}
	return n
}

// isHeadOf reports whether a message that is there whole is only the beginning of one
// that was cut: with the longer one more of the text is explained, up to its end.
func (h *hit) isHeadOf(cut *hit) bool {
	return cut.from <= h.from && cut.to >= h.to && cut.literal > h.literal+1 && !cut.retyped && cut.shared(h) == h.literal
}

// literals are the stretches of the input that hold literal text of a hit.
func (h *hit) literals() [][2]int {
	var out [][2]int
	at := h.start
	put := func(from, to int) {
		if to > from {
			f, t := h.reading.m.span(from, to)
			out = append(out, [2]int{f, t})
		}
	}
	for _, c := range h.captures {
		put(at, c.Start)
		at = max(at, c.End)
	}
	put(at, h.end)
	return out
}

// isConsequence reports whether a hit is of a message that only reports a failure
// before it.
func (h *hit) isConsequence() bool {
	return h.literal <= 60 && isConsequence(h.reading.m.text[h.start:h.end])
}

// headed reports whether a hit that is sure stands in a line that says that it is an
// error. What is said around it, before and after, explains or leads to it.
func (h *hit) headed() bool {
	return h.level >= levelError && confidenceOf(h.score) >= KnownConfidence
}

// reason says why a hit was not chosen, should it not be.
func (h *hit) reason() string {
	switch {
	case h.why != "":
		return h.why
	case h.kind == KindTruncated:
		return "only a part of it is in the text"
	case h.beside == besideClass:
		return "another exception is named beside it"
	case h.beside == besideProgram:
		return "what stands before it is of another program"
	case h.beside == besideRuntime:
		return "what stands before it is of a language"
	case h.worth < 2:
		return "its words are few or common, and nothing else speaks for it"
	}
	return "it stands in the middle of other text"
}

func kindRank(k Kind) int {
	switch k {
	case KindExact, KindNormalized:
		return 0
	case KindHistoric:
		return 1
	case KindTruncated:
		return 2
	}
	return 3
}

func (w *work) roleRank(i int) int { return roleRank(w.engine.entries[i].Ref.Role) }

func roleRank(role string) int {
	switch role {
	case "symptom":
		return 1
	case "wrapper":
		return 2
	}
	return 0
}

// diagnosis is the answer for one record.
func (w *work) diagnosis(g *group, opts Options) Diagnosis {
	e := &w.engine.entries[g.entry]
	d := Diagnosis{
		Record: e.Ref, Kind: g.kind, Confidence: g.confidence, Count: g.count,
		Evidence: []Evidence{}, Solutions: e.Solutions,
	}
	for i := range g.places {
		if len(d.Evidence) == opts.MaxEvidence {
			break
		}
		d.Evidence = append(d.Evidence, w.evidence(&g.places[i]))
	}
	if d.Solutions == nil {
		d.Solutions = []string{}
	}
	return d
}

// evidence is what is told about a place.
func (w *work) evidence(p *kept) (ev Evidence) {
	switch {
	case p.made != nil:
		ev = *p.made
	case p.full != nil:
		ev = evidenceOf(p.full)
	default:
		ev = p.evidence(w.input)
	}
	if ev.Line == 0 {
		ev.Line, ev.Column = w.place(p.from)
	}
	return ev
}

// evidence is the evidence of a place in an entry that was read the short way:
// nothing was done to its text but blanks.
func (p *kept) evidence(input []byte) Evidence {
	raw := input[p.from:p.to]
	text := squeezed(raw)
	ev := Evidence{Start: p.from, End: p.to, Text: text, Captures: make([]CaptureSpan, 0, len(p.captures)), Undone: []string{}}
	if len(text) < len(raw) {
		ev.Undone = layerSet(1 << layerSpace).names()
	}
	for _, c := range p.captures {
		ev.Captures = append(ev.Captures, CaptureSpan{Name: c.Name, Value: squeezed(input[c.Start:c.End]), Start: c.Start, End: c.End})
	}
	return ev
}

// squeezed is a text with one blank for each run of them.
func squeezed(t []byte) string {
	if !bytes.Contains(t, twoBlanks) {
		return string(t)
	}
	var b strings.Builder
	for i, c := range t {
		if c != ' ' || i == 0 || t[i-1] != ' ' {
			b.WriteByte(c)
		}
	}
	return b.String()
}

var twoBlanks = []byte("  ")

// evidenceOf is the evidence of a hit, but for line and column.
func evidenceOf(h *hit) Evidence {
	m := h.reading.m
	ev := Evidence{
		Start: h.from, End: h.to, Text: string(m.text[h.start:h.end]),
		Captures: []CaptureSpan{}, Undone: m.undone(h.start, h.end).names(),
	}
	for _, c := range h.captures {
		from, to := m.span(c.Start, c.End)
		ev.Captures = append(ev.Captures, CaptureSpan{
			Name: c.Name, Value: string(m.text[c.Start:c.End]), Start: from, End: to,
		})
	}
	ev.Captures = append(ev.Captures, h.given...)
	for i := range h.given {
		c := &ev.Captures[len(ev.Captures)-len(h.given)+i]
		c.Start, c.End = h.from, h.to
	}
	return ev
}

var newline = []byte{'\n'}

// stepSize is from where to where line ends are counted once.
const stepSize = 4 << 10

// place is line and column of an offset of the input.
func (w *work) place(at int) (lineNo, column int) {
	for done := len(w.lines) * stepSize; done <= at; done += stepSize {
		n := 0
		if k := len(w.lines); k > 0 {
			n = w.lines[k-1] + bytes.Count(w.input[done-stepSize:done], newline)
		}
		w.lines = append(w.lines, n)
	}
	k := at / stepSize
	lineNo = w.lines[k] + bytes.Count(w.input[k*stepSize:at], newline) + 1
	return lineNo, at - bytes.LastIndexByte(w.input[:at], '\n')
}
