package diagnose

import "sync"

// arena is memory for one diagnosis. What is made on the way to an answer is taken
// from it and given back as a whole, so that the next diagnosis finds it warm. A
// nil arena takes from the heap.
type arena struct {
	work     work
	tally    tally
	builders slab[builder]
	cuts     slab[cutCandidate]
	bytes    slab[byte]
	runs     slab[run]
	lines    slab[line]
	numbers  slab[int]
	joints   slab[joint]
	places   slab[place]
	flags    slab[bool]
	wraps    slab[wrap]
	pieces   slab[occurrence]
	words    slab[word]
	found    slab[pieces]
	inner    slab[innerHead]
	mapped   slab[mapped]
	readings slab[reading]
}

// slab is memory for values of one type.
type slab[T any] struct {
	all  []T
	used int
}

// firstSlab is for how many values a slab has room at first.
const firstSlab = 64

// take is room for n values; none is there yet.
func (s *slab[T]) take(n int) []T {
	if s.used+n > len(s.all) {
		// What was taken before stays where it is, with those who took it.
		s.all, s.used = make([]T, max(n, 2*len(s.all), firstSlab)), 0
	}
	s.used += n
	return s.all[s.used-n : s.used-n : s.used]
}

// grow is list with room for one more.
func (s *slab[T]) grow(list []T) []T {
	if len(list) < cap(list) {
		return list
	}
	return append(s.take(max(8, 2*cap(list))), list...)
}

// one is a single value, zero.
func (s *slab[T]) one() *T {
	v := &s.take(1)[:1][0]
	*v = *new(T)
	return v
}

// empty makes the slab free of what was taken. It keeps memory for at most so many
// values.
func (s *slab[T]) empty(most int) {
	s.used = 0
	if len(s.all) > most {
		s.all = nil
	}
}

// forget drops what the values taken point to.
func (s *slab[T]) forget() {
	for i := range s.all[:s.used] {
		s.all[i] = *new(T)
	}
}

// forgotten is an empty list in the memory of one, without what that pointed to. The
// memory of a long one is not kept.
func forgotten[T any](list []T) []T {
	if cap(list) > 64 {
		return nil
	}
	list = list[:cap(list)]
	for i := range list {
		list[i] = *new(T)
	}
	return list[:0]
}

var arenas = sync.Pool{New: func() any { return &arena{} }}

// release empties an arena for the next diagnosis. It does not keep what an unusually
// large text took.
func (a *arena) release() {
	a.empty()
	arenas.Put(a)
}

// empty takes back everything that was taken.
func (a *arena) empty() {
	a.mapped.forget()
	a.readings.forget()
	a.found.forget()
	a.builders.forget()
	a.cuts.forget()
	w := &a.work
	*w = work{visit: w.visit, hits: forgotten(w.hits), texts: forgotten(w.texts), lines: w.lines[:0]}
	a.tally = tally{groups: forgotten(a.tally.groups)}
	const many = 16 << 10
	a.builders.empty(many)
	a.cuts.empty(many)
	a.bytes.empty(32 * many)
	a.runs.empty(many)
	a.lines.empty(many)
	a.numbers.empty(many)
	a.joints.empty(many)
	a.places.empty(many)
	a.flags.empty(many)
	a.wraps.empty(many)
	a.pieces.empty(many)
	a.words.empty(many)
	a.inner.empty(many)
	a.found.empty(many)
	a.mapped.empty(many)
	a.readings.empty(many)
}
