package pattern

import (
	"bytes"
	"slices"

	"errorkb/internal/pattern/little"
)

// maxFound is how many entries of a block wait to be verified. Many patterns that
// begin alike could make them any number.
const maxFound = 4096

// foundAt is an entry whose key stands at a word start of the block.
type foundAt struct {
	entry uint32
	at    int
	line  line
}

// lookUp compares the first n keys with the entries of their buckets.
func (f *finder) lookUp(n int) bool {
	// Whatever can miss the cache is loaded for all of a block before it is asked:
	// the buckets, the first entry of each, the records of those that are left.
	s := f.seg
	for i := range f.keys[:n] {
		k := &f.keys[i]
		b := slot(k.key, s.bucketBits)
		k.from = little.Uint32(s.starts[4*b:])
		k.to = little.Uint32(s.starts[4*b+4:])
	}
	for i := range f.keys[:n] {
		if first := int(f.keys[i].from) * entrySize; first < len(s.entries) {
			f.touched += uint32(s.entries[first])
		}
	}
	f.found = f.found[:0]
	for i := range f.keys[:n] {
		k := &f.keys[i]
		f.work += int(k.to - k.from)
		tag := tagOf(k.key)
		for from := k.from; from < k.to; from++ {
			raw := (*[entrySize]byte)(s.entries[int(from)*entrySize:])
			if little.Uint32(raw[:]) != tag {
				continue
			}
			at := f.base + int(k.at)
			if more := moreAtOf(little.Uint32(raw[20:])); more != noMore {
				m := at + more
				if m < 0 || m+4 > len(f.all) || little.Uint32(f.all[m:]) != little.Uint32(raw[4:]) {
					continue
				}
			}
			if len(f.found) == maxFound && !f.verifyFound() {
				return false
			}
			f.found = append(f.found, foundAt{entry: from, at: at})
		}
	}
	return f.verifyFound()
}

// verifyFound verifies the entries that were found, and forgets them.
func (f *finder) verifyFound() bool {
	n := 0
	for _, c := range f.found {
		raw := (*[entrySize]byte)(f.seg.entries[int(c.entry)*entrySize:])
		if f.lineOf(c.at); little.Uint64(raw[8:])&^f.sig == 0 {
			c.line = f.line
			f.touched += uint32(f.seg.records[little.Uint32(raw[16:])])
			f.found[n] = c
			n++
		}
	}
	for _, c := range f.found[:n] {
		var e entry
		e.get(f.seg.entries[int(c.entry)*entrySize:])
		if !f.verify(&e, c.at, c.line) {
			return false
		}
	}
	f.found = f.found[:0]
	return true
}

// lineOf finds the line of a place and sums up its words.
func (f *finder) lineOf(at int) {
	if at > f.line.to || at < f.line.from {
		f.line = line{lineStart(f.all, at, len(f.all)), lineEnd(f.all, at)}
		f.sig = f.sign(f.line)
	}
}

// sign returns the signature of a line.
func (f *finder) sign(l line) uint64 {
	if l.to-l.from > maxSigned {
		return ^uint64(0)
	}
	if l.from < f.base || l.to > min(f.base+blockSize, len(f.all)-4) {
		return signature(f.all[l.from:l.to])
	}
	var sig uint64
	text := f.all[f.base:]
	words := f.starts[:f.nstart]
	i, _ := slices.BinarySearch(words, uint32(l.from-f.base))
	for _, at := range words[i:] {
		if int(at) >= l.to-f.base {
			break
		}
		sig |= wordBit(uint64(little.Uint32(text[at:])))
	}
	return sig
}

// enter forgets which records were searched for when the line is another one.
func (f *finder) enter(l line) {
	if f.seenIn == l {
		return
	}
	f.seenIn = l
	f.seen = f.seen[:0]
	if len(f.more) > 0 {
		clear(f.more)
	}
}

// verify looks whether the pattern of an entry stands around its anchor, and
// reports all places in the line when it was not searched for there before.
func (f *finder) verify(e *entry, at int, l line) bool {
	r := reader{f.seg.records[e.rec:]}
	id := r.num()
	vs := f.read(&r)
	v := &vs[e.variant]
	text := v.sure(e.step)
	start := at - e.off
	if start < 0 || start+len(text) > len(f.all) {
		return true
	}
	have := f.all[start : start+len(text)]
	if !bytes.Equal(have, text) && !(v.steps[e.step].fold && equalFold(have, text)) {
		return true
	}
	if f.seg.isDead(uint32(id)) {
		return true
	}
	lines := false
	for i := range vs {
		lines = lines || vs[i].lines
	}
	if lines || l.to-l.from > maxLine {
		return f.around(e.rec, id, vs, at, l, lines)
	}
	f.enter(l)
	if f.again(e.rec) {
		return true
	}
	_, ok := f.reportAll(id, vs, l.from, l.to)
	return ok
}

// again reports whether a record was searched for in this line, and notes it. A
// line rarely has more than a few, but a made one may have all of them.
func (f *finder) again(rec uint32) bool {
	if len(f.seen) < 32 {
		if slices.Contains(f.seen, rec) {
			return true
		}
		f.seen = append(f.seen, rec)
		return false
	}
	if _, ok := f.more[rec]; ok || slices.Contains(f.seen, rec) {
		return true
	}
	f.more[rec] = struct{}{}
	return false
}

// around searches the text around an anchor.
func (f *finder) around(rec uint32, id int, vs []variant, at int, l line, lines bool) bool {
	s := f.wide[rec]
	if at < s.until {
		return true
	}
	low, high := l.from, l.to
	if lines {
		low, high = 0, len(f.all)
	}
	from := max(low, at-maxSpan, s.last)
	to := min(high, at+2*maxSpan)
	s.until = at + maxSpan
	if to == high && !lines {
		s.until = high
	}
	last, ok := f.reportAll(id, vs, from, to)
	s.last = max(s.last, last)
	f.wide[rec] = s
	return ok
}

// maxSpan is how far a match may reach to either side of its anchor when it is
// not searched for by whole lines.
const maxSpan = 2 * maxValue

// reportAll reports all matches between from and to.
func (f *finder) reportAll(id int, vs []variant, from, to int) (last int, ok bool) {
	if text := plain(vs); text != nil {
		return f.reportPlain(id, text, from, to)
	}
	f.reset(f.all, &vs[0])
	for from <= to {
		r, found := f.nextOf(vs, f.all, from, to)
		if !found {
			break
		}
		if !f.report(id, f.match()) {
			return last, false
		}
		last = r.end
		from = max(r.end, from+1)
	}
	return last, true
}

// plain returns the text of a pattern that is nothing else, as half of all messages
// are; nil for others.
func plain(vs []variant) []byte {
	if len(vs) > 1 || len(vs[0].steps) > 1 || len(vs[0].marks) > 0 {
		return nil
	}
	v := &vs[0]
	if st := &v.steps[0]; st.kind == literal && !st.fold && !v.stopMayMiss(0) {
		return st.text
	}
	return nil
}

// reportPlain is reportAll for a plain pattern, without weighing readings.
func (f *finder) reportPlain(id int, text []byte, from, to int) (last int, ok bool) {
	for {
		i := bytes.Index(f.all[from:to], text)
		if i < 0 {
			f.work += to - from
			return last, true
		}
		f.work += i + 1
		start, end := from+i, from+i+len(text)
		if insideWord(f.all, start) || insideWord(f.all, end) {
			from = start + 1
			continue
		}
		if !f.report(id, Match{Start: start, End: end}) {
			return last, false
		}
		last, from = end, end
	}
}
