package pattern

import (
	"bytes"
	"math"
	"unicode/utf8"
)

// lay finds the cheapest reading whose first chain is at first. When there is
// none, barren is the place before which no other start can do better.
func (m *matcher) lay(first place, low int) (best reading, barren int, ok bool) {
	v := m.v
	n := len(v.chains)
	m.levels[0] = append(m.levels[0][:0], place{first.start, first.end, m.startCost(first), -1})
	for k := 1; k < n; k++ {
		gaps := v.steps[v.chains[k-1].to:v.chains[k].from]
		prev := m.levels[k-1]
		level := m.levels[k][:0]
		seen, cheapest := 0, math.MaxInt
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
			// The nearest first: what is further costs more by its length alone.
			for i := len(prev) - 1; i >= 0; i-- {
				a := prev[i].end
				if a > o.start || o.prev >= 0 && prev[i].cost+o.start-a > o.cost {
					continue
				}
				if o.start > m.limit(gaps, a) || !m.fits(gaps, a, o.start) || k == n-1 && m.runsOn(a, o) {
					continue
				}
				c := prev[i].cost + m.gapCost(k, a, o)
				if o.prev < 0 || c <= o.cost {
					o.cost, o.prev = c, i
				}
			}
			if o.prev >= 0 {
				level = append(level, o)
				cheapest = min(cheapest, o.cost)
			}
			if k == n-1 && v.chains[k].to == len(v.steps) && further(prev, o.start+1) >= cheapest {
				break // the pattern ends here, and whatever comes costs more
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
	head, ok := m.headStart(first.start, low)
	if !ok {
		return reading{}, 0, false
	}
	headCost := m.headCost(head, first)
	at := -1
	for i, o := range m.levels[n-1] {
		tail, ok := m.tailEnd(first.start, o)
		if !ok {
			continue
		}
		cost := o.cost + m.tailCost(o, tail) + headCost
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

// further returns the least that a value costs that goes on to from or further.
func further(prev []place, from int) int {
	least := math.MaxInt
	for i := range prev {
		least = min(least, prev[i].cost+max(0, from-prev[i].end))
	}
	return least
}

// find returns the first occurrence of chain k that starts in [from, limit].
func (m *matcher) find(k, from, limit int) (place, bool) {
	a := &m.ahead[k]
	if a.from < 0 || from < a.from || from > a.next.start {
		*a = ahead{from, place{start: from - 1, end: -1}}
	}
	if a.next.end < 0 && a.next.start < limit { // not known as far as limit
		a.next.start, a.next.end = m.scan(k, max(from, a.next.start+1), limit)
	}
	if a.next.end < 0 || a.next.start > limit {
		return place{}, false
	}
	return a.next, true
}

// scan returns the first occurrence of chain k that starts in [from, limit]. The
// end is -1 when there is none.
func (m *matcher) scan(k, from, limit int) (start, end int) {
	c := m.v.chains[k]
	first := &m.v.steps[c.from]
	text := m.v.sure(c.from)
	for from <= limit {
		start = from
		switch {
		case first.kind == space:
			for start < m.end && start <= limit && !isBlank(m.text[start]) {
				start++
			}
			if start >= m.end {
				return limit, -1
			}
		case first.fold:
			i := indexFold(m.text[from:min(m.end, limit+len(text))], text)
			if i < 0 {
				m.work += limit - from
				return limit, -1
			}
			start += i
		default:
			i := bytes.Index(m.text[from:min(m.end, limit+len(text))], text)
			if i < 0 {
				m.work += limit - from
				return limit, -1
			}
			start += i
		}
		m.work += start - from + 1
		if start > limit {
			return limit, -1
		}
		end, ok := start+len(text), true
		if c.to-c.from > 1 || first.kind == space || len(text) < len(first.text) {
			end, ok = m.walk(c, start, nil)
		}
		if ok && m.bounded(k, start, end) && m.goesOn(c, end) {
			return start, end
		}
		from = start + 1
	}
	return limit, -1
}

// goesOn reports whether the gap behind a chain may begin at i.
func (m *matcher) goesOn(c span, i int) bool {
	if c.to == len(m.v.steps) {
		return true
	}
	g := &m.v.steps[c.to]
	return g.min == 0 || g.set.any || i < m.end && g.set.begins(m.text[i])
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

// runsOn reports whether the value between from and the last chain is none: the
// chain closes a quote, its full stop is missing, and the quote closed before.
func (m *matcher) runsOn(from int, o place) bool {
	c := m.v.chains[len(m.v.chains)-1]
	if c.to-c.from != 1 || !m.v.stopMayMiss(c.from) || o.end-o.start == len(m.v.steps[c.from].text) {
		return false
	}
	q := m.text[o.start]
	if !isQuote(q) {
		return false
	}
	for i := from; i+1 < o.start; i++ {
		if m.text[i] == q && isBlank(m.text[i+1]) {
			return true
		}
	}
	return false
}

// limit returns the last place where gaps that begin at from may end.
func (m *matcher) limit(gaps []step, from int) int {
	end := min(m.end, from+maxValue)
	if len(gaps) == 1 && gaps[0].set == anyLine {
		if from < m.lineFrom || from > m.lineTo {
			m.lineFrom, m.lineTo = from, lineEnd(m.text[:m.end], from)
			m.work += m.lineTo - from
		}
		if m.v.lines && m.lineTo < end && m.listAt(from) {
			return m.listEnd(m.lineTo, end)
		}
		return min(end, m.lineTo)
	}
	if len(gaps) == 1 && gaps[0].set == anyLines {
		return end
	}
	var union byteSet
	for _, g := range gaps {
		for i := range union {
			union[i] |= g.set.union[i]
		}
	}
	for i := from; i < end; i++ {
		m.work++
		if !union.has(m.text[i]) {
			return i
		}
	}
	return end
}

// listAt reports whether a value that begins at i has lines of its own: it is the
// first word of an indented line.
func (m *matcher) listAt(i int) bool {
	from := i
	for i > 0 && (m.text[i-1] == ' ' || m.text[i-1] == '\t') {
		i--
	}
	return i < from && i > 0 && m.text[i-1] == '\n'
}

// listEnd returns the start of the line behind a list of indented lines, the first
// of which ends at i.
func (m *matcher) listEnd(i, end int) int {
	for i+1 < end && (m.text[i+1] == ' ' || m.text[i+1] == '\t') {
		i = lineEnd(m.text[:end], i+1)
	}
	return min(i+1, end)
}

// fits reports whether the gaps can share the text between from and to.
func (m *matcher) fits(gaps []step, from, to int) bool {
	if len(gaps) == 1 {
		g := &gaps[0]
		return g.set.any || g.set.whole(m.text[from:to])
	}
	return m.split(gaps, from, to, nil)
}

// maxShared is how far the first of neighbouring gaps may reach when the place
// where it ends has to be tried, and the longest value of a set at the start of a
// pattern: the work is the square of it.
const maxShared = 256

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
		for i := from; i <= min(to, from+maxShared); i++ {
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
