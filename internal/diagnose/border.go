package diagnose

import (
	"bytes"
	"sort"
)

// Lines without a time are read in groups, and those have to end somewhere. They end
// where no message goes on: where one does, the border is moved before the line that
// it begins in.
const (
	seamLines = 8       // lines on each side of a border that are looked at
	seamBytes = 4 << 10 // and bytes
	nearLines = 4       // lines on each side that are looked at first
)

// border moves a border between two lines before the line that a message over both of
// them begins in, but not to low. It looks at the lines around as they are read in the
// end.
func (w *work) border(text []byte, low, at int) int {
	from, to := linesBefore(text, max(low, at-seamBytes), at, seamLines), linesBehind(text, at, min(len(text), at+seamBytes), seamLines)
	a := arenas.Get().(*arena)
	defer a.release()
	p := work{engine: w.engine, ctx: w.ctx, input: text, arena: a, large: true}
	p.read(part(a, text, from, to), 0, false)
	for _, r := range p.texts {
		p.find(r)
	}
	sort.Slice(p.hits, func(i, j int) bool { return p.hits[i].from > p.hits[j].from })
	moved := at
	for i := range p.hits {
		if h := &p.hits[i]; h.from < moved && h.to > moved {
			moved = lineStartOf(text, h.from, h.from-from)
		}
	}
	if moved <= low {
		return at
	}
	return moved
}

// seam is border for a part of a block that begins at from. Most borders are ones, which
// is seen in the clear text.
func (w *work) seam(c *clear, block []byte, from, to int, marks []mark) int {
	first, last := linesBefore(block, from, to, nearLines), linesBehind(block, to, len(block), nearLines)
	if w.closeApart(c, first, last, marks) {
		return to
	}
	return w.border(block, from, to)
}

// closeApart reports whether lines are apart that are few enough to be joined, should
// they not be.
func (w *work) closeApart(c *clear, from, to int, marks []mark) bool {
	low := sort.Search(len(marks), func(k int) bool { return marks[k].raw.from >= from })
	n := sort.Search(len(marks)-low, func(k int) bool { return marks[low+k].raw.from >= to })
	return to-from < maxJoinBytes && w.apart(c, from, to, marks[low:low+n])
}

// linesBefore is where so many lines before at begin, or low.
func linesBefore(text []byte, low, at, n int) int {
	for ; n > 0 && at > low; n-- {
		at = low + bytes.LastIndexByte(text[low:at-1], '\n') + 1
	}
	return at
}

// linesBehind is where so many lines from at on end, or high.
func linesBehind(text []byte, at, high, n int) int {
	for ; n > 0 && at < high; n-- {
		at = min(lineEndOf(text, at)+1, high)
	}
	return at
}
