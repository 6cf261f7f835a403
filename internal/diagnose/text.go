package diagnose

// layer is one kind of thing that is done to a text on its way into a paste.
type layer uint8

// The layers, in the order in which they are named in an answer.
const (
	layerANSI layer = iota
	layerCarriage
	layerTypography
	layerEntity
	layerEscape
	layerQuote
	layerPrefix
	layerSpace
	layerWrap
	layerCount
)

var layerNames = [layerCount]string{
	"ansi", "carriage-return", "typography", "entity", "escape", "quote", "prefix", "space", "wrap",
}

// layerSet is a set of layers.
type layerSet uint16

func (s layerSet) names() []string {
	names := make([]string, 0, 4)
	for l := layer(0); l < layerCount; l++ {
		if s&(1<<l) != 0 {
			names = append(names, layerNames[l])
		}
	}
	return names
}

// run is a stretch of a mapped text that comes from one stretch of the input:
// either byte for byte, or as a whole.
type run struct {
	at       int // where it begins in the text; it may have no bytes there
	from, to int // the input it stands for
	copied   bool
	layers   layerSet // what was undone to get it
}

// mapped is a text with the way back to the input it was made from. A layer of
// undoing takes one and gives one.
type mapped struct {
	text  []byte
	runs  []run  // ascending by at; empty only for an empty text
	arena *arena // where what is made of it is taken from
}

// newMapped is the input as it is.
func newMapped(input []byte) *mapped { return part(nil, input, 0, len(input)) }

// part is a part of the input as it is. Without an arena it gets one of its own.
func part(a *arena, input []byte, from, to int) *mapped {
	if a == nil {
		a = &arena{}
	}
	m := a.mapped.one()
	*m = mapped{text: input[from:to:to], runs: append(a.runs.take(1), run{from: from, to: to, copied: true}), arena: a}
	return m
}

// runAt is the index of the last run that begins at or before offset i.
func (m *mapped) runAt(i int) int {
	lo, hi := 0, len(m.runs)
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if m.runs[mid].at > i {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo - 1
}

// span maps text[start:end] to the input. An empty span maps to an empty one.
func (m *mapped) span(start, end int) (from, to int) {
	if len(m.runs) == 0 {
		return 0, 0
	}
	r := m.runs[m.runAt(start)]
	from = r.from
	if r.copied {
		from += start - r.at
	}
	if start == len(m.text) && !r.copied {
		from = r.to
	}
	if end <= start {
		return from, from
	}
	r = m.runs[m.runAt(end-1)]
	to = r.to
	if r.copied {
		to = r.from + end - r.at
	}
	return from, max(from, to)
}

// undone is the set of layers at work in text[start:end].
func (m *mapped) undone(start, end int) layerSet {
	var set layerSet
	if len(m.runs) == 0 {
		return 0
	}
	first := m.runAt(start)
	for k := first; k < len(m.runs) && (m.runs[k].at < end || k == first); k++ {
		// What was dropped right before the span is not in it.
		if m.runs[k].at > start || k == first {
			set |= m.runs[k].layers
		}
	}
	return set
}

// builder makes a mapped text out of another one, front to back.
type builder struct {
	src  *mapped
	text []byte
	runs []run
	next int // run of src where the last copy ended
}

func newBuilder(src *mapped) *builder {
	b := src.arena.builders.one()
	b.src, b.text, b.runs = src, src.arena.bytes.take(len(src.text)), src.arena.runs.take(len(src.runs)+8)
	return b
}

// newPartBuilder is a builder for a part of src that is about n bytes long.
func newPartBuilder(src *mapped, n int) *builder {
	b := src.arena.builders.one()
	b.src, b.text = src, src.arena.bytes.take(n)
	return b
}

// seek is the run of src that holds offset i. Calls come mostly in ascending
// order, so it looks near the last one first.
func (b *builder) seek(i int) int {
	const near = 8
	runs, k := b.src.runs, b.next
	if k >= len(runs) || runs[k].at > i || k+near < len(runs) && runs[k+near].at <= i {
		k = max(b.src.runAt(i), 0)
	}
	for k+1 < len(runs) && runs[k+1].at <= i {
		k++
	}
	b.next = k
	return k
}

// copy appends src.text[from:to] as it is.
func (b *builder) copy(from, to int) {
	for from < to {
		k := b.seek(from)
		r := b.src.runs[k]
		end := to
		if k+1 < len(b.src.runs) {
			end = min(end, b.src.runs[k+1].at)
		}
		next := run{at: len(b.text), from: r.from, to: r.to, copied: r.copied, layers: r.layers}
		if r.copied {
			next.from, next.to = r.from+from-r.at, r.from+end-r.at
		}
		b.push(next)
		b.text = append(b.text, b.src.text[from:end]...)
		from = end
		// What src dropped before its next run stays known.
		for j := k + 1; j+1 < len(b.src.runs) && b.src.runs[j].at == end && b.src.runs[j+1].at == end; j++ {
			dropped := b.src.runs[j]
			dropped.at = len(b.text)
			b.push(dropped)
		}
	}
}

// replace appends with in the place of src.text[from:to]. An empty with drops
// the stretch.
func (b *builder) replace(from, to int, with string, l layer) {
	next := run{at: len(b.text), layers: 1 << l}
	runs := b.src.runs
	if k := b.seek(from); k < len(runs) && runs[k].copied && (k+1 == len(runs) || runs[k+1].at >= to) {
		// All of it comes from one place.
		next.from = runs[k].from + from - runs[k].at
		next.to = next.from + max(to-from, 0)
		next.layers |= runs[k].layers
	} else {
		next.from, next.to = b.src.span(from, to)
		next.layers |= b.src.undone(from, to)
	}
	b.push(next)
	b.text = append(b.text, with...)
}

func (b *builder) push(r run) {
	if n := len(b.runs); n > 0 && r.copied {
		last := &b.runs[n-1]
		if last.copied && last.layers == r.layers && last.to == r.from {
			last.to = r.to
			return
		}
	}
	b.runs = append(b.src.arena.runs.grow(b.runs), r)
}

// cut takes back everything appended after the first n bytes and what was
// dropped there.
func (b *builder) cut(n int) {
	b.text = b.text[:n]
	for len(b.runs) > 0 && b.runs[len(b.runs)-1].at >= n {
		b.runs = b.runs[:len(b.runs)-1]
	}
	if k := len(b.runs) - 1; k >= 0 && b.runs[k].copied {
		b.runs[k].to = b.runs[k].from + n - b.runs[k].at
	}
}

func (b *builder) mapped() *mapped {
	m := b.src.arena.mapped.one()
	*m = mapped{text: b.text, runs: b.runs, arena: b.src.arena}
	return m
}
