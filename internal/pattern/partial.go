package pattern

import (
	"bytes"
	"strings"
)

// Partial is a message of which the head or the tail is missing.
type Partial struct {
	Match          Match   // what stands in the text; gaps that are missing have no capture
	Share          float64 // of the literal text that was found, 0 … 1
	NoHead, NoTail bool    // what is missing
}

// minPartial is the least literal text, in bytes, by which a cut message can be
// recognised at all.
const minPartial = 10

// Partial lays the pattern on a text in which the message is cut off: the text
// ends in the middle of it, or begins there. An ellipsis at the cut is not part
// of the text. A message that is whole has Share 1. The text should be one
// message; it is read to its end, across lines.
func (p *Pattern) Partial(text []byte) (Partial, bool) {
	var best Partial
	if m, ok := p.Match(text); ok {
		return Partial{Match: m, Share: 1}, true
	}
	if p.fallback != nil {
		return best, false
	}
	var l layout
	for _, v := range l.decode(p.rec) {
		if c, ok := v.partial(text); ok && c.Share > best.Share {
			best = c
		}
	}
	return best, best.Share > 0
}

// chainText is the text of a chain, a run of white space being one blank.
func (v *variant) chainText(k int) string {
	c := v.chains[k]
	if c.to-c.from == 1 && v.steps[c.from].kind == literal {
		return string(v.steps[c.from].text)
	}
	var b strings.Builder
	for _, st := range v.steps[c.from:c.to] {
		if st.kind == space {
			b.WriteByte(' ')
		} else {
			b.Write(st.text)
		}
	}
	return b.String()
}

func (v *variant) partial(text []byte) (Partial, bool) {
	from, to := cutEnds(text)
	var best Partial
	total := 0
	for k := range v.chains {
		total += len(v.chainText(k))
	}
	if total < minPartial {
		return best, false
	}
	for k := range v.chains {
		// The first chain that stands whole in the text.
		var m matcher
		m.reset(text, v)
		m.window(to)
		first, ok := m.find(k, from, to)
		if !ok {
			continue
		}
		c := v.forward(&m, k, first, to)
		c.NoHead = k > 0 || v.chains[0].from > 0 && first.start == from
		if k > 0 {
			head := v.chainText(k - 1)
			n := overlap(text[from:first.start], head, true)
			c.Share += float64(n)
			c.Match.Start = from
			c.Match.Captures = append(v.capturesBefore(k, from+n, first.start), c.Match.Captures...)
		} else {
			c.Match.Start, _ = m.headStart(first.start, 0)
			c.Match.Captures = append(v.capturesBefore(0, c.Match.Start, first.start), c.Match.Captures...)
			c.NoHead = false
		}
		if c.Share >= minPartial && c.Share > best.Share {
			best = c
		}
		break
	}
	if best.Share == 0 {
		best = v.fragment(text, from, to)
	}
	best.Share /= float64(max(total, 1))
	return best, best.Share > 0
}

// forward follows the chains from k on as far as they go. Share is in bytes.
func (v *variant) forward(m *matcher, k int, at place, to int) Partial {
	c := Partial{Share: float64(len(v.chainText(k))), Match: Match{Start: at.start}}
	for k++; k < len(v.chains); k++ {
		gaps := v.steps[v.chains[k-1].to:v.chains[k].from]
		next, ok := m.find(k, at.end, m.limit(gaps, at.end))
		if !ok || !m.fits(gaps, at.end, next.start) {
			n := overlap(m.text[at.end:to], v.chainText(k), false)
			c.Share += float64(n)
			c.NoTail = true
			c.Match.End = to
			c.Match.Captures = append(c.Match.Captures, v.capturesBefore(k, at.end, to-n)...)
			return c
		}
		c.Match.Captures = append(c.Match.Captures, v.capturesBefore(k, at.end, next.start)...)
		c.Share += float64(len(v.chainText(k)))
		at = next
	}
	c.Match.End = at.end
	if tail, ok := m.tailEnd(c.Match.Start, at); ok {
		c.Match.End = tail
		c.Match.Captures = append(c.Match.Captures, v.capturesBefore(k, at.end, tail)...)
	}
	return c
}

// capturesBefore gives the text between from and to to the named gap before
// chain k.
func (v *variant) capturesBefore(k, from, to int) []Capture {
	end := len(v.steps)
	if k < len(v.chains) {
		end = v.chains[k].from
	}
	begin := 0
	if k > 0 {
		begin = v.chains[k-1].to
	}
	if begin == end || from >= to {
		return nil
	}
	for _, mk := range v.marks {
		if mk.from == begin && mk.to <= end {
			return []Capture{{string(mk.name), from, to}}
		}
	}
	return nil
}

// fragment finds a text that is a piece of one chain: it ends with the beginning
// of the first chain, or begins with the end of the last one.
func (v *variant) fragment(text []byte, from, to int) Partial {
	head := v.chainText(0)
	n := overlap(text[from:to], head, false)
	if n >= minPartial && (to == n || !insideWord(text, to-n)) {
		return Partial{Match: Match{Start: to - n, End: to}, Share: float64(n), NoTail: true}
	}
	tail := v.chainText(len(v.chains) - 1)
	n = overlap(text[from:to], tail, true)
	if n >= minPartial && !insideWord(text, from+n) {
		return Partial{Match: Match{Start: from, End: from + n}, Share: float64(n), NoHead: true}
	}
	return Partial{}
}

// overlap returns the length of the longest end of text that is a beginning of
// s, or, with atStart, of the longest beginning of text that is an end of s.
func overlap(text []byte, s string, atStart bool) int {
	for n := min(len(text), len(s)); n > 0; n-- {
		if atStart && string(text[:n]) == s[len(s)-n:] || !atStart && string(text[len(text)-n:]) == s[:n] {
			return n
		}
	}
	return 0
}

// cutEnds returns the text without blanks and ellipses at its ends.
func cutEnds(text []byte) (from, to int) {
	to = len(text)
	for changed := true; changed; {
		changed = false
		for to > from && (isBlank(text[to-1]) || text[to-1] == '"' || text[to-1] == '\'') {
			to--
		}
		for from < to && isBlank(text[from]) {
			from++
		}
		for _, dots := range []string{"...", "…", "[…]", "[...]"} {
			if bytes.HasSuffix(text[from:to], []byte(dots)) {
				to -= len(dots)
				changed = true
			}
			if bytes.HasPrefix(text[from:to], []byte(dots)) {
				from += len(dots)
				changed = true
			}
		}
	}
	return from, to
}

// Words returns the distinct words of the literals in order: runs of letters,
// digits and underscores, in lower case. They serve to compare a text with a
// pattern that it does not match.
func (p *Pattern) Words() []string {
	var words []string
	seen := map[string]bool{}
	for _, l := range p.Literals() {
		for _, w := range Words(l) {
			if !seen[w] {
				seen[w] = true
				words = append(words, w)
			}
		}
	}
	return words
}

// Words returns the words of a text in order, in lower case.
func Words(text string) []string {
	var words []string
	for i := 0; i < len(text); {
		j := i
		for j < len(text) && (isWord(text[j]) || text[j] >= 0x80) {
			j++
		}
		if j > i {
			words = append(words, strings.ToLower(text[i:j]))
		}
		i = j + 1
	}
	return words
}
