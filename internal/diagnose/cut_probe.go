package diagnose

import (
	"bytes"
	"math/bits"

	"errorkb/internal/pattern/little"
)

// probes tell at little cost that no message stands cut in a line. Of every
// message one piece is known that must be there when its head is. Of its tail the last
// bytes are known with which the line must end, or where these are few a piece as well.
// A line that holds none of them needs no closer look.
type probes struct {
	first       bitmap // over the first 4 bytes of all pieces; small
	short, long bitmap // over pieces of 4 and 8 bytes, and over the first 12 bytes of others
	pieces      pieceTable
	last        bitmap // over the last 4 bytes of all endings
	endings     pieceTable
	loose       []loose // messages with neither
	most        int     // literal bytes of the longest message
}

// pieceTable finds pieces by their keys.
type pieceTable struct {
	bits   uint // of the buckets
	starts []uint32
	list   []piece // by bucket
}

// piece is what must be there of an owner.
type piece struct {
	key   uint64
	owner int32
	place uint16 // of a head: the word that tells where the message begins, see headOf; of a tail: see spotOf
	ends  ends
	size  uint8
}

// loose is a message that has no piece for one of its ends or both. A line that may
// hold such an end has some pairs of bytes, or its last byte.
type loose struct {
	owner int32
	pairs [4]uint16 // of the head, or where that has a piece of the tail, as pairOf has them; anyPair for fewer
	last  byte      // as lastOf has it; anyByte when the message ends with a value
	ends  ends
}

const (
	anyPair = pairs
	anyByte = 0xff
	pairs   = 1 << 10
)

func pairOf(a, b byte) uint16 { return (uint16(a|0x20)*31 + uint16(b|0x20)) % pairs }

// lastOf is a byte without regard to case and to the kind of a quote.
func lastOf(c byte) byte {
	if isQuote(c) {
		return '\''
	}
	return c | 0x20
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
	for _, k := range x.pairs {
		if k != anyPair && have[k/64]>>(k%64)&1 == 0 {
			at &^= x.paired()
		}
	}
	if x.last != anyByte && x.last != last {
		at &^= tailEnd
	}
	return at
}

// paired is the end whose pairs are known.
func (x *loose) paired() ends {
	if x.ends&headEnd != 0 {
		return headEnd
	}
	return tailEnd
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

// each calls f with the pieces that stand in text[from:to], until it returns false.
// It may name one that is not there.
func (p *probes) each(text []byte, from, to int, f func(at int, x *piece) bool) bool {
	s := startsIn(text, from, to)
	for i := s.step(); i >= 0 && i+4 <= to; i = s.step() {
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
	for list := p.pieces.of(key); len(list) > 0; list = list[1:] {
		if list[0].key == key && !f(at, &list[0]) {
			return false
		}
	}
	return true
}

// of is the bucket of a key. It may hold pieces with others.
func (t *pieceTable) of(key uint64) []piece {
	if len(t.list) == 0 {
		return nil
	}
	b := key >> (64 - t.bits)
	return t.list[t.starts[b]:t.starts[b+1]]
}

// eachEnding calls f with the messages with whose last bytes a text ends, until it
// returns false.
func (p *probes) eachEnding(text []byte, f func(owner int32) bool) bool {
	if len(text) < 4 {
		return true
	}
	var last [4]byte
	for i := range last {
		if last[i] = text[len(text)-4+i]; isQuote(last[i]) {
			last[i] = '\''
		}
	}
	if !p.last.has(hash4(last[:])) {
		return true
	}
	var buf [maxPiece]byte
	n := plainQuotes(&buf, text)
	for _, size := range pieceSizes {
		if size > n {
			continue
		}
		key := pieceKey(buf[maxPiece-size:])
		for list := p.endings.of(key); len(list) > 0; list = list[1:] {
			if list[0].key == key && !f(list[0].owner) {
				return false
			}
		}
	}
	return true
}

// eachEnd calls f with an offset in each line of a text that ends, or holds a quote
// before which something ends, with the last bytes of a message.
func (p *probes) eachEnd(text []byte, f func(at int)) {
	for from := 0; from < len(text); {
		end := lineEndOf(text, from)
		line := bytes.TrimRight(text[from:end], " \t\r")
		for to := len(line); to > 0; to = bytes.LastIndexByte(line[:to], '"') {
			if !p.eachEnding(line[:to], func(int32) bool { return false }) {
				f(from)
				break
			}
		}
		from = end + 1
	}
}

// plainQuotes writes the last bytes of a text to the end of a buffer, with the same
// quote for any other, and returns how many there are.
func plainQuotes(buf *[maxPiece]byte, text []byte) int {
	n := copy(buf[max(0, maxPiece-len(text)):], text[max(0, len(text)-maxPiece):])
	for i, c := range buf[maxPiece-n:] {
		if isQuote(c) {
			buf[maxPiece-n+i] = '\''
		}
	}
	return n
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
