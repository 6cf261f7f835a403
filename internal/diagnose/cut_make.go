package diagnose

import (
	"math"
	"math/bits"
	"slices"
	"strings"
)

// probeDraft collects the pieces of a share of the owners.
type probeDraft struct {
	pieces  []draftPiece
	endings []draftPiece
	loose   []loose
	most    int
}

// draftPiece is a piece with the hashes by which the bitmaps know it.
type draftPiece struct {
	piece
	first, hash uint64
}

// add notes the pieces of an owner.
func (d *probeDraft) add(owner int32, parts []segment) {
	if wordsIn(parts) < minCutWords-1 {
		return // no part of it is enough
	}
	d.most = max(d.most, literalLen(parts))
	without := ends(0)
	word, lead := headOf(parts)
	headKind := headEnd | anyHead
	if lead >= 0 {
		headKind = headEnd | leadUnit*ends(lead)
	}
	heads := headPieces(parts, neededOf(parts, false))
	switch head := bestPiece(heads); {
	case head.text != "":
		if lead >= 0 && head.opens && head.from == lead {
			headKind |= opening
		}
		d.addPiece(head.text, owner, word, headKind)
	case canHead(parts) && !d.addQuoted(heads, owner, headKind, func(needed) uint16 { return word }):
		without |= headEnd
	}
	if tails := tailPieces(parts, neededOf(parts, true)); len(tails) > 0 {
		tail, end := bestPiece(tails), ""
		if parts[len(parts)-1].gap == "" {
			end = longestPiece(tails[0].text)
		}
		switch {
		case end != "" && (len(end) >= 8 || len(end) >= len(tail.text)):
			d.addEnding(end, owner)
		case tail.text != "":
			d.addPiece(tail.text, owner, spotOf(tail), tailEnd)
		case !d.addQuoted(tails, owner, tailEnd, spotOf):
			without |= tailEnd
		}
	}
	if without != 0 {
		d.loose = append(d.loose, looseOf(owner, parts, without))
	}
}

// addQuoted notes a piece of four bytes with a quote in it, once for each kind of quote,
// and reports false when there is none. It is for messages without another piece.
func (d *probeDraft) addQuoted(list []needed, owner int32, ends ends, place func(needed) uint16) bool {
	const size = 4
	for _, n := range list {
		for i := 0; i+size <= len(n.text); i++ {
			piece := []byte(n.text[i : i+size])
			if !isWord(piece[0]) || i == 0 && !n.opens || i > 0 && isWord(n.text[i-1]) {
				continue
			}
			at := slices.IndexFunc(piece, isQuote)
			if at < 0 || slices.ContainsFunc(piece[at+1:], isQuote) {
				continue
			}
			for _, quote := range []byte("'\"`") {
				piece[at] = quote
				d.addPiece(string(piece), owner, place(needed{part: n.part, from: n.from + i}), ends)
			}
			return true
		}
	}
	return false
}

// spotOf is where a piece stands in its message: which literal, and at which offset.
func spotOf(n needed) uint16 {
	if n.part > 0xff || n.from > 0xff {
		return anySpot
	}
	return uint16(n.part<<8 | n.from)
}

const anySpot = 0xffff

// longestPiece are the last bytes of a text, as many as a piece may have; "" when
// there are too few.
func longestPiece(text string) string {
	for _, size := range pieceSizes {
		if size <= len(text) {
			return text[len(text)-size:]
		}
	}
	return ""
}

func (d *probeDraft) addPiece(s string, owner int32, place uint16, ends ends) {
	var buf [maxPiece]byte
	text := buf[:copy(buf[:], s)]
	p := draftPiece{piece: piece{pieceKey(text), owner, place, ends, uint8(len(text))}, first: hash4(text)}
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

func (d *probeDraft) addEnding(s string, owner int32) {
	var buf [maxPiece]byte
	plainQuotes(&buf, []byte(s))
	d.endings = append(d.endings, draftPiece{
		piece: piece{key: pieceKey(buf[maxPiece-len(s):]), owner: owner, ends: tailEnd, size: uint8(len(s))},
		first: hash4(buf[maxPiece-4:]),
	})
}

// newProbes makes the probes of several shares. The owners of a share are counted
// from its base.
func newProbes(drafts []*probeDraft, bases []int32) *probes {
	p := &probes{first: newBitmapOf(15)}
	pieces, endings := make([][]draftPiece, len(drafts)), make([][]draftPiece, len(drafts))
	n, m := 0, 0
	for k, d := range drafts {
		pieces[k], endings[k] = d.pieces, d.endings
		n, m = n+len(d.pieces), m+len(d.endings)
		p.most = max(p.most, d.most)
		for _, x := range d.loose {
			x.owner += bases[k]
			p.loose = append(p.loose, x)
		}
	}
	p.short, p.long, p.last = newBitmap(n/4), newBitmap(n), newBitmap(m/4)
	p.pieces = newPieceTable(n, pieces, bases)
	p.endings = newPieceTable(m, endings, bases)
	for _, d := range drafts {
		for i := range d.endings {
			p.last.set(d.endings[i].first)
		}
		for i := range d.pieces {
			x := &d.pieces[i]
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

// newPieceTable is the table of the n pieces of several shares.
func newPieceTable(n int, shares [][]draftPiece, bases []int32) pieceTable {
	t := pieceTable{bits: uint(max(4, bits.Len(uint(n)))), list: make([]piece, n)}
	t.starts = make([]uint32, 1<<t.bits+1)
	for _, list := range shares {
		for i := range list {
			t.starts[list[i].key>>(64-t.bits)]++
		}
	}
	sum := uint32(0)
	for i, n := range t.starts {
		sum += n
		t.starts[i] = sum
	}
	for k := len(shares) - 1; k >= 0; k-- {
		list := shares[k]
		for i := len(list) - 1; i >= 0; i-- {
			x := list[i].piece
			x.owner += bases[k]
			b := x.key >> (64 - t.bits)
			t.starts[b]--
			t.list[t.starts[b]] = x
		}
	}
	return t
}

// wordsIn counts the words of the literals.
func wordsIn(parts []segment) int {
	n := 0
	for _, p := range parts {
		eachWord(p.text, func(int, int) { n++ })
	}
	return n
}

// neededOf is how many bytes of the literal text must be there at least, from the
// first on or, of a tail, from the last one back, for the part to be enough.
func neededOf(parts []segment, tail bool) int {
	total := literalLen(parts)
	part := func(n int, share float64) int { return int(math.Ceil(float64(n) * share)) }
	type word struct {
		at   int // where it begins, coming from that end
		most float64
	}
	var room [32]word
	words, n := room[:0], 0
	for _, p := range parts {
		eachWord(p.text, func(from, to int) {
			at := n + from
			if tail {
				at = total - n - to
			}
			words = append(words, word{at, mostWorth(to - from)})
		})
		n += len(p.text)
	}
	if len(words) < minCutWords {
		return total * 95 / 100
	}
	if tail {
		slices.Reverse(words)
	}
	least, worth := total*9/10, 0.0
	for i, w := range words {
		worth += w.most
		if i+1 >= minCutWords && worth >= minCutWorth {
			half := part(total, minCutShare)
			if !tail {
				half = min(half, minTitle)
			}
			least = min(least, max(w.at+1, half))
		}
		if i+1 >= minCutWords && worth >= mostCutWorth && tail {
			least = min(least, max(w.at+1, part(total, mostCutShare)))
		}
		if i+1 >= minPartWords && worth >= minPartWorth && !tail {
			least = min(least, max(w.at+1, part(total, minPartShare)))
		}
	}
	return least
}

// mostWorth is what a word of a message is worth at most, whatever its letters and
// however much of it is there.
func mostWorth(size int) float64 {
	switch {
	case size == 1:
		return 0.1
	case size <= 3:
		return 0.6
	}
	return 1.5
}

// needed is a stretch of a literal that must be there; opens says that a word
// begins with it in the text as well.
type needed struct {
	text  string
	part  int // of the message: the literal
	from  int // where the stretch begins in that
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
		n := min(len(parts[i].text), need)
		need -= n
		if i == first {
			n = max(n, len(probeOf(parts))) // it is looked for as a whole
		}
		if n > 0 {
			out = append(out, needed{text: parts[i].text[:n], part: i, opens: i == first})
		}
	}
	return out
}

// tailPieces are the same from the last on: what alignTail takes.
func tailPieces(parts []segment, need int) []needed {
	var out []needed
	for i := len(parts) - 1; i >= 0 && need > 0; i-- {
		text := parts[i].text
		if n := min(len(text), need); n > 0 {
			out = append(out, needed{text: text[len(text)-n:], part: i, from: len(text) - n})
			need -= n
		}
	}
	return out
}

// bestPiece is the longest piece that begins with a word and holds no quote, as
// any quote stands for any other; without text when there is none.
func bestPiece(list []needed) (best needed) {
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
					if size > len(best.text) {
						best = needed{n.text[i : i+size], n.part, n.from + i, n.opens}
					}
					break
				}
			}
		}
	}
	return best
}

// looseOf is a message for whose ends there is no piece.
func looseOf(owner int32, parts []segment, at ends) loose {
	x := loose{owner: owner, ends: at, last: anyByte}
	list := []needed{{text: probeOf(parts)}}
	if x.paired() == tailEnd {
		list = tailPieces(parts, neededOf(parts, true))
	}
	n := 0
	for _, stretch := range list {
		t := stretch.text
		for i := 0; i+1 < len(t) && n < len(x.pairs); i++ {
			if !isQuote(t[i]) && !isQuote(t[i+1]) && t[i+1] != ' ' { // a blank at the end may be gone
				x.pairs[n] = pairOf(t[i], t[i+1])
				n++
			}
		}
	}
	for ; n < len(x.pairs); n++ {
		x.pairs[n] = anyPair
	}
	if t := parts[len(parts)-1].text; t != "" {
		x.last = lastOf(t[len(t)-1])
	}
	return x
}

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
