package pattern

import (
	"bytes"

	"errorkb/internal/pattern/little"
)

// A record is the form in which a pattern is kept, alone and in an index: a run
// of bytes that is laid out again into scratch space when a text may hold the
// pattern. A million of them are a million times some hundred bytes, without a
// pointer for the garbage collector to follow.
//
//	record  = 2 · count, and what follows the count in a variant; or, when
//	          there are several, 1 + 2 · number of variants, variant…
//	variant = count, step…, number of marks, mark…
//	count   = 2 · number of steps, 1 more when there are marks
//	step    = tag, then for a literal: length, bytes
//	                    for a gap: class, and when named: length, name
//	mark    = length, name, from, off, to, endOff
//
// Numbers are unsigned varints. A gap that is a named group by itself, as nearly
// all are, carries its name; marks are the other groups. A variant with a mark
// has all its groups as marks, so that they stay in order.

// Tags of steps: the kind in the low two bits, flags in the next two, and above
// them the length of a literal or the number of a known class when it fits.
const (
	tagKind   = 3
	tagFold   = 4 // literal: letters in either case
	tagNamed  = 4 // gap: a named group
	tagMin    = 8 // gap, space: may not be empty
	tagLines  = 8 // literal: holds a line end
	tagShift  = 4
	tagBehind = 15 // in the high bits: length or class stand behind the tag
)

// appendRecord appends the record of the variants.
func appendRecord(dst []byte, vs []variant) []byte {
	if len(vs) == 1 {
		return appendVariant(dst, &vs[0], 2)
	}
	dst = little.AppendUvarint(dst, 1+2*uint64(len(vs)))
	for i := range vs {
		dst = appendVariant(dst, &vs[i], 1)
	}
	return dst
}

// appendVariant appends a variant, and before it its count times something.
func appendVariant(dst []byte, v *variant, times uint64) []byte {
	own := v.ownNames()
	marks := !own && len(v.marks) > 0
	count := uint64(len(v.steps)) << 1
	if marks {
		count |= 1
	}
	dst = little.AppendUvarint(dst, times*count)
	named := 0
	for i := range v.steps {
		st := &v.steps[i]
		tag := byte(st.kind)
		switch st.kind {
		case literal:
			if st.fold {
				tag |= tagFold
			}
			if bytes.IndexByte(st.text, '\n') >= 0 {
				tag |= tagLines
			}
			if n := len(st.text); n < tagBehind {
				dst = append(dst, tag|byte(n)<<tagShift)
			} else {
				dst = little.AppendUvarint(append(dst, tag|tagBehind<<tagShift), uint64(n-tagBehind))
			}
			dst = append(dst, st.text...)
		case space:
			if st.min > 0 {
				tag |= tagMin
			}
			dst = append(dst, tag)
		case gap:
			if st.min > 0 {
				tag |= tagMin
			}
			name := own && named < len(v.marks) && v.marks[named].from == i
			if name {
				tag |= tagNamed
			}
			if id := st.set.id(); id < tagBehind {
				dst = append(dst, tag|byte(id)<<tagShift)
			} else {
				dst = appendClass(append(dst, tag|tagBehind<<tagShift), st.set)
			}
			if name {
				dst = appendName(dst, v.marks[named].name)
				named++
			}
		}
	}
	if !marks {
		return dst
	}
	dst = little.AppendUvarint(dst, uint64(len(v.marks)))
	for _, k := range v.marks {
		dst = appendName(dst, k.name)
		for _, n := range [...]int{k.from, k.off, k.to, k.endOff} {
			dst = little.AppendUvarint(dst, uint64(n))
		}
	}
	return dst
}

func appendName(dst, name []byte) []byte {
	return append(little.AppendUvarint(dst, uint64(len(name))), name...)
}

// ownNames reports whether every group is one gap, in order.
func (v *variant) ownNames() bool {
	last := -1
	for _, k := range v.marks {
		if k.off != 0 || k.endOff != 0 || k.to != k.from+1 || k.from <= last || k.from >= len(v.steps) || v.steps[k.from].kind != gap {
			return false
		}
		last = k.from
	}
	return true
}

// layout is scratch space for the variants of one record.
type layout struct {
	variants []variant
	classes  []*class // for sets that are written out in the record
	nclasses int
}

// decode lays a record out. The variants are good until the next call.
func (l *layout) decode(rec []byte) []variant { return l.read(&reader{rec}) }

// read lays out the record that the reader is at.
func (l *layout) read(r *reader) []variant {
	head := r.num()
	l.nclasses = 0
	if head&1 == 0 {
		l.grow(1)
		l.decodeVariant(r, &l.variants[0], head>>1)
		return l.variants[:1]
	}
	n := head >> 1
	l.grow(n)
	for i := range l.variants[:n] {
		l.decodeVariant(r, &l.variants[i], r.num())
	}
	return l.variants[:n]
}

// grow makes room for n variants.
func (l *layout) grow(n int) {
	for len(l.variants) < n {
		l.variants = append(l.variants, variant{})
	}
}

func (l *layout) decodeVariant(r *reader, v *variant, count int) {
	n, marks := count>>1, count&1 != 0
	v.steps, v.marks, v.chains = v.steps[:0], v.marks[:0], v.chains[:0]
	v.lines = false
	inChain := false
	for i := range n {
		tag := r.byte()
		st := step{kind: stepKind(tag & tagKind)}
		more := int(tag >> tagShift)
		switch st.kind {
		case literal:
			st.fold = tag&tagFold != 0
			v.lines = v.lines || tag&tagLines != 0
			if more == tagBehind {
				more += r.num()
			}
			st.text = r.bytes(more)
		case space:
			v.lines = true
			st.min = int(tag & tagMin >> 3)
		case gap:
			st.min = int(tag & tagMin >> 3)
			if more == tagBehind {
				st.set = l.class(r)
			} else {
				st.set = known[more]
			}
			v.lines = v.lines || st.set.lines
			if tag&tagNamed != 0 {
				v.marks = append(v.marks, mark{name: r.bytes(r.num()), from: i, to: i + 1})
			}
		}
		if st.kind == gap {
			inChain = false
		} else if inChain {
			v.chains[len(v.chains)-1].to = i + 1
		} else {
			v.chains = append(v.chains, span{i, i + 1})
			inChain = true
		}
		v.steps = append(v.steps, st)
	}
	if !marks {
		return
	}
	for range r.num() {
		v.marks = append(v.marks, mark{r.bytes(r.num()), r.num(), r.num(), r.num(), r.num()})
	}
}

// reader reads a record. Records are ours, so it trusts them.
type reader struct{ b []byte }

func (r *reader) byte() byte {
	b := r.b[0]
	r.b = r.b[1:]
	return b
}

func (r *reader) num() int {
	if b := r.b[0]; b < 0x80 {
		r.b = r.b[1:]
		return int(b)
	}
	n, size := little.Uvarint(r.b)
	r.b = r.b[size:]
	return int(n)
}

func (r *reader) bytes(n int) []byte {
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}
