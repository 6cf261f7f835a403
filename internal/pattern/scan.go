package pattern

import (
	"bytes"
	"slices"
	"sync"

	"errorkb/internal/pattern/little"
)

// blockSize is how much text goes through a stage of the search at once. The
// look-ups of a stage do not wait for each other, so that cache misses overlap.
const blockSize = 4 << 10

// maxLine is the longest line that is searched as a whole for a pattern that
// may stand in it; in a longer one, and for patterns that go across lines, the
// text around the anchor is searched.
const maxLine = 16 << 10

// maxSigned is the longest line whose words are summed up in a signature. A longer
// one has so many that hardly a pattern would be told from it.
const maxSigned = 512

// finder searches one text. It is scratch space that is used again and again.
type finder struct {
	matcher
	seg    *segment
	all    []byte
	report func(id int, m Match) bool

	base  int // start of the block
	found []foundAt
	words [blockSize/2 + 32]uint32 // word starts from base, then those in the first bitmaps
	keys  [3 * blockSize]keyAt

	line     struct{ from, to int }
	sig      uint64
	sigKnown bool
	seen     []uint32            // records searched for in this line
	more     map[uint32]struct{} // the same when they are many
	wide     map[uint32]seen     // records searched for around anchors
}

// keyAt is a key that passed the second bitmap, and the word start it is of. A
// block has at most half as many word starts as bytes, with five keys each.
type keyAt struct {
	key      uint64
	at       uint32
	from, to uint32 // its bucket
}

// maxFound is how many entries of a block wait to be verified. Many patterns that
// begin alike could make them any number.
const maxFound = 4096

// foundAt is an entry whose key stands at a word start of the block.
type foundAt struct{ entry, at uint32 }

// seen says how far a record was searched for.
type seen struct {
	until int // anchors before it are done
	last  int // end of the last match
}

var finders = sync.Pool{New: func() any { return newFinder() }}

func newFinder() *finder {
	return &finder{more: map[uint32]struct{}{}, wide: map[uint32]seen{}}
}

// Find calls report for every place of text where a pattern stands, until report
// returns false. Text may be one line or many; a pattern goes across line ends
// only where it says so. Every place is reported once, in the order of the
// anchors: roughly as they stand in the text, the same on every run.
func (ix *Index) Find(text []byte, report func(id int, m Match) bool) {
	f := finders.Get().(*finder)
	f.find(ix, text, report)
	finders.Put(f)
}

func (f *finder) find(ix *Index, text []byte, report func(id int, m Match) bool) {
	f.all, f.report = text, report
	for _, s := range ix.parts {
		if !f.search(s) {
			break
		}
	}
	f.all, f.report, f.text, f.seg = nil, nil, nil, nil
}

// search searches the text for the patterns of a segment.
func (f *finder) search(s *segment) bool {
	f.seg = s
	f.line.from, f.line.to = 0, -1
	f.forgetLine()
	clear(f.wide)
	if len(s.entries) > 0 {
		for from := 0; from < len(f.all); from += blockSize {
			f.base = from
			n := f.sieveKeys(f.passWords(from, min(from+blockSize, len(f.all))))
			if n > 0 && !f.lookUp(f.passKeys(n)) {
				return false
			}
		}
	}
	for i := 0; i < len(s.loose); i += entrySize {
		var e entry
		e.get(s.loose[i:])
		if !f.searchLoose(&e) {
			return false
		}
	}
	for _, o := range s.others {
		ok := true
		if !s.isDead(uint32(o.id)) {
			o.p.each(f.all, func(m Match) bool {
				ok = f.report(o.id, m)
				return ok
			})
		}
		if !ok {
			return false
		}
	}
	return true
}

// passWords collects the word starts between from and to that are in one of the
// first bitmaps.
func (f *finder) passWords(from, to int) int {
	text, long, bits := f.all[from:], f.seg.long, f.seg.longBits
	small := (*[smallSize]byte)(f.seg.small)
	n := f.wordStarts(from, to)
	passed, sieved := f.sieveWords(text, n)
	for _, at := range f.words[sieved:n] {
		var after uint64
		if i := int(at); i+8 <= len(text) {
			after = little.Uint64(text[i : i+8])
		} else {
			after = after8At(text, i)
		}
		s, l := smallSlot(uint32(after)), longSlot(after, bits)
		f.words[passed] = at
		passed += int((small[s>>3]>>(s&7) | long[l>>3]>>(l&7)) & 1)
	}
	return passed
}

// wordStarts collects the word starts between from and to.
func (f *finder) wordStarts(from, to int) int {
	text := f.all
	carry := uint64(0)
	if from > 0 && isASCIILetter(text[from-1]) {
		carry = 1
	}
	windows := (min(to, len(text)-1) - from) / 64
	n := startsIn(text[from:], windows, carry, f.words[:])
	for i := from + 64*windows; i < to; i++ {
		if wordStart(text, i) {
			f.words[n] = uint32(i - from)
			n++
		}
	}
	return n
}

// passKeys collects the keys of the first n words that are in the second bitmap.
func (f *finder) passKeys(n int) int {
	text, filter, bits := f.all, f.seg.filter, f.seg.filterBits
	k := 0
	for _, at := range f.words[:n] {
		i := f.base + int(at)
		var before, after uint64
		if i >= 8 && i+8 <= len(text) {
			around := (*[16]byte)(text[i-8 : i+8])
			before, after = little.Uint64(around[:8]), little.Uint64(around[8:])
		} else {
			before, after = before8At(text, i), after8At(text, i)
		}
		for _, key := range [...]uint64{
			after,
			keyAround8(before, after),
			keyAround4(before, after),
			after&0xffffffff ^ salts[after4],
		} {
			b := slot(key, bits)
			f.keys[k] = keyAt{key: key, at: at}
			k += int(filter[b>>3] >> (b & 7) & 1)
		}
		if f.seg.folds {
			key := keyOf(folded4, before, after)
			b := slot(key, bits)
			f.keys[k] = keyAt{key: key, at: at}
			k += int(filter[b>>3] >> (b & 7) & 1)
		}
	}
	return k
}

// lookUp compares the first n keys with the entries of their buckets.
func (f *finder) lookUp(n int) bool {
	s := f.seg
	for i := range f.keys[:n] {
		k := &f.keys[i]
		b := slot(k.key, s.bucketBits)
		k.from = little.Uint32(s.starts[4*b:])
		k.to = little.Uint32(s.starts[4*b+4:])
	}
	// Entries first, records afterwards: a look at a record can miss the cache,
	// and those of a block need not wait for each other.
	f.found = f.found[:0]
	for i := range f.keys[:n] {
		k := &f.keys[i]
		f.work += int(k.to - k.from)
		tag := tagOf(k.key)
		for from := k.from; from < k.to; from++ {
			raw := (*[entrySize]byte)(s.entries[int(from)*entrySize:])
			if little.Uint32(raw[:]) != tag {
				continue
			}
			at := f.base + int(k.at)
			if more := moreAtOf(little.Uint32(raw[20:])); more != noMore {
				m := at + more
				if m < 0 || m+4 > len(f.all) || little.Uint32(f.all[m:]) != little.Uint32(raw[4:]) {
					continue
				}
			}
			if len(f.found) == maxFound && !f.verifyFound() {
				return false
			}
			f.found = append(f.found, foundAt{from, k.at})
		}
	}
	return f.verifyFound()
}

// verifyFound verifies the entries that were found, and forgets them.
func (f *finder) verifyFound() bool {
	for _, c := range f.found {
		var e entry
		e.get(f.seg.entries[int(c.entry)*entrySize:])
		at := f.base + int(c.at)
		if f.inLine(at, e.sig) && !f.verify(&e, at) {
			return false
		}
	}
	f.found = f.found[:0]
	return true
}

// inLine reports whether the line of a place holds all words of a signature.
func (f *finder) inLine(at int, sig uint64) bool {
	if at > f.line.to || at < f.line.from {
		f.line.from = lineStart(f.all, at, len(f.all))
		f.line.to = lineEnd(f.all, at)
		f.sigKnown = false
		f.forgetLine()
	}
	if !f.sigKnown {
		f.sigKnown = true
		f.sig = ^uint64(0)
		if f.line.to-f.line.from <= maxSigned {
			f.sig = signature(f.all[f.line.from:f.line.to])
		}
	}
	return sig&^f.sig == 0
}

func (f *finder) forgetLine() {
	f.seen = f.seen[:0]
	if len(f.more) > 0 {
		clear(f.more)
	}
}

// verify looks whether the pattern of an entry stands around its anchor, and
// reports all places in the line when it was not searched for there before.
func (f *finder) verify(e *entry, at int) bool {
	r := reader{f.seg.records[e.rec:]}
	id := r.num()
	vs := f.read(&r)
	v := &vs[e.variant]
	text := v.sure(e.step)
	start := at - e.off
	if start < 0 || start+len(text) > len(f.all) {
		return true
	}
	have := f.all[start : start+len(text)]
	if !bytes.Equal(have, text) && !(v.steps[e.step].fold && equalFold(have, text)) {
		return true
	}
	if f.seg.isDead(uint32(id)) {
		return true
	}
	lines := false
	for i := range vs {
		lines = lines || vs[i].lines
	}
	if lines || f.line.to-f.line.from > maxLine {
		return f.around(e.rec, id, vs, at, lines)
	}
	if f.again(e.rec) {
		return true
	}
	_, ok := f.reportAll(id, vs, f.line.from, f.line.to)
	return ok
}

// again reports whether a record was searched for in this line, and notes it. A
// line rarely has more than a few, but a made one may have all of them.
func (f *finder) again(rec uint32) bool {
	if len(f.seen) < 32 {
		if slices.Contains(f.seen, rec) {
			return true
		}
		f.seen = append(f.seen, rec)
		return false
	}
	if _, ok := f.more[rec]; ok || slices.Contains(f.seen, rec) {
		return true
	}
	f.more[rec] = struct{}{}
	return false
}

// around searches the text around an anchor.
func (f *finder) around(rec uint32, id int, vs []variant, at int, lines bool) bool {
	s := f.wide[rec]
	if at < s.until {
		return true
	}
	low, high := f.line.from, f.line.to
	if lines {
		low, high = 0, len(f.all)
	}
	from := max(low, at-maxSpan, s.last)
	to := min(high, at+2*maxSpan)
	s.until = at + maxSpan
	if to == high && !lines {
		s.until = high
	}
	last, ok := f.reportAll(id, vs, from, to)
	s.last = max(s.last, last)
	f.wide[rec] = s
	return ok
}

// maxSpan is how far a match may reach to either side of its anchor when it is
// not searched for by whole lines.
const maxSpan = 2 * maxValue

// reportAll reports all matches between from and to.
func (f *finder) reportAll(id int, vs []variant, from, to int) (last int, ok bool) {
	f.reset(f.all, &vs[0])
	for from <= to {
		r, found := f.nextOf(vs, f.all, from, to)
		if !found {
			break
		}
		if !f.report(id, f.match()) {
			return last, false
		}
		last = r.end
		from = max(r.end, from+1)
	}
	return last, true
}

// searchLoose searches the text for the literal of an entry without a key, by the
// rarest byte of it.
func (f *finder) searchLoose(e *entry) bool {
	r := reader{f.seg.records[e.rec:]}
	if f.seg.isDead(uint32(r.num())) {
		return true
	}
	v := &f.read(&r)[e.variant]
	step := &v.steps[e.step]
	if step.fold {
		return f.searchLooseFold(e, step.text)
	}
	rare := step.text[e.off]
	for at := e.off; at < len(f.all); at++ {
		i := bytes.IndexByte(f.all[at:], rare)
		if i < 0 {
			return true
		}
		at += i
		f.inLine(at, 0)
		if !f.verify(e, at) {
			return false
		}
	}
	return true
}

// searchLooseFold does the same in either case of the letters.
func (f *finder) searchLooseFold(e *entry, text []byte) bool {
	text = append([]byte(nil), text...) // verify lays out over it
	for at := 0; at < len(f.all); at++ {
		i := indexFold(f.all[at:], text[e.off:])
		if i < 0 {
			return true
		}
		at += i
		f.inLine(at, 0)
		if !f.verify(e, at) {
			return false
		}
	}
	return true
}
