package diagnose

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
)

// Confidence of the verdicts.
const (
	knownConfidence  = 0.85
	likelyConfidence = 0.5
)

// judge weighs what was found, folds what another hit explains into it, and
// takes back what only follows from it.
func (w *work) judge() {
	w.hits = settle(w.hits)
	for i := range w.hits {
		w.weigh(&w.hits[i])
	}
	w.fold()
	w.demote()
}

// rank turns hits into an answer: the best first.
func (w *work) rank(answer *Answer, opts Options) {
	w.judge()
	groups := w.group()
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
	reported := map[int]bool{}
	for _, g := range groups {
		reported[g.entry] = true
	}
	for i := range w.hits {
		if h := &w.hits[i]; h.twin && !reported[h.entry] && confidenceOf(h.score) >= likelyConfidence {
			reported[h.entry] = true
			w.runnerUp(answer, h.entry, confidenceOf(h.score), "it has the same words")
		}
	}
	if len(answer.Diagnoses) > 0 {
		answer.Verdict = VerdictLikely
		if answer.Diagnoses[0].Confidence >= knownConfidence {
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

// settle keeps, of the hits of one record at one place, the best reading.
func settle(hits []hit) []hit {
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
	ra, rb := a.residue(), b.residue()
	if ra != rb {
		return ra < rb
	}
	if a.reading.joined != b.reading.joined {
		return a.reading.joined == (a.extended || b.extended)
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

// residue counts escapes left in the values.
func (h *hit) residue() int {
	n := 0
	for _, c := range h.captures {
		v := h.reading.m.text[c.Start:c.End]
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
func (w *work) fold() {
	order := orderOf(w.hits, func(a, b *hit) int { return cmp.Compare(a.from, b.from) })
	for x, i := range order {
		a := &w.hits[i]
		for _, j := range order[x+1:] {
			b := &w.hits[j]
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
		if cutA && 2*a.literal < 3*b.literal || cutB && 3*a.literal < 2*b.literal {
			return false
		}
	case a.literal < b.literal || a.literal == b.literal && a.score < b.score:
		return false
	}
	shared := 0
	for _, s := range b.literals() {
		for _, o := range a.literals() {
			lo, hi := max(s[0], o[0]), min(s[1], o[1])
			if hi > lo {
				shared += hi - lo
			}
		}
	}
	return 2*shared > b.literal
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

// demote takes back what only says that something before it failed, where that
// something was found.
func (w *work) demote() {
	cause := -1
	for i := range w.hits {
		h := &w.hits[i]
		if !h.folded && (cause < 0 || h.from < cause) && confidenceOf(h.score) >= likelyConfidence && !h.follows() {
			cause = h.from
		}
	}
	if cause < 0 {
		return
	}
	for i := range w.hits {
		if h := &w.hits[i]; h.from > cause && h.follows() {
			h.score = min(h.score, 1.5)
			h.why = "it follows from what stands before it"
		}
	}
}

// follows reports whether a hit is of a message that only reports a failure
// before it.
func (h *hit) follows() bool {
	if h.literal > 60 {
		return false
	}
	t := h.reading.m.text
	start := h.start
	if bytes.HasSuffix(t[:start], []byte("code ")) {
		start -= 5
	}
	return isConsequence(t[start:h.end])
}

// group is all there is of one record.
type group struct {
	entry      int
	hits       []*hit
	best       *hit
	confidence float64
	why        string
}

func (w *work) group() []group {
	byEntry := map[int]int{}
	var groups []group
	for i := range w.hits {
		h := &w.hits[i]
		if h.folded {
			continue
		}
		k, ok := byEntry[h.entry]
		if !ok {
			k = len(groups)
			byEntry[h.entry] = k
			groups = append(groups, group{entry: h.entry})
		}
		groups[k].hits = append(groups[k].hits, h)
		if b := groups[k].best; b == nil || h.score > b.score {
			groups[k].best = h
		}
	}
	for k := range groups {
		groups[k].confidence = confidenceOf(groups[k].best.score)
		groups[k].why = groups[k].best.reason()
	}
	sort.SliceStable(groups, func(i, j int) bool {
		a, b := groups[i].best, groups[j].best
		if x, y := kindRank(a.kind), kindRank(b.kind); x != y {
			return x < y
		}
		if x, y := w.roleRank(a.entry), w.roleRank(b.entry); x != y {
			return x < y
		}
		if a.score != b.score {
			return a.score > b.score
		}
		return a.from < b.from
	})
	return groups
}

// reason says why a hit was not chosen, should it not be.
func (h *hit) reason() string {
	switch {
	case h.why != "":
		return h.why
	case h.kind == KindTruncated:
		return "only a part of it is in the text"
	case h.otherClass:
		return "another exception is named beside it"
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

func (w *work) roleRank(i int) int {
	switch w.engine.entries[i].Ref.Role {
	case "symptom":
		return 1
	case "wrapper":
		return 2
	}
	return 0
}

// diagnosis is the answer for one record.
func (w *work) diagnosis(g group, opts Options) Diagnosis {
	e := &w.engine.entries[g.entry]
	d := Diagnosis{
		Record: e.Ref, Kind: g.best.kind, Confidence: g.confidence, Count: len(g.hits),
		Evidence: []Evidence{}, Solutions: e.Solutions,
	}
	sort.SliceStable(g.hits, func(i, j int) bool { return g.hits[i].from < g.hits[j].from })
	for _, h := range g.hits {
		if len(d.Evidence) == opts.MaxEvidence {
			break
		}
		d.Evidence = append(d.Evidence, w.evidence(h))
	}
	if d.Solutions == nil {
		d.Solutions = []string{}
	}
	return d
}

func (w *work) evidence(h *hit) Evidence {
	m := h.reading.m
	ev := Evidence{
		Start: h.from, End: h.to, Text: string(m.text[h.start:h.end]),
		Captures: []CaptureSpan{}, Undone: m.undone(h.start, h.end).names(),
	}
	ev.Line, ev.Column = w.place(h.from)
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

// place is line and column of an offset of the input.
func (w *work) place(at int) (lineNo, column int) {
	const step = 4 << 10
	for done := len(w.lines) * step; done <= at; done += step {
		n := 0
		if k := len(w.lines); k > 0 {
			n = w.lines[k-1] + bytes.Count(w.input[done-step:done], newline)
		}
		w.lines = append(w.lines, n)
	}
	k := at / step
	lineNo = w.lines[k] + bytes.Count(w.input[k*step:at], newline) + 1
	return lineNo, at - bytes.LastIndexByte(w.input[:at], '\n')
}
