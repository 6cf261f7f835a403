package diagnose

import (
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
	head, at := bestPiece(headPieces(parts, neededOf(parts, false)))
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
	if head == "" && canHead(parts) {
		without |= headEnd
	}
	if tails := tailPieces(parts, neededOf(parts, true)); len(tails) > 0 {
		tail, _ := bestPiece(tails)
		end := longestPiece(tails[0].text)
		switch {
		case end != "" && (len(end) >= 8 || len(end) >= len(tail)):
			d.addEnding(end, owner)
		case tail == "":
			without |= tailEnd
		case tail == head:
			kind |= tailEnd
		default:
			d.addPiece(tail, owner, 0, tailEnd)
		}
	}
	d.addPiece(head, owner, word, kind)
	if without != 0 {
		d.loose = append(d.loose, looseOf(owner, parts, without))
	}
}

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

func (d *probeDraft) addEnding(s string, owner int32) {
	d.endings = append(d.endings, draftPiece{
		piece: piece{key: endKey([]byte(s)), owner: owner, ends: tailEnd, size: uint8(len(s))},
		first: endKey([]byte(s[len(s)-4:])),
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
	type word struct {
		at   int // where it begins, coming from that end
		most float64
	}
	var words []word
	n := 0
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
	most, worth := total*9/10, 0.0
	for i, w := range words {
		worth += w.most
		if i+1 >= minCutWords && worth >= minCutWorth {
			half := (total + 1) / 2
			if !tail {
				half = min(half, minTitle)
			}
			return min(max(w.at+1, half), most)
		}
	}
	return most
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
			out = append(out, needed{parts[i].text[:n], i == first})
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

// looseOf is a message for whose ends there is no piece.
func looseOf(owner int32, parts []segment, at ends) loose {
	x := loose{owner: owner, ends: at}
	for i := range x.first {
		x.first[i] = anyPair
	}
	if at&headEnd != 0 {
		t, n := probeOf(parts), 0
		for i := 0; i+1 < len(t) && n < len(x.first); i++ {
			if !isQuote(t[i]) && !isQuote(t[i+1]) {
				x.first[n] = pairOf(t[i], t[i+1])
				n++
			}
		}
	}
	if at&tailEnd != 0 {
		t := parts[len(parts)-1].text
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
