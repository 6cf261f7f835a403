package pattern

import "math/bits"

func trailing(m uint64) int { return bits.TrailingZeros64(m) }

// anchor is a word start inside a literal of a variant, with one of the shapes
// that fit there.
type anchor struct {
	step, off int
	shape     shape
	key       uint64
}

// maxAnchors bounds the word starts of one variant that are weighed.
const maxAnchors = 24

// sure returns how much of the literal of a step every match holds: a full stop
// at the end of a pattern may be missing.
func (v *variant) sure(step int) []byte {
	text := v.steps[step].text
	if v.stopMayMiss(step) {
		text = text[:len(text)-1]
	}
	return text
}

// stopMayMiss reports whether the step is the last one and ends with a single
// full stop after something else.
func (v *variant) stopMayMiss(step int) bool {
	t := v.steps[step].text
	n := len(t)
	return step == len(v.steps)-1 && n >= 2 && t[n-1] == '.' && t[n-2] != '.'
}

// bounded reports whether a letter at the start of a step begins a word.
func (v *variant) boundedStart(step int) bool {
	return step == 0 || v.steps[step-1].kind == space && v.steps[step-1].min > 0
}

// eachAnchor calls f for every anchor of a variant.
func (v *variant) eachAnchor(f func(anchor)) {
	left := maxAnchors
	for s := range v.steps {
		st := &v.steps[s]
		if st.kind != literal {
			continue
		}
		text := v.sure(s)
		for i := 0; i+4 <= len(text) && left > 0; i++ {
			if !wordStart(text, i) || i == 0 && !v.boundedStart(s) {
				continue
			}
			left--
			after := after8At(text, i)
			if st.fold {
				f(anchor{s, i, folded4, keyOf(folded4, 0, after)})
				continue
			}
			if i+8 <= len(text) {
				if i >= 8 {
					f(anchor{s, i, around8, keyAround8(before8At(text, i), after)})
				}
				f(anchor{s, i, after8, after})
			}
			if i >= 4 {
				f(anchor{s, i, around4, keyAround4(before8At(text, i), after)})
			}
			f(anchor{s, i, after4, keyOf(after4, 0, after)})
		}
	}
}

// lineWords returns the signature of the words that the line of an anchor must
// hold: of the whole variant when it stays on one line, else of the anchor's own
// literal.
func (v *variant) lineWords(step int) uint64 {
	var sig uint64
	for s := range v.steps {
		st := &v.steps[s]
		if st.kind != literal || st.fold || v.lines && s != step {
			continue
		}
		text := v.sure(s)
		for i := 0; i+4 <= len(text); i++ {
			if text[i] == '\n' {
				return 0
			}
			if wordStart(text, i) && (i > 0 || v.boundedStart(s)) {
				sig |= wordBit(after8At(text, i))
			}
		}
	}
	return sig
}

// worth reports whether the literals hold enough to look for: two letters or
// digits. A pattern that is all gaps and signs would fit any text.
func (v *variant) worth() bool {
	n := 0
	for s := range v.steps {
		for _, b := range v.steps[s].text {
			if isAlnum(b) || b >= 0x80 {
				n++
			}
		}
	}
	return n >= 2
}
