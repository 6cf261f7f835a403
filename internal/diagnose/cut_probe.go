package diagnose

import (
	"math/bits"
	"strings"

	"errorkb/internal/pattern/little"
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
func hash4(t []byte) uint64 { return uint64(little.Uint32(t)|0x20202020) * mixer }
func hash8(t []byte) uint64 { return (little.Uint64(t) | 0x2020202020202020) * mixer }

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
