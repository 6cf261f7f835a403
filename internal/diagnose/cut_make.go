package diagnose

import (
	"math/bits"
	"strings"
)

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
