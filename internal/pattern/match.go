package pattern

import (
	"bytes"
	"sync"
	"unicode/utf8"
)

// maxValue is the longest value a gap takes, in bytes. A person would not call
// more than that one value, and the bound keeps matching linear.
const maxValue = 16 << 10

// maxReadings is how many places of one literal are weighed against each other.
const maxReadings = 12

// each calls report for every place of text where the pattern stands, until
// report returns false.
func (p *Pattern) each(text []byte, report func(Match) bool) {
	if p.fallback != nil {
		p.eachFallback(text, report)
		return
	}
	m := matchers.Get().(*matcher)
	defer matchers.Put(m)
	vs := m.decode(p.rec)
	for from := 0; from <= len(text); {
		r, ok := m.nextOf(vs, text, from, len(text))
		if !ok || !report(m.match()) {
			return
		}
		from = max(r.end, from+1)
	}
}

var matchers = sync.Pool{New: func() any { return new(matcher) }}

// nextOf finds the first match of any of the variants. Of those that begin at
// the same place the first variant wins. The matcher holds its reading.
func (m *matcher) nextOf(vs []variant, text []byte, from, to int) (reading, bool) {
	best, which, ok := reading{}, -1, false
	for i := range vs {
		m.reset(text, &vs[i])
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
	levels [][]place // per chain
	at     []int     // start of every step of the chosen reading, and the end
	head   int       // start of the head gaps
	tail   int       // end of the tail gaps
}

func (m *matcher) reset(text []byte, v *variant) {
	m.text, m.v = text, v
}

// next finds the first match that starts at from or later and ends at to or
// earlier. What stands around the window is looked at for boundaries only.
func (m *matcher) next(from, to int) (reading, bool) {
	if len(m.v.chains) == 0 {
		return reading{}, false
	}
	m.end = to
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
		chosen := first
		for tries, f := 0, first; tries < 4; tries++ {
			if f, ok = m.find(0, f.start+1, best.end); !ok {
				break
			}
			if r, _, ok := m.lay(f, low); ok && r.cost < best.cost {
				best, chosen = r, f
			}
		}
		m.lay(chosen, low)
		m.settle()
		return best, true
	}
	return reading{}, false
}

// lay finds the cheapest reading whose first chain is at first. When there is
// none, barren is the place before which no other start can do better.
func (m *matcher) lay(first place, low int) (best reading, barren int, ok bool) {
	v := m.v
	n := len(v.chains)
	for len(m.levels) < n {
		m.levels = append(m.levels, nil)
	}
	m.levels[0] = append(m.levels[0][:0], place{first.start, first.end, m.startCost(first), -1})
	for k := 1; k < n; k++ {
		gaps := v.steps[v.chains[k-1].to:v.chains[k].from]
		prev := m.levels[k-1]
		level := m.levels[k][:0]
		seen := 0
		from := prev[0].end
		limit := 0
		for i := range prev {
			limit = max(limit, m.limit(gaps, prev[i].end))
		}
		for from <= limit && len(level) < maxReadings && seen < 4*maxReadings {
			o, ok := m.find(k, from, limit)
			if !ok {
				break
			}
			seen++
			o.prev = -1
			for i := range prev {
				a := prev[i].end
				if a > o.start {
					break
				}
				if o.start > m.limit(gaps, a) || !m.fits(gaps, a, o.start) {
					continue
				}
				c := prev[i].cost + m.gapCost(k, a, o)
				if o.prev < 0 || c < o.cost {
					o.cost, o.prev = c, i
				}
			}
			if o.prev >= 0 {
				level = append(level, o)
			}
			from = o.start + 1
		}
		m.levels[k] = level
		if len(level) == 0 {
			if seen == 0 && !v.lines && (k == 1 || allAny(v.steps[v.chains[0].to:v.chains[k].from])) {
				barren = limit - (first.end - first.start) + 1
			}
			return reading{}, barren, false
		}
	}
	at := -1
	for i, o := range m.levels[n-1] {
		head, ok1 := m.headStart(first.start, low)
		tail, ok2 := m.tailEnd(first.start, o)
		if !ok1 || !ok2 {
			continue
		}
		cost := o.cost + m.tailCost(o, tail)
		if at < 0 || cost < best.cost {
			at, best = i, reading{head, tail, cost}
		}
	}
	if at < 0 {
		return reading{}, 0, false
	}
	m.head, m.tail = best.start, best.end
	m.levels[n-1][0], m.levels[n-1] = m.levels[n-1][at], m.levels[n-1][:1]
	return best, 0, true
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
		m.walk(c, o.start, m.at)
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
		out.Captures = append(out.Captures, Capture{string(k.name), m.at[k.from] + k.off, m.at[k.to] + k.endOff})
	}
	return out
}

// find returns the first occurrence of chain k that starts in [from, limit].
func (m *matcher) find(k, from, limit int) (place, bool) {
	c := m.v.chains[k]
	first := &m.v.steps[c.from]
	for from <= limit {
		start := from
		switch {
		case first.kind == literal:
			text := m.v.sure(c.from)
			window := m.text[from:min(m.end, limit+len(text))]
			i := -1
			if first.fold {
				i = indexFold(window, text)
			} else {
				i = bytes.Index(window, text)
			}
			if i < 0 {
				return place{}, false
			}
			start += i
		default: // white space
			for start < m.end && start <= limit && !isBlank(m.text[start]) {
				start++
			}
			if start > limit || start >= m.end {
				return place{}, false
			}
		}
		if start > limit {
			return place{}, false
		}
		if end, ok := m.walk(c, start, nil); ok && m.bounded(k, start, end) {
			return place{start: start, end: end}, true
		}
		from = start + 1
	}
	return place{}, false
}

// bounded reports whether an outer end of the variant is not inside a word.
func (m *matcher) bounded(k, start, end int) bool {
	v := m.v
	if k == 0 && v.chains[0].from == 0 && insideWord(m.text, start) {
		return false
	}
	last := len(v.chains) - 1
	return k != last || v.chains[last].to < len(v.steps) || !insideWord(m.text, end)
}

// walk matches the steps of a chain at start and notes where each begins.
func (m *matcher) walk(c span, start int, at []int) (end int, ok bool) {
	i := start
	for s := c.from; s < c.to; s++ {
		if at != nil {
			at[s] = i
		}
		st := &m.v.steps[s]
		if st.kind == space {
			j := i
			for j < m.end && isBlank(m.text[j]) {
				j++
			}
			if j-i < st.min {
				return 0, false
			}
			i = j
			continue
		}
		n := len(st.text)
		if !m.stands(st, n, i) {
			if !m.v.stopMayMiss(s) || !m.stands(st, n-1, i) || !m.breaksOff(i+n-1) {
				return 0, false
			}
			n--
		}
		i += n
	}
	return i, true
}

// stands reports whether the first n bytes of a literal stand at i.
func (m *matcher) stands(st *step, n, i int) bool {
	if m.end-i < n {
		return false
	}
	have := m.text[i : i+n]
	return bytes.Equal(have, st.text[:n]) || st.fold && equalFold(have, st.text[:n])
}

// breaksOff reports whether a message may end at i for lack of its full stop: at
// the end of the line, or where a quote or bracket around it closes.
func (m *matcher) breaksOff(i int) bool {
	for i < len(m.text) && (m.text[i] == ' ' || m.text[i] == '\t' || m.text[i] == '\r') {
		i++
	}
	if i == len(m.text) {
		return true
	}
	switch m.text[i] {
	case '\n', '"', '\'', '`', ')', ']', '}', '<', '*', '\x1b':
		return true
	}
	return false
}

// limit returns the last place where gaps that begin at from may end.
func (m *matcher) limit(gaps []step, from int) int {
	end := min(m.end, from+maxValue)
	if len(gaps) == 1 && gaps[0].set == anyLine {
		return lineEnd(m.text[:end], from)
	}
	var union byteSet
	for _, g := range gaps {
		for i := range union {
			union[i] |= g.set.union[i]
		}
	}
	for i := from; i < end; i++ {
		if !union.has(m.text[i]) {
			return i
		}
	}
	return end
}

// fits reports whether the gaps can share the text between from and to.
func (m *matcher) fits(gaps []step, from, to int) bool {
	if len(gaps) == 1 {
		g := &gaps[0]
		return g.set.any || g.set.whole(m.text[from:to])
	}
	return m.split(gaps, from, to, nil)
}

// split shares the text between from and to among neighbouring gaps and notes
// where each begins: a gap with a set takes as much as it can, the first of
// those without one takes the rest.
func (m *matcher) split(gaps []step, from, to int, at []int) bool {
	if len(gaps) == 0 {
		return from == to
	}
	if at != nil {
		at[0] = from
	}
	g := &gaps[0]
	if len(gaps) == 1 {
		return g.set.any || g.set.whole(m.text[from:to])
	}
	rest := at
	if at != nil {
		rest = at[1:]
	}
	if g.set.any {
		if allAny(gaps[1:]) {
			return m.split(gaps[1:], to, to, rest)
		}
		for i := from; i <= min(to, from+256); i++ {
			if m.whole(i, to) && m.split(gaps[1:], i, to, rest) {
				return true
			}
		}
		return false
	}
	for n := g.set.prefix(m.text[from:to]); n >= 0; n-- {
		if m.whole(from+n, to) && g.set.whole(m.text[from:from+n]) && m.split(gaps[1:], from+n, to, rest) {
			return true
		}
	}
	return false
}

// whole reports whether i is not inside a character of a text that ends at end.
func (m *matcher) whole(i, end int) bool { return i >= end || utf8.RuneStart(m.text[i]) }

func allAny(gaps []step) bool {
	for i := range gaps {
		if gaps[i].kind == gap && !gaps[i].set.any {
			return false
		}
	}
	return true
}
