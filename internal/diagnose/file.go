package diagnose

import (
	"errors"
	"hash/crc32"
	"strconv"
	"unsafe"

	"errorkb/internal/pattern"
	"errorkb/internal/pattern/fault"
	"errorkb/internal/pattern/little"
)

// The file of an engine holds what New works out, as the arrays that the engine works
// on: opening one decodes nothing, and a mapped file is read where texts need it.
// It is a cache for the program that wrote it, not a form for exchange: the arrays
// are laid out as this program lays them out.
//
//	magic 8 · size of the shape 4 · checksum of what follows, but for the index 4 ·
//	the arrays, each as its number of elements and its bytes, from multiples of 8 on
//
// The first array is the stamp, the last one the index of patterns, which has a
// checksum of its own.

// Errors of Open, to be tested with errors.Is.
var (
	ErrStamp   = errors.New("file of another data set or program")
	ErrDamaged = errors.New("file of the diagnosis is damaged")
)

const (
	fileMagic = "kbengin1"
	fileHead  = len(fileMagic) + 4 + 4
)

// fileShape tells processors apart that lay the arrays out differently.
func fileShape() uint32 {
	order := uint16(1)
	little := uint32(*(*byte)(unsafe.Pointer(&order)))
	return little | uint32(unsafe.Sizeof(owner{}))<<8 | uint32(unsafe.Sizeof(piece{}))<<16 | uint32(unsafe.Sizeof(int(0)))<<24
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// AppendBinary appends the file of the engine, which Open reads. The stamp is the
// caller's; it has to name the version of the data set and the program.
func (e *Engine) AppendBinary(dst []byte, stamp string) []byte {
	start := len(dst)
	dst = append(dst, fileMagic...)
	dst = little.AppendUint32(dst, fileShape())
	dst = little.AppendUint32(dst, 0)
	f := file{data: dst, start: start}
	text := []byte(stamp)
	array(&f, &text)
	e.arrays(&f)
	sum := crc32.Checksum(f.data[start+fileHead:], castagnoli)
	little.PutUint32(f.data[start+fileHead-4:], sum)
	index := e.index.AppendBinary(nil, "")
	array(&f, &index)
	return f.data
}

// Open makes an engine of a data set with the given version of a file. The entries
// must be those that the file was made of, which the stamp is to tell: with another
// stamp Open fails with ErrStamp, and with ErrDamaged when the file is not whole.
// The engine works on data, which may be a mapped file and must stay as it is while
// the engine is in use. It must begin at a multiple of eight.
func Open(data []byte, stamp, version string, entries []Entry) (*Engine, error) {
	if len(data) < fileHead || string(data[:len(fileMagic)]) != fileMagic || little.Uint32(data[len(fileMagic):]) != fileShape() {
		return nil, fault.Of(strconv.Itoa(len(data))+" bytes of another form", ErrStamp)
	}
	f := file{data: data, at: fileHead, reading: true}
	var text, index []byte
	if array(&f, &text); f.bad || string(text) != stamp {
		return nil, fault.Of("stamp "+strconv.Quote(string(text[:min(len(text), 80)])), ErrStamp)
	}
	e := &Engine{version: version, entries: entries, words: &lexicon{}, probes: &probes{}}
	e.arrays(&f)
	end := f.at
	array(&f, &index)
	if f.bad || f.at != len(data) || len(e.first) != len(entries) {
		return nil, fault.Of(strconv.Itoa(len(data))+" bytes do not fit", ErrDamaged)
	}
	opened := make(chan error, 1)
	go func() {
		var err error
		e.index, err = pattern.Open(index)
		opened <- err
	}()
	differs := crc32.Checksum(data[fileHead:end], castagnoli) != little.Uint32(data[fileHead-4:])
	if err := <-opened; err != nil {
		return nil, fault.Of("", err, ErrDamaged)
	}
	if differs {
		return nil, fault.Of("checksum differs", ErrDamaged)
	}
	e.words = openLexicon(e.words.owners, e.words.counts, e.words.weight)
	e.caches()
	return e, nil
}

// arrays reads or writes all that New works out, but for the index of patterns.
func (e *Engine) arrays(f *file) {
	p := e.probes
	numbers := []uint64{
		0, uint64(p.most), uint64(p.pieces.bits), uint64(p.endings.bits),
		uint64(p.first.shift), uint64(p.short.shift), uint64(p.long.shift), uint64(p.last.shift),
	}
	if e.slashes {
		numbers[0] = 1
	}
	array(f, &numbers)
	if len(numbers) != 8 {
		f.bad = true
		return
	}
	e.slashes = numbers[0] != 0
	p.most, p.pieces.bits, p.endings.bits = int(numbers[1]), uint(numbers[2]), uint(numbers[3])
	p.first.shift, p.short.shift, p.long.shift, p.last.shift = uint(numbers[4]), uint(numbers[5]), uint(numbers[6]), uint(numbers[7])
	array(f, &e.owners)
	array(f, &e.first)
	e.words.owners.arrays(f)
	array(f, &e.words.counts)
	array(f, &e.words.weight)
	e.codes.arrays(f)
	array(f, &p.first.words)
	array(f, &p.short.words)
	array(f, &p.long.words)
	array(f, &p.last.words)
	for _, t := range []*pieceTable{&p.pieces, &p.endings} {
		array(f, &t.starts)
		array(f, &t.list)
	}
	array(f, &p.loose)
}

func (t *table) arrays(f *file) {
	array(f, &t.text)
	array(f, &t.ends)
	array(f, &t.slots)
	array(f, &t.from)
	array(f, &t.list)
}

// file is a file of arrays that is being written or read.
type file struct {
	data    []byte
	start   int // writing: of the file in data
	at      int // reading: the next array
	reading bool
	bad     bool // reading: the arrays do not fit
}

// array writes the elements of an array, or makes it the array at this place of the
// file. T must hold no pointers.
func array[T any](f *file, a *[]T) {
	var element T
	size := int(unsafe.Sizeof(element))
	if !f.reading {
		f.data = little.AppendUint64(f.data, uint64(len(*a)))
		f.data = append(f.data, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(*a))), len(*a)*size)...)
		for (len(f.data)-f.start)%8 != 0 {
			f.data = append(f.data, 0)
		}
		return
	}
	*a = nil
	if f.bad || len(f.data)-f.at < 8 {
		f.bad = true
		return
	}
	n := little.Uint64(f.data[f.at:])
	f.at += 8
	if n > uint64(len(f.data)-f.at)/uint64(size) {
		f.bad = true
		return
	}
	end := f.at + (int(n)*size+7)/8*8
	if end > len(f.data) {
		f.bad = true
		return
	}
	if n > 0 {
		first := unsafe.Pointer(&f.data[f.at])
		if uintptr(first)%8 != 0 {
			f.bad = true
			return
		}
		*a = unsafe.Slice((*T)(first), int(n))
	}
	f.at = end
}
