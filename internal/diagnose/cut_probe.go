package diagnose

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"sort"
	"strings"
)

// probes tell at little cost that no message stands cut in a line. Of every
// message one piece is known that must be there when its head is, and one when its
// tail is; a line that holds no piece needs no closer look.
type probes struct {
	first       bitmap // over the first 4 bytes of all pieces; small
	short, long bitmap // over pieces of 4 and 8 bytes, and over the first 12 bytes of others
	bits        uint   // of the bucket table
	starts      []uint32
	pieces      []piece // by bucket
	loose       []loose // messages without such a piece
	most        int     // literal bytes of the longest message
}

// piece is what must be there of an owner.
type piece struct {
	key   uint64
	owner int32
	head  uint16 // of the word that tells where the message begins, see headOf
	ends  ends
	size  uint8
}

// loose is a message that has no piece for one of its ends or both. A line that may
// hold such an end has the two bytes with which the message begins, or its last one.
type loose struct {
	owner int32
	first uint16 // as pairOf has it; anyPair when it may be others
	last  byte   // with the bit of small letters; anyByte when it may be others
	ends  ends
}

const (
	anyPair = pairs
	anyByte = 0xff
	pairs   = 1 << 10
)

func pairOf(a, b byte) uint16 { return (uint16(a|0x20)*31 + uint16(b|0x20)) % pairs }

// looseOf is a message for whose ends there is no piece.
func looseOf(owner int32, parts []segment, at ends) loose {
	x := loose{owner: owner, first: anyPair, last: anyByte, ends: at}
	if at&headEnd != 0 {
		if t := probeOf(parts); len(t) > 1 && !isQuote(t[0]) && !isQuote(t[1]) {
			x.first = pairOf(t[0], t[1])
		}
	}
	if at&tailEnd != 0 {
		t := parts[len(parts)-1].text
		if c := t[len(t)-1]; !isQuote(c) {
			x.last = c | 0x20
		}
	}
	return x
}

// pairSet is a set of pairs of bytes.
type pairSet [pairs / 64]uint64

// add adds the pairs that begin in text[from:to].
func (s *pairSet) add(text []byte, from, to int) {
	for i := from; i < to && i+1 < len(text); i++ {
		k := pairOf(text[i], text[i+1])
		s[k/64] |= 1 << (k % 64)
	}
}

// mayHave are the ends of a message without pieces that a line may hold.
func (x *loose) mayHave(have *pairSet, last byte) ends {
	at := x.ends
	if x.first != anyPair && have[x.first/64]>>(x.first%64)&1 == 0 {
		at &^= headEnd
	}
	if x.last != anyByte && x.last != last|0x20 {
		at &^= tailEnd
	}
	return at
}

// ends says what a piece speaks for.
type ends uint8

const (
	headEnd  ends = 1 << iota // it is there when the head is
	tailEnd                   // it is there when the tail is
	opening                   // of a head: it begins with the word that tells where the message begins
	anyHead                   // no word tells where the message begins
	leadUnit                  // how far in front of that word it begins, in this unit
)

// lead is how far in front of the word that tells it a message begins.
func (e ends) lead() int { return int(e / leadUnit) }

// headOf is the first word that must be there for alignHead to lay a message at all:
// where it finds the beginning of the first literal, this word begins so many bytes
// behind. It is -1 when there is none.
func headOf(parts []segment) (head uint16, at int) {
	if canHead(parts) {
		probe := probeOf(parts)
		for i := 0; i+4 <= len(probe); i++ {
			if isWord(probe[i]) && (i == 0 || !isWord(probe[i-1])) && !strings.ContainsAny(probe[i:i+4], "'\"`") {
				return wordHead(hash4([]byte(probe[i : i+4]))), i
			}
		}
	}
	return 0, -1
}

// wordHead sums up the first four bytes of a word.
func wordHead(h uint64) uint16 { return uint16(h >> 48) }

// pieceSizes are the lengths of pieces that are told apart, longest first.
var pieceSizes = [...]int{maxPiece, 16, 12, 8, 4}

const maxPiece = 24

type bitmap struct {
	words []uint64
	shift uint
}

// newBitmap is a bitmap for n values.
func newBitmap(n int) bitmap { return newBitmapOf(uint(max(12, bits.Len(uint(n))+4))) }

// newBitmapOf is a bitmap of 1<<k bits.
func newBitmapOf(k uint) bitmap {
	return bitmap{make([]uint64, 1<<k/64), 64 - k}
}

func (b *bitmap) set(h uint64) { h >>= b.shift; b.words[h>>6] |= 1 << (h & 63) }
func (b *bitmap) has(h uint64) bool {
	h >>= b.shift
	return b.words[h>>6]>>(h&63)&1 != 0
}

const mixer = 0x9e3779b97f4a7c15

// Capitals and small letters have the same hash: people type either.
func hash4(t []byte) uint64 { return uint64(binary.LittleEndian.Uint32(t)|0x20202020) * mixer }
func hash8(t []byte) uint64 { return (binary.LittleEndian.Uint64(t) | 0x2020202020202020) * mixer }

// hash12 is the hash of 12 bytes, of which that of the first 8 is known.
func hash12(first8 uint64, t []byte) uint64 {
	return (bits.RotateLeft64(first8, 29) ^ hash4(t[8:])) * mixer
}

// pieceKey is the key of a piece of one of the known lengths.
func pieceKey(t []byte) uint64 {
	h := uint64(len(t))
	for len(t) >= 8 {
		h = bits.RotateLeft64(h^hash8(t), 29) * mixer
		t = t[8:]
	}
	if len(t) >= 4 {
		h = bits.RotateLeft64(h^hash4(t), 29) * mixer
	}
	return h
}

// probeDraft collects the pieces of a share of the owners.
type probeDraft struct {
	pieces []draftPiece
	loose  []loose
	most   int
}

// draftPiece is a piece with the hashes by which the bitmaps know it.
type draftPiece struct {
	piece
	first, hash uint64
}

// add notes the pieces of an owner.
func (d *probeDraft) add(owner int32, parts []segment) {
	words := wordsIn(parts)
	if words < minCutWords-1 {
		return // no part of it is enough
	}
	d.most = max(d.most, literalLen(parts))
	need := (literalLen(parts) + 1) / 2
	if words < minCutWords {
		need = literalLen(parts) * 95 / 100
	}
	head, at := bestPiece(headPieces(parts, need))
	tail, _ := bestPiece(tailPieces(parts, need))
	word, lead := headOf(parts)
	kind := headEnd
	if lead < 0 {
		kind |= anyHead
	} else {
		kind |= leadUnit * ends(lead)
		if at == lead {
			kind |= opening
		}
	}
	if head == tail {
		d.addPiece(head, owner, word, kind|tailEnd)
	} else {
		d.addPiece(head, owner, word, kind)
		d.addPiece(tail, owner, word, tailEnd)
	}
	without := ends(0)
	if head == "" && canHead(parts) {
		without |= headEnd
	}
	if tail == "" && parts[len(parts)-1].gap == "" {
		without |= tailEnd
	}
	if without != 0 {
		d.loose = append(d.loose, looseOf(owner, parts, without))
	}
}

func (d *probeDraft) addPiece(s string, owner int32, head uint16, ends ends) {
	if s == "" {
		return
	}
	var buf [maxPiece]byte
	text := buf[:copy(buf[:], s)]
	p := draftPiece{piece: piece{pieceKey(text), owner, head, ends, uint8(len(text))}, first: hash4(text)}
	switch len(text) {
	case 4:
		p.hash = p.first
	case 8:
		p.hash = hash8(text)
	default:
		p.hash = hash12(hash8(text), text)
	}
	d.pieces = append(d.pieces, p)
}

// newProbes makes the probes of several shares. The owners of a share are counted
// from its base.
func newProbes(drafts []*probeDraft, bases []int32) *probes {
	p := &probes{first: newBitmapOf(15)}
	n := 0
	for k, d := range drafts {
		n += len(d.pieces)
		p.most = max(p.most, d.most)
		for _, x := range d.loose {
			x.owner += bases[k]
			p.loose = append(p.loose, x)
		}
	}
	p.short, p.long = newBitmap(n/4), newBitmap(n)
	p.bits = uint(max(4, bits.Len(uint(n))))
	p.starts = make([]uint32, 1<<p.bits+1)
	p.pieces = make([]piece, n)
	for _, d := range drafts {
		for i := range d.pieces {
			p.starts[d.pieces[i].key>>(64-p.bits)]++
		}
	}
	sum := uint32(0)
	for i, n := range p.starts {
		sum += n
		p.starts[i] = sum
	}
	for k := len(drafts) - 1; k >= 0; k-- {
		list := drafts[k].pieces
		for i := len(list) - 1; i >= 0; i-- {
			x := &list[i]
			x.owner += bases[k]
			b := x.key >> (64 - p.bits)
			p.starts[b]--
			p.pieces[p.starts[b]] = x.piece
			p.first.set(x.first)
			if x.size > 8 {
				p.long.set(x.hash)
			} else {
				p.short.set(x.hash)
			}
		}
	}
	return p
}

// wordsIn counts the words of the literals.
func wordsIn(parts []segment) int {
	n := 0
	for _, p := range parts {
		eachWord(p.text, func(int, int) { n++ })
	}
	return n
}

// needed is a stretch of a literal that must be there; opens says that a word
// begins with it in the text as well.
type needed struct {
	text  string
	opens bool
}

func firstLiteral(parts []segment) int {
	if parts[0].gap != "" {
		return 1
	}
	return 0
}

// maxProbe is how much of its first literal is looked for to find a message.
const maxProbe = 10

func probeOf(parts []segment) string {
	text := parts[firstLiteral(parts)].text
	return text[:min(len(text), maxProbe)]
}

// canHead reports whether alignHead can lay a message at all.
func canHead(parts []segment) bool {
	first := firstLiteral(parts)
	return first < len(parts) && parts[first].text != ""
}

// headPieces are the stretches that must be there when need bytes of the literal
// text are, from the first on: what alignHead takes.
func headPieces(parts []segment, need int) []needed {
	if !canHead(parts) {
		return nil
	}
	var out []needed
	first := firstLiteral(parts)
	for i := first; i < len(parts) && need > 0; i++ {
		if n := min(len(parts[i].text), need); n > 0 {
			out = append(out, needed{parts[i].text[:n], i == first})
			need -= n
		}
	}
	return out
}

// tailPieces are the same from the last on: what alignTail takes.
func tailPieces(parts []segment, need int) []needed {
	if parts[len(parts)-1].gap != "" {
		return nil
	}
	var out []needed
	for i := len(parts) - 1; i >= 0 && need > 0; i-- {
		text := parts[i].text
		if n := min(len(text), need); n > 0 {
			out = append(out, needed{text: text[len(text)-n:]})
			need -= n
		}
	}
	return out
}

// bestPiece is the longest piece that begins with a word and holds no quote, as
// any quote stands for any other; "" when there is none. If it is of a literal that
// opens a message, it begins at an offset of that, else at -1.
func bestPiece(list []needed) (best string, at int) {
	at = -1
	for _, n := range list {
		for i := range len(n.text) {
			if !isWord(n.text[i]) || i == 0 && !n.opens || i > 0 && isWord(n.text[i-1]) {
				continue
			}
			end := i
			for end < len(n.text) && !isQuote(n.text[end]) {
				end++
			}
			for _, size := range pieceSizes {
				if size <= end-i {
					if size > len(best) {
						best, at = n.text[i:i+size], i
						if !n.opens {
							at = -1
						}
					}
					break
				}
			}
		}
	}
	return best, at
}

// each calls f with the pieces that stand in text[from:to], until it returns false.
// It may name one that is not there.
func (p *probes) each(text []byte, from, to int, f func(at int, x *piece) bool) bool {
	s := startsIn(text, from, to)
	for i := s.next(); i >= 0 && i+4 <= to; i = s.next() {
		if h := hash4(text[i:]); p.first.has(h) && !p.eachAt(text, i, to, h, f) {
			return false
		}
	}
	return true
}

// eachAt is each for the word that begins at i.
func (p *probes) eachAt(text []byte, i, to int, h uint64, f func(at int, x *piece) bool) bool {
	if p.short.has(h) && !p.eachOf(pieceKey(text[i:i+4]), i, f) {
		return false
	}
	if i+8 > to {
		return true
	}
	h = hash8(text[i:])
	if p.short.has(h) && !p.eachOf(pieceKey(text[i:i+8]), i, f) {
		return false
	}
	if i+12 > to || !p.long.has(hash12(h, text[i:])) {
		return true
	}
	for _, size := range [...]int{maxPiece, 16, 12} {
		if i+size <= to && !p.eachOf(pieceKey(text[i:i+size]), i, f) {
			return false
		}
	}
	return true
}

func (p *probes) eachOf(key uint64, at int, f func(at int, x *piece) bool) bool {
	b := key >> (64 - p.bits)
	list := p.pieces[p.starts[b]:p.starts[b+1]]
	for i := range list {
		if list[i].key == key && !f(at, &list[i]) {
			return false
		}
	}
	return true
}

// segments are the literals and gaps of an owner's message, nil when it has more
// than those. They are made when they are first asked for.
func (e *Engine) segments(owner int) []segment {
	if s := e.parts[owner].Load(); s != nil {
		return *s
	}
	s := segmentsFor(e.patternOf(&e.owners[owner]))
	e.parts[owner].Store(&s)
	return s
}

// occurrence is a piece in a text.
type occurrence struct {
	at    int // of a head: where its message begins
	end   int // of the piece
	owner int32
}

// pieces are what was found of messages in the text of a reading, each list by
// place.
type pieces struct {
	heads []occurrence
	loose []occurrence // of heads of which it is not known where they begin
	tails []occurrence
	until int // how far was looked
}

// probe looks for pieces in the text of a reading, up to an offset at least.
func (w *work) probe(r *reading, to int) *pieces {
	arena := r.m.arena
	if r.pieces == nil {
		r.pieces = arena.found.one()
	}
	f := r.pieces
	text := r.m.text
	if to = min(to, len(text)); f.until >= to {
		return f
	}
	if len(text) <= maxJoinBytes {
		to = len(text)
	}
	p := w.engine.probes
	var inner []innerHead
	known := len(f.heads)
	s := startsBehind(text, f.until, to)
	for i := s.next(); i >= 0 && i+4 <= len(text); i = s.next() {
		h := hash4(text[i:])
		if !p.first.has(h) {
			continue
		}
		p.eachAt(text, i, len(text), h, func(at int, x *piece) bool {
			o := occurrence{at, at + int(x.size), x.owner}
			if x.ends&tailEnd != 0 {
				f.tails = append(arena.pieces.grow(f.tails), o)
			}
			switch {
			case x.ends&headEnd == 0:
			case x.ends&anyHead != 0:
				f.loose = append(arena.pieces.grow(f.loose), o)
			case x.ends&opening != 0:
				o.at -= x.ends.lead()
				f.heads = append(arena.pieces.grow(f.heads), o)
			default:
				inner = append(arena.inner.grow(inner), innerHead{o, x.head, x.ends.lead()})
			}
			return true
		})
	}
	if len(inner) > 0 {
		f.findHeads(r.m, max(0, f.until-cutReach(p.most)), inner)
	}
	if len(f.heads) > known {
		slices.SortFunc(f.heads, func(a, b occurrence) int { return a.at - b.at })
	}
	f.until = to
	return f
}

// innerHead is a piece of a head that does not begin with the word that tells where
// the message begins.
type innerHead struct {
	occurrence
	head uint16
	lead int
}

// word is where a word begins, and the word before it with a head like its own.
type word struct {
	at     int
	before int // its index, -1 when there is none
	head   uint16
}

// findHeads finds where messages may begin whose inner pieces are there.
func (p *pieces) findHeads(m *mapped, from int, inner []innerHead) {
	var words []word
	var last [256]int // one more than the index of the last word with a head like that
	s := startsIn(m.text, from, inner[len(inner)-1].at)
	i := s.next()
	for _, o := range inner {
		for ; i >= 0 && i < o.at; i = s.next() {
			head := wordHead(hash4(m.text[i:]))
			words = append(m.arena.words.grow(words), word{i, last[head>>8] - 1, head})
			last[head>>8] = len(words)
		}
		for k := last[o.head>>8] - 1; k >= 0; k = words[k].before {
			if words[k].head == o.head {
				p.heads = append(m.arena.pieces.grow(p.heads), occurrence{words[k].at - o.lead, o.end, o.owner})
			}
		}
	}
}

// startingAt is the part of a list that begins at an offset.
func startingAt(list []occurrence, at int) []occurrence {
	return list[sort.Search(len(list), func(k int) bool { return list[k].at >= at }):]
}

// mayBeCut reports whether the line holds enough of any message. It looks at the
// few whose pieces are there, and is much cheaper than looking for the messages
// that the line resembles.
func (w *work) mayBeCut(r, long *reading, l *line, inLong, until int) bool {
	p := w.engine.probes
	here := func(owner int32, at ends) bool { return w.cutHere(r, l, owner, at) }
	further := func(owner int32) bool { return w.cutFurther(long, owner, inLong, until) }
	if len(p.loose) > 0 {
		var have pairSet
		have.add(r.m.text, l.body, l.end)
		if inLong >= 0 {
			have.add(long.m.text, inLong, until)
		}
		for i := range p.loose {
			x := &p.loose[i]
			at := x.mayHave(&have, r.m.text[l.end-1])
			if at != 0 && here(x.owner, at) || at&headEnd != 0 && inLong >= 0 && further(x.owner) {
				return true
			}
		}
	}
	// All that is in the line is in the joined lines as well, unless it follows a
	// word without a blank: then its first word is another one.
	switch {
	case inLong < 0 && len(r.lines) == 1:
		return w.probe(r, l.end).any(l.body, l.end, here)
	case inLong < 0 || inLong > 0 && isWord(long.m.text[inLong-1]):
		if !p.each(r.m.text, l.body, l.end, func(_ int, x *piece) bool { return !here(x.owner, x.ends) }) {
			return true
		}
		if inLong < 0 {
			return false
		}
	}
	stop := inLong + l.end - l.body
	to := max(inLong+cutReach(p.most), stop)
	found := w.probe(long, to)
	if len(found.heads)+len(found.loose)+len(found.tails) == 0 {
		return false
	}
	if found.any(inLong, stop, here) {
		return true
	}
	for _, o := range startingAt(found.heads, inLong) {
		if o.at >= until {
			break
		}
		if further(o.owner) {
			return true
		}
	}
	for _, o := range startingAt(found.loose, inLong) {
		if o.at >= to {
			break
		}
		if further(o.owner) {
			return true
		}
	}
	return false
}

// cutHere reports whether a line holds enough of a message: of its head, or of its
// tail.
func (w *work) cutHere(r *reading, l *line, owner int32, at ends) bool {
	parts := w.engine.segments(int(owner))
	if at&headEnd != 0 {
		end := min(l.end, l.body+maxCutLine)
		if a, ok := alignHead(parts, r, l.body, end, end); ok {
			if _, _, ok = a.enough(); ok {
				return true
			}
		}
	}
	if at&tailEnd == 0 {
		return false
	}
	a, ok := alignTail(parts, r, l.body, l.end)
	if ok {
		_, _, ok = a.enough()
	}
	return ok
}

// cutFurther reports whether the joined lines hold enough of a message whose head
// begins between two offsets.
func (w *work) cutFurther(long *reading, owner int32, from, until int) bool {
	parts := w.engine.segments(int(owner))
	end := min(len(long.m.text), from+cutReach(literalLen(parts)))
	a, ok := alignHead(parts, long, from, until, end)
	if ok {
		_, _, ok = a.enough()
	}
	return ok
}

// any reports whether f does of any message with a piece in text[from:to].
func (p *pieces) any(from, to int, f func(owner int32, at ends) bool) bool {
	for k, list := range [...][]occurrence{p.heads, p.loose, p.tails} {
		at := headEnd
		if k == 2 {
			at = tailEnd
		}
		if n := len(list); n == 0 || list[0].at >= to || list[n-1].at < from {
			continue
		}
		for _, o := range startingAt(list, from) {
			if o.at >= to {
				break
			}
			if o.end <= to && f(o.owner, at) {
				return true
			}
		}
	}
	return false
}
