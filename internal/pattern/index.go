package pattern

import (
	"errors"
	"hash/crc32"
	"strconv"

	"errorkb/internal/pattern/fault"
	"errorkb/internal/pattern/little"
)

// Index finds which of many patterns stand in a text. It is immutable and may
// be used by several goroutines at once.
type Index struct {
	stamp string
	n     int        // ids are below
	parts []*segment // the patterns as built, and those changed since
}

// segment is a set of patterns as flat arrays, all of them slices of one run of
// bytes: the serialised form is the form at work, and nothing is decoded when
// one is opened.
type segment struct {
	flags   []byte // one byte; flagFolds
	small   []byte // bitmap over the 4 bytes after a word start, for the short keys
	long    []byte // bitmap over the 8 bytes after a word start, for the long keys
	filter  []byte // bitmap over keys
	starts  []byte // of the buckets: numbers of entries, uint32
	entries []byte // entrySize each, by bucket
	records []byte // id, record … in order of id
	loose   []byte // entries without a key, searched for by their literal
	exprs   []byte // entries of patterns that are regular expressions
	dead    []byte // bitmap of ids that a later segment replaces

	smallBits, longShift, keyShift, bucketBits uint
	folds                                      bool // some keys are without regard to case
	others                                     []other
}

// flagFolds says that some keys are without regard to case.
const flagFolds = 1

// other is a pattern that is a regular expression.
type other struct {
	id int
	p  *Pattern
}

// An entry is where a variant is found, in 24 bytes:
//
//	tag of the key 4 · four more bytes of the literal 4 · signature of the words
//	that the line must hold 8 · offset of the id and record 4 · where 4
//
// Where holds the place of the anchor in the variant (variant 5 bits, step 9,
// offset 12) and the place of the four bytes relative to the anchor (6).
const entrySize = 24

// entry is a decoded entry.
type entry struct {
	key, sig           uint64 // while building: the key; its tag is kept
	more               uint32 // while building: compared in the bytes of the entry
	rec                uint32
	variant, step, off int
	moreAt             int    // noMore when there are none
	shape              shape  // while building: of the key
	after              uint64 // while building: the bytes after the word start
}

const (
	moreBias = 16
	noMore   = 63 - moreBias
)

func (e *entry) put(b []byte) {
	little.PutUint32(b, tagOf(e.key))
	little.PutUint32(b[4:], e.more)
	little.PutUint64(b[8:], e.sig)
	little.PutUint32(b[16:], e.rec)
	where := uint32(e.variant) | uint32(e.step)<<5 | uint32(e.off)<<14 | uint32(e.moreAt+moreBias)<<26
	little.PutUint32(b[20:], where)
}

func (e *entry) get(b []byte) {
	e.sig = little.Uint64(b[8:])
	e.rec = little.Uint32(b[16:])
	where := little.Uint32(b[20:])
	e.variant, e.step, e.off = int(where&31), int(where>>5&511), int(where>>14&4095)
	e.moreAt = moreAtOf(where)
}

// moreAtOf is the place of the four more bytes in where.
func moreAtOf(where uint32) int { return int(where>>26) - moreBias }

// Errors of Open, to be tested with errors.Is.
var (
	ErrNotIndex = errors.New("not an index of patterns")
	ErrVersion  = errors.New("index of another version")
	ErrDamaged  = errors.New("index is damaged")
)

// The serialised form of an index:
//
//	magic 8 · version 4 · checksum 4 of what follows · n 4 · segments 4 ·
//	length of the stamp 4 · stamp · then per segment:
//	length 4 and bytes, for each of its arrays
//
// The version is raised when the arrays, records or known classes change, and when
// the keys or word starts do.
const (
	magic      = "kbpattrn"
	version    = 5
	headSize   = len(magic) + 4 + 4
	arrayCount = 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Len returns the number of ids: one more than the highest.
func (ix *Index) Len() int { return ix.n }

// Stamp returns the stamp that the index was opened with.
func (ix *Index) Stamp() string { return ix.stamp }

// AppendBinary appends the serialised form, which Open reads. The stamp is the
// caller's, such as the version of the data set; Open gives it back.
func (ix *Index) AppendBinary(dst []byte, stamp string) []byte {
	dst = append(dst, magic...)
	dst = little.AppendUint32(dst, version)
	sum := len(dst)
	dst = little.AppendUint32(dst, 0)
	dst = little.AppendUint32(dst, uint32(ix.n))
	dst = little.AppendUint32(dst, uint32(len(ix.parts)))
	dst = little.AppendUint32(dst, uint32(len(stamp)))
	dst = append(dst, stamp...)
	for _, s := range ix.parts {
		for _, a := range s.arrays() {
			dst = little.AppendUint32(dst, uint32(len(*a)))
			dst = append(dst, *a...)
		}
	}
	little.PutUint32(dst[sum:], crc32.Checksum(dst[sum+4:], castagnoli))
	return dst
}

// arrays lists the arrays of a segment in the order of the serialised form.
func (s *segment) arrays() [arrayCount]*[]byte {
	return [...]*[]byte{&s.flags, &s.small, &s.long, &s.filter, &s.starts, &s.entries, &s.records, &s.loose, &s.exprs, &s.dead}
}

// Open reads the serialised form of an index. The index works on data itself,
// which may be a mapped file and must stay as it is while the index is in use.
// Write a new file aside and rename it; do not write into the old one.
func Open(data []byte) (*Index, error) {
	if len(data) < headSize+12 || string(data[:len(magic)]) != magic {
		return nil, fault.Of(strconv.Itoa(len(data))+" bytes", ErrNotIndex)
	}
	if v := little.Uint32(data[len(magic):]); v != version {
		return nil, fault.Of("version "+strconv.Itoa(int(v))+", not "+strconv.Itoa(version), ErrVersion)
	}
	if crc32.Checksum(data[headSize:], castagnoli) != little.Uint32(data[headSize-4:]) {
		return nil, fault.Of("checksum differs", ErrDamaged)
	}
	r := sections{b: data[headSize:]}
	ix := &Index{n: int(r.num())}
	count := int(r.num())
	ix.stamp = string(r.next())
	for range count {
		s := &segment{}
		for _, a := range s.arrays() {
			*a = r.next()
		}
		if r.bad {
			return nil, fault.Of("sections do not fit", ErrDamaged)
		}
		if err := s.prepare(); err != nil {
			return nil, err
		}
		ix.parts = append(ix.parts, s)
	}
	return ix, nil
}

// sections reads numbers and arrays with their lengths.
type sections struct {
	b   []byte
	bad bool
}

func (r *sections) num() uint32 {
	if len(r.b) < 4 {
		r.bad = true
		return 0
	}
	n := little.Uint32(r.b)
	r.b = r.b[4:]
	return n
}

func (r *sections) next() []byte {
	n := int(r.num())
	if n > len(r.b) {
		r.bad = true
		return nil
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

// Size returns the bytes of all arrays.
func (ix *Index) Size() int {
	n := 0
	for _, s := range ix.parts {
		for _, a := range s.arrays() {
			n += len(*a)
		}
	}
	return n
}

// prepare derives what an array implies.
func (s *segment) prepare() error {
	if len(s.flags) != 1 || len(s.small) < 8 || len(s.long) < 8 || len(s.filter) < 8 || len(s.starts) < 12 {
		return fault.Of("arrays too short", ErrDamaged)
	}
	s.folds = s.flags[0]&flagFolds != 0
	s.smallBits, s.bucketBits = log2(len(s.small)*8), log2(len(s.starts)/4-1)
	s.longShift, s.keyShift = longShift(s.long), keyShift(s.filter)
	r := reader{s.exprs}
	for len(r.b) > 0 {
		id := r.num()
		p, err := Compile(string(r.bytes(r.num())), "")
		if err != nil {
			return fault.Of("pattern "+strconv.Itoa(id), err, ErrDamaged)
		}
		s.others = append(s.others, other{id, p})
	}
	return nil
}

// isDead reports whether a later segment has replaced the pattern.
func (s *segment) isDead(id uint32) bool {
	return int(id>>3) < len(s.dead) && s.dead[id>>3]>>(id&7)&1 != 0
}
