package pattern

import (
	"math/bits"
	"runtime"
	"strings"
	"sync"

	"errorkb/internal/pattern/little"
)

// Build makes an index. The place of a pattern in the list is its id; nil
// patterns are left out. The same list gives the same bytes on any number of
// processors.
func Build(patterns []*Pattern) *Index {
	items := make([]item, 0, len(patterns))
	var others []other
	for id, p := range patterns {
		switch {
		case p == nil:
		case p.fallback != nil:
			others = append(others, other{id, p})
		default:
			items = append(items, item{uint32(id), p.rec})
		}
	}
	return &Index{n: len(patterns), parts: []*segment{buildSegment(items, others)}}
}

// With returns an index in which the patterns of the given ids are replaced, or
// taken out when nil. It costs as much as building an index of all patterns that
// were ever replaced; build anew when they are many.
func (ix *Index) With(changes map[int]*Pattern) *Index {
	out := &Index{stamp: ix.stamp, n: ix.n}
	base := *ix.parts[0]
	base.dead = append([]byte(nil), base.dead...)
	for id := range changes {
		out.n = max(out.n, id+1)
	}
	for len(base.dead) < (out.n+7)/8 {
		base.dead = append(base.dead, 0)
	}
	for id := range changes {
		base.dead[id>>3] |= 1 << (id & 7)
	}
	merged := make([]*Pattern, out.n)
	if len(ix.parts) > 1 {
		r := reader{ix.parts[1].records}
		var l layout
		for len(r.b) > 0 {
			id, rec := r.num(), r.b
			l.read(&r)
			merged[id] = &Pattern{rec: rec[:len(rec)-len(r.b)]}
		}
		for _, o := range ix.parts[1].others {
			merged[o.id] = o.p
		}
	}
	for id, p := range changes {
		merged[id] = p
	}
	out.parts = []*segment{&base, Build(merged).parts[0]}
	return out
}

// item is a pattern to be indexed.
type item struct {
	id  uint32
	rec []byte
}

// Sizes, in bits per variant.
const (
	filterPerVariant = 16
	sketchPerVariant = 16 // counters per variant, for the choice of keys
)

// maxSketch bounds the counters; beyond it they are shared.
const maxSketch = 25

// sampleWeight is how often a key of the sample counts. A key of ordinary logs
// costs at every line, one of other patterns only where they stand.
const sampleWeight = 20

func buildSegment(items []item, others []other) *segment {
	s := &segment{flags: []byte{0}}
	offsets := make([]uint32, len(items))
	size := 0
	for _, it := range items {
		size += len(it.rec) + 6
	}
	s.records = make([]byte, 0, size)
	for i, it := range items {
		offsets[i] = uint32(len(s.records))
		s.records = little.AppendUvarint(s.records, uint64(it.id))
		s.records = append(s.records, it.rec...)
	}
	counts := countKeys(items)
	entries, loose := chooseKeys(items, offsets, counts)
	for i := range loose {
		var b [entrySize]byte
		loose[i].put(b[:])
		s.loose = append(s.loose, b[:]...)
	}
	s.fill(entries)
	for _, o := range others {
		s.exprs = little.AppendUvarint(s.exprs, uint64(o.id))
		s.exprs = little.AppendUvarint(s.exprs, uint64(len(o.p.expr)))
		s.exprs = append(s.exprs, o.p.expr...)
	}
	s.others = others
	return s
}

// sketch counts keys. Different keys may share a counter, which stops at 255.
type sketch struct {
	n    []uint8
	bits uint
	log  map[uint32]int // word starts of the sample, by their first 4 bytes
}

func (k *sketch) add(key uint64, by int) {
	c := &k.n[slot(key, k.bits)]
	*c = uint8(min(255, int(*c)+by))
}

// shares divides the items among the processors and calls f for each share.
func shares(n int, f func(worker, from, to int)) int {
	workers := max(1, min(runtime.GOMAXPROCS(0), n/256))
	var wg sync.WaitGroup
	for w := range workers {
		from, to := n*w/workers, n*(w+1)/workers
		if w == workers-1 {
			f(w, from, to)
			break
		}
		wg.Go(func() { f(w, from, to) })
	}
	wg.Wait()
	return workers
}

// countKeys counts the keys of the patterns and of the sample.
func countKeys(items []item) *sketch {
	size := min(maxSketch, max(14, uint(bits.Len(uint(len(items)*sketchPerVariant-1)))))
	parts := make([]*sketch, runtime.GOMAXPROCS(0)+1)
	shares(len(items), func(w, from, to int) {
		k := &sketch{n: make([]uint8, 1<<size), bits: size}
		parts[w] = k
		var l layout
		for _, it := range items[from:to] {
			for i, vs := 0, l.decode(it.rec); i < len(vs); i++ {
				vs[i].eachAnchor(func(a anchor) { k.add(a.key, 1) })
			}
		}
	})
	sum := parts[0]
	if sum == nil {
		sum = &sketch{n: make([]uint8, 1<<size), bits: size}
	}
	for _, k := range parts[1:] {
		if k == nil {
			continue
		}
		for i, n := range k.n {
			sum.n[i] = uint8(min(255, int(sum.n[i])+int(n)))
		}
	}
	text := []byte(sample)
	sum.log = map[uint32]int{}
	for i := range text {
		if wordStart(text, i) {
			before, after := before8At(text, i), after8At(text, i)
			sum.log[uint32(after)]++
			for s := range shapes {
				sum.add(keyOf(s, before, after), sampleWeight)
			}
		}
	}
	return sum
}

// preference orders shapes of equally rare keys: the longest says the most about
// texts that were not counted.
var preference = [shapes]int{around8: 0, after8: 1, around4: 2, after4: 3, folded4: 3}

// rank says how dear an anchor is: by its key, when it is short by its first four
// bytes, which the first bitmap lets pass wherever they stand, and by its shape.
func (k *sketch) rank(v *variant, a anchor) int {
	if a.shape.long() {
		return int(k.n[slot(a.key, k.bits)])*8 + preference[a.shape]
	}
	word := uint32(after8At(v.steps[a.step].text, a.off))
	return (int(k.n[slot(a.key, k.bits)])+shortPrice+smallWeight*min(k.log[word], 40))*8 + preference[a.shape]
}

// Prices of short keys, of which one is as dear as a pattern with the same key:
// of being short at all, and of every time their four bytes begin a word of the
// sample. They were found by trying on logs and messages.
const (
	shortPrice  = 30
	smallWeight = 40
)

// chooseKeys picks the rarest key of every variant. Variants without one are
// loose; those that hold too little to look for are left out.
func chooseKeys(items []item, offsets []uint32, counts *sketch) (entries, loose []entry) {
	type out struct{ entries, loose []entry }
	outs := make([]out, runtime.GOMAXPROCS(0)+1)
	shares(len(items), func(w, from, to int) {
		o := out{entries: make([]entry, 0, to-from)}
		var l layout
		for n := from; n < to; n++ {
			vs := l.decode(items[n].rec)
			for i := range vs {
				v := &vs[i]
				best, rank := anchor{step: -1}, 0
				v.eachAnchor(func(a anchor) {
					r := counts.rank(v, a)
					if best.step < 0 || r < rank {
						best, rank = a, r
					}
				})
				e := entry{rec: offsets[n], variant: i}
				if best.step >= 0 {
					e.key, e.step, e.off = best.key, best.step, best.off
					e.shape, e.after = best.shape, after8At(v.steps[best.step].text, best.off)
					e.sig = v.lineWords(best.step)
					e.more, e.moreAt = v.moreBytes(best)
					o.entries = append(o.entries, e)
				} else if v.worth() {
					e.step = v.longest()
					e.off = rarestByte(v.sure(e.step))
					o.loose = append(o.loose, e)
				}
			}
		}
		outs[w] = o
	})
	for _, o := range outs {
		entries = append(entries, o.entries...)
		loose = append(loose, o.loose...)
	}
	return entries, loose
}

// moreBytes chooses four bytes of the anchor's literal that say the most beyond its
// key: the last or the first ones, of which the key covers fewer. They stand furthest
// from the word that the key was taken from.
func (v *variant) moreBytes(a anchor) (uint32, int) {
	text := v.sure(a.step)
	covers := [shapes]struct{ from, to int }{after8: {0, 8}, around8: {-8, 8}, around4: {-4, 4}, after4: {0, 4}}[a.shape]
	last := min(len(text)-4-a.off, noMore-1)
	first := max(-a.off, -moreBias)
	at := last
	if covers.from-first > last+4-covers.to {
		at = first
	}
	if a.shape == folded4 || at >= covers.from && at+4 <= covers.to {
		return 0, noMore
	}
	return little.Uint32(text[a.off+at:]), at
}

// longest returns the step with the longest literal.
func (v *variant) longest() int {
	best := -1
	for s := range v.steps {
		if v.steps[s].kind == literal && (best < 0 || len(v.steps[s].text) > len(v.steps[best].text)) {
			best = s
		}
	}
	return best
}

// rarestByte returns the place of the byte that the sample holds least.
func rarestByte(text []byte) int {
	best, least := 0, -1
	for i, b := range text {
		if n := strings.Count(sample, string(rune(b))); b < 0x80 && (least < 0 || n < least) {
			best, least = i, n
		}
	}
	return best
}

// fill makes the bitmaps and buckets of the entries.
func (s *segment) fill(entries []entry) {
	n := len(entries)
	size := max(64, 1<<bits.Len(uint(n*filterPerVariant-1))) / 8
	s.small = make([]byte, min(size, 1<<maxSmallBits/8))
	s.long = make([]byte, min(max(8, size/2), 1<<maxLongBits/8))
	s.filter = make([]byte, size)
	buckets := max(2, 1<<bits.Len(uint(n))/2)
	s.starts = make([]byte, 4*(buckets+1))
	s.entries = make([]byte, n*entrySize)
	if err := s.prepare(); err != nil {
		panic("pattern: " + err.Error()) // the arrays were made just now
	}
	place := make([]uint32, buckets+1)
	for i := range entries {
		place[slot(entries[i].key, s.bucketBits)+1]++
	}
	for b := range buckets {
		place[b+1] += place[b]
		little.PutUint32(s.starts[4*(b+1):], place[b+1])
	}
	for i := range entries {
		e := &entries[i]
		b := slot(e.key, s.bucketBits)
		e.put(s.entries[int(place[b])*entrySize:])
		place[b]++
		word, one, two := keyBits(e.key, s.keyShift)
		old := s.filter[8*word:]
		little.PutUint64(old, little.Uint64(old)|1<<one|1<<two)
		s.mark(e)
	}
}

// mark sets the bits of an entry in the first bitmaps: of a short key in every
// case of the letters when that does not matter.
func (s *segment) mark(e *entry) {
	if e.shape.long() {
		word, one, two := longBits(e.after, s.longShift)
		old := s.long[4*word:]
		little.PutUint32(old, little.Uint32(old)|1<<one|1<<two)
		return
	}
	word := uint32(e.after)
	set := func(w uint32) {
		i := smallSlot(w, s.smallBits)
		s.small[i>>3] |= 1 << (i & 7)
	}
	set(word)
	if e.shape != folded4 {
		return
	}
	s.flags[0] |= flagFolds
	s.folds = true
	for m := range uint32(16) {
		w := word
		for i := range 4 {
			if b := byte(word >> (8 * i)); m>>i&1 != 0 && b-'a' < 26 {
				w &^= 0x20 << (8 * i)
			}
		}
		set(w)
	}
}
