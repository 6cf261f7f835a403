package pattern

import "bytes"

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
	text := v.sure(e.step)
	rare := text[e.off]
	for at := e.off; at < len(f.all); at++ {
		i := bytes.IndexByte(f.all[at:], rare)
		if i < 0 {
			return true
		}
		at += i
		if at < e.off || !bytes.HasPrefix(f.all[at-e.off:], text) {
			continue
		}
		f.lineOf(at)
		if !f.verify(e, at, f.line) {
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
		f.lineOf(at)
		if !f.verify(e, at, f.line) {
			return false
		}
	}
	return true
}
