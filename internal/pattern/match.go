package pattern

import (
	"bytes"
	"sync"
)

// maxValue is the longest value a gap takes, in bytes. A person would not call
// more than that one value, and the bound keeps matching linear.
const maxValue = 8 << 10

// maxReadings is how many places of one literal are weighed against each other.
const maxReadings = 8

// each calls report for every place of text where the pattern stands, until
// report returns false.
func (p *Pattern) each(text []byte, report func(Match) bool) {
	if p.fallback != nil {
		p.eachFallback(text, report)
		return
	}
	m := matchers.Get().(*matcher)
	defer m.put()
	vs := m.decode(p.rec)
	m.reset(text, &vs[0])
	for from := 0; from <= len(text); {
		r, ok := m.nextOf(vs, text, from, len(text))
		if !ok || !report(m.match()) {
			return
		}
		from = max(r.end, from+1)
	}
}

var matchers = sync.Pool{New: func() any { return new(matcher) }}

// put gives the scratch space back without the text, which is to be forgotten.
func (m *matcher) put() {
	m.text, m.v = nil, nil
	matchers.Put(m)
}

// nextOf finds the first match of any of the variants. Of those that begin at
// the same place the first variant wins. The matcher holds its reading. A single
// variant must have been set by reset, so that what was learnt of a text is kept
// from one call to the next.
func (m *matcher) nextOf(vs []variant, text []byte, from, to int) (reading, bool) {
	best, which, ok := reading{}, -1, false
	for i := range vs {
		if len(vs) > 1 {
			m.reset(text, &vs[i])
		}
		if r, found := m.next(from, to); found && (!ok || r.start < best.start) {
			best, which, ok = r, i, true
		}
	}
	if ok && which != len(vs)-1 {
		m.reset(text, &vs[which])
		m.next(from, to)
	}
	return best, ok
}

func (p *Pattern) eachFallback(text []byte, report func(Match) bool) {
	if p.required != "" && !bytes.Contains(text, []byte(p.required)) {
		return
	}
	names := p.fallback.SubexpNames()
	for _, loc := range p.fallback.FindAllSubmatchIndex(text, -1) {
		m := Match{Start: loc[0], End: loc[1]}
		for i, name := range names {
			if name != "" && loc[2*i] >= 0 {
				m.Captures = append(m.Captures, Capture{name, loc[2*i], loc[2*i+1]})
			}
		}
		if !report(m) {
			return
		}
	}
}

// reading is one way to lay a variant on the text. The cost says how strange a
// person would find it.
type reading struct {
	start, end int
	cost       int
}

// place is an occurrence of a chain with the cheapest way to reach it.
type place struct {
	start, end int
	cost       int
	prev       int
}

// matcher lays variants on a text. It is scratch space that is used again and
// again, so that looking costs no allocation.
type matcher struct {
	layout

	text   []byte
	v      *variant
	end    int       // of the window
	ahead  []ahead   // per chain
	levels [][]place // per chain
	at     []int     // start of every step of the chosen reading, and the end
	head   int       // start of the head gaps
	tail   int       // end of the tail gaps

	lineFrom, lineTo int // a place and the end of its line

	work int // bytes looked at, for tests of the worst case
}

// ahead remembers that the next occurrence of a chain for every place between
// from and next.start is next; none beyond it was found when end is less. With it
// a text is searched for a chain once, however many places ask.
type ahead struct {
	from int
	next place
}

func (m *matcher) reset(text []byte, v *variant) {
	m.text, m.v, m.end = text, v, -1
}

// window sets the end of the text that may be matched.
func (m *matcher) window(to int) {
	if m.end == to {
		return
	}
	m.end = to
	m.lineFrom, m.lineTo = 0, -1
	for len(m.ahead) < len(m.v.chains) {
		m.ahead = append(m.ahead, ahead{})
		m.levels = append(m.levels, nil)
	}
	for k := range m.v.chains {
		m.ahead[k] = ahead{from: -1}
	}
}

// next finds the first match that starts at from or later and ends at to or
// earlier. What stands around the window is looked at for boundaries only.
func (m *matcher) next(from, to int) (reading, bool) {
	if len(m.v.chains) == 0 {
		return reading{}, false
	}
	m.window(to)
	low := from
	for from <= to {
		first, ok := m.find(0, from, to)
		if !ok {
			return reading{}, false
		}
		best, barren, ok := m.lay(first, low)
		if !ok {
			from = first.start + 1
			if barren > from {
				from = barren
			}
			continue
		}
		chosen, laid := first, first
		for tries := 0; tries < 4 && len(m.v.chains) > 1; tries++ {
			f, ok := m.find(0, laid.start+1, best.end)
			if !ok {
				break
			}
			laid = f
			if r, _, ok := m.lay(f, low); ok && r.cost < best.cost {
				best, chosen = r, f
			}
		}
		if laid.start != chosen.start {
			m.lay(chosen, low)
		}
		m.settle()
		return best, true
	}
	return reading{}, false
}

// settle writes down where every step of the reading in m.levels begins.
func (m *matcher) settle() {
	v := m.v
	if cap(m.at) < len(v.steps)+1 {
		m.at = make([]int, len(v.steps)+1)
	}
	m.at = m.at[:len(v.steps)+1]
	next := m.tail
	m.at[len(v.steps)] = next
	which := 0
	to := len(v.steps)
	for k := len(v.chains) - 1; k >= 0; k-- {
		o := m.levels[k][which]
		c := v.chains[k]
		m.split(v.steps[c.to:to], o.end, next, m.at[c.to:to])
		if c.to-c.from == 1 {
			m.at[c.from] = o.start
		} else {
			m.walk(c, o.start, m.at)
		}
		next, which, to = o.start, o.prev, c.from
	}
	m.split(v.steps[:to], m.head, next, m.at[:to])
}

// match makes the match of the reading that settle wrote down.
func (m *matcher) match() Match {
	out := Match{Start: m.at[0], End: m.at[len(m.v.steps)]}
	if last := len(m.v.steps) - 1; m.v.stopMayMiss(last) && out.End-m.at[last] < len(m.v.steps[last].text) {
		out.NoStop = true
	}
	if len(m.v.marks) > 0 {
		out.Captures = make([]Capture, 0, len(m.v.marks))
	}
	for _, k := range m.v.marks {
		from, to := m.at[k.from]+k.off, m.at[k.to]+k.endOff
		for from < to && isBlank(m.text[from]) {
			from++
		}
		for from < to && isBlank(m.text[to-1]) {
			to--
		}
		out.Captures = append(out.Captures, Capture{string(k.name), from, to})
	}
	return out
}
