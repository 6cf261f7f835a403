package pattern

import (
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

	base   int                      // start of the block
	starts [blockSize/2 + 32]uint32 // its word starts, from base
	nstart int
	words  [blockSize / 2]uint32 // those in one of the first bitmaps
	keys   [3 * blockSize]keyAt
	found  []foundAt

	line    line   // of the last candidate
	sig     uint64 // of its words
	seenIn  line
	seen    []uint32            // records searched for in that line
	more    map[uint32]struct{} // the same when they are many
	wide    map[uint32]seen     // records searched for around anchors
	touched uint32              // sum of what was loaded ahead of its use
}

// line is where a line begins and ends.
type line struct{ from, to int }

// keyAt is a key that passed the second bitmap, and the word start it is of. A
// block has at most half as many word starts as bytes, with five keys each.
type keyAt struct {
	key      uint64
	at       uint32
	from, to uint32 // its bucket
}

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
	f.line = line{0, -1}
	f.enter(f.line)
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

// passWords collects the word starts between from and to, and those of them that are
// in one of the first bitmaps.
func (f *finder) passWords(from, to int) int {
	text := f.all[from:]
	f.nstart = f.wordStarts(from, to)
	sure := f.nstart
	for sure > 0 && int(f.starts[sure-1])+8 > len(text) {
		sure--
	}
	passed := f.seg.wordsIn(text, f.starts[:sure], f.words[:])
	for _, at := range f.starts[sure:f.nstart] {
		f.words[passed] = at
		passed += int(f.seg.hasWord(after8At(text, int(at))))
	}
	return passed
}

// wordsPortable is wordsIn of any processor.
func (s *segment) wordsPortable(text []byte, starts, out []uint32) int {
	n := 0
	for _, at := range starts {
		out[n] = at
		n += int(s.hasWord(little.Uint64(text[at:])))
	}
	return n
}

// hasWord is 1 when the bytes after a word start are in one of the first bitmaps.
func (s *segment) hasWord(after uint64) uint32 {
	short := smallSlot(uint32(after), s.smallBits)
	word, one, two := longBits(after, s.longShift)
	w := little.Uint32(s.long[4*word:])
	return (uint32(s.small[short>>3])>>(short&7) | w>>one&(w>>two)) & 1
}

// wordStarts collects the word starts between from and to.
func (f *finder) wordStarts(from, to int) int {
	text := f.all
	carry := uint64(0)
	if from > 0 && isASCIILetter(text[from-1]) {
		carry = 1
	}
	windows := (min(to, len(text)-1) - from) / 64
	n := startsIn(text[from:], windows, carry, f.starts[:])
	for i := from + 64*windows; i < to; i++ {
		if wordStart(text, i) {
			f.starts[n] = uint32(i - from)
			n++
		}
	}
	return n
}

// passKeys collects the keys of the first n words that are in the second bitmap.
func (f *finder) passKeys(n int) int {
	text, filter, shift := f.all, f.seg.filter, f.seg.keyShift
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
			word, one, two := keyBits(key, shift)
			w := little.Uint64(filter[8*word:])
			f.keys[k] = keyAt{key: key, at: at}
			k += int(w >> one & (w >> two) & 1)
		}
		if f.seg.folds {
			key := keyOf(folded4, before, after)
			word, one, two := keyBits(key, shift)
			w := little.Uint64(filter[8*word:])
			f.keys[k] = keyAt{key: key, at: at}
			k += int(w >> one & (w >> two) & 1)
		}
	}
	return k
}
