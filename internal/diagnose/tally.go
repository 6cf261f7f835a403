package diagnose

import (
	"cmp"
	"slices"

	"errorkb/internal/pattern"
)

// tally counts what was found, by record. Of each record it keeps the best hit and
// the first places, so its size does not depend on the length of the text.
type tally struct {
	most    int         // places that are kept of each record
	forget  bool        // the readings are gone when the answer is made
	base    int         // where the part begins that the hits are places of
	passing *share      // that part, when its text is gone when the answer is made
	cause   int         // where the first cause stands, -1 when there was none
	index   map[int]int // by record, where there are many: its group
	groups  []group
	twins   map[int]float64 // by record: confidence of the first hit with the words of another
}

// group is all there is of one record.
type group struct {
	entry      int
	count      int
	kind       Kind // of the best hit, as what follows
	score      float64
	from       int
	headed     bool // it stands in a line that says that it is an error
	why        string
	aside      bool // it is nothing but a detail or a hint
	confidence float64
	places     []kept
}

// kept is a place of which the evidence may be asked for.
type kept struct {
	from, to int               // in the input
	captures []pattern.Capture // in the input; of an entry that was read the short way
	full     *hit              // of others
	made     *Evidence         // of others whose readings are gone; with its line if the text is, too
}

// add counts a hit. Hits come in the order of their places: what only says that
// something before it failed is taken back where that something was found.
func (t *tally) add(h *hit) {
	from := t.base + h.from
	if t.cause < 0 && !h.folded && !h.follows && confidenceOf(h.score) >= likelyConfidence {
		t.cause = from
	}
	if t.cause >= 0 && from > t.cause && h.follows {
		h.score = min(h.score, 1.5)
		h.why = "it follows from what stands before it"
	}
	if h.folded {
		if h.twin {
			if _, ok := t.twins[h.entry]; !ok {
				if c := confidenceOf(h.score); c >= likelyConfidence {
					if t.twins == nil {
						t.twins = map[int]float64{}
					}
					t.twins[h.entry] = c
				}
			}
		}
		return
	}
	g := t.of(h.entry)
	if g == nil {
		t.groups = append(t.groups, group{entry: h.entry})
		g = &t.groups[len(t.groups)-1]
		if len(t.groups) > fewGroups {
			if t.index == nil {
				t.index = map[int]int{}
				for k := range t.groups {
					t.index[t.groups[k].entry] = k
				}
			}
			t.index[h.entry] = len(t.groups) - 1
		}
	}
	g.aside = h.aside && (g.count == 0 || g.aside)
	if g.count == 0 || h.score > g.score {
		g.kind, g.score, g.from, g.headed, g.why = h.kind, h.score, from, h.headed(), h.reason()
	}
	if g.count++; len(g.places) < t.most {
		g.places = append(g.places, t.keep(h))
	}
}

// keep is what the evidence of a hit is made of.
func (t *tally) keep(h *hit) kept {
	p := kept{from: h.from, to: h.to}
	switch {
	case h.reading == nil:
		p.captures = h.captures
	case t.forget:
		ev := evidenceOf(h)
		p.made = &ev
	default:
		p.full = h
		return p
	}
	if t.passing != nil {
		ev := t.passing.evidence(&p)
		ev.Line, ev.Column = t.passing.chunk.base.place(ev.Line, ev.Column)
		p.made, p.captures = &ev, nil
	}
	p.move(t.base)
	return p
}

// move makes places in a part that begins at base places in the whole.
func (p *kept) move(base int) {
	p.from, p.to = p.from+base, p.to+base
	for i := range p.captures {
		p.captures[i].Start += base
		p.captures[i].End += base
	}
	if ev := p.made; ev != nil {
		ev.Start, ev.End = ev.Start+base, ev.End+base
		for i := range ev.Captures {
			ev.Captures[i].Start += base
			ev.Captures[i].End += base
		}
	}
}

// fewGroups are found by looking at all of them.
const fewGroups = 8

// of is the group of a record, nil when nothing was found of it.
func (t *tally) of(entry int) *group {
	if t.index != nil {
		if k, ok := t.index[entry]; ok {
			return &t.groups[k]
		}
		return nil
	}
	for k := range t.groups {
		if t.groups[k].entry == entry {
			return &t.groups[k]
		}
	}
	return nil
}

// addAll counts hits that come in any order.
func (t *tally) addAll(hits []hit) {
	for _, i := range orderOf(hits, byPlace) {
		t.add(&hits[i])
	}
}

func byPlace(a, b *hit) int { return cmp.Compare(a.from, b.from) }

// ranked are the records, the best first.
func (t *tally) ranked(roleRank func(entry int) int) []*group {
	type ranked struct {
		*group
		order int // what counts more than the score
	}
	list := make([]ranked, len(t.groups))
	for k := range t.groups {
		g := &t.groups[k]
		g.confidence = confidenceOf(g.score)
		list[k] = ranked{g, kindRank(g.kind)<<8 | roleRank(g.entry)<<2}
		if g.aside {
			list[k].order |= 2
		}
		if !g.headed {
			list[k].order |= 1
		}
	}
	slices.SortFunc(list, func(a, b ranked) int {
		switch {
		case a.order != b.order:
			return cmp.Compare(a.order, b.order)
		case a.score != b.score:
			return cmp.Compare(b.score, a.score)
		}
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.entry, b.entry))
	})
	groups := make([]*group, len(list))
	for k := range list {
		groups[k] = list[k].group
	}
	return groups
}

// twinsLeft are the records of which nothing was found but words that another one
// has as well, in order.
func (t *tally) twinsLeft() []int {
	var list []int
	for entry := range t.twins {
		if t.of(entry) == nil {
			list = append(list, entry)
		}
	}
	slices.Sort(list)
	return list
}
