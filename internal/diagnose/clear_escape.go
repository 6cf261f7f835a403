package diagnose

import (
	"bytes"
	"slices"
)

// escaped are the lines of a part with back slashes in them. Their escapes are undone
// level by level, each level of all lines before the next: a line that was just
// written would be waited for.
type escaped struct {
	lines   []escapedLine
	next    int // the line that is asked for next
	levels  [maxEscapes][]byte
	text    []byte   // of all lines that had escapes
	special []uint64 // bytes of it
	ends    []uint64
}

// escapedLine is a line with back slashes.
type escapedLine struct {
	start, end int    // in the part
	text       []byte // with the escapes undone that were undone so far
	changed    bool   // there were any
	at         int    // in the text of all
}

// lineAt is the line of the part with a back slash at i. The first call for a part
// undoes the escapes of all lines from there on; each further one asks for a line
// behind. Ends are the line ends of the part.
func (e *escaped) lineAt(part []byte, ends []uint64, i int) *escapedLine {
	if len(e.lines) == 0 {
		e.undo(part, ends, i)
	}
	for e.lines[e.next].end <= i {
		e.next++
	}
	return &e.lines[e.next]
}

func (e *escaped) undo(part []byte, ends []uint64, i int) {
	e.next = 0
	for k := 0; k >= 0; k = bytes.IndexByte(part[i:], '\\') {
		i += k
		l := escapedLine{start: lastBit(ends, i) + 1, end: nextBit(ends, i, len(part))}
		l.text = part[l.start:l.end]
		e.lines = append(e.lines, l)
		i = l.end
	}
	todo := e.lines
	for level := 0; level < maxEscapes && len(todo) > 0; level++ {
		out, some := e.levels[level][:0], false
		for k := range todo {
			l := &todo[k]
			if level > 0 && !l.changed {
				continue
			}
			from := len(out)
			if out = unescapeOnce(out, l.text); len(out) > from {
				l.text, l.changed, some = out[from:], true, true
			}
		}
		if e.levels[level] = out; !some {
			break
		}
	}
	e.text = e.text[:0]
	for k := range e.lines {
		if l := &e.lines[k]; l.changed {
			l.at = len(e.text)
			e.text = append(e.text, l.text...)
		}
	}
	n := windowsOf(len(e.text))
	if len(e.special) < n {
		e.special, e.ends = make([]uint64, n), make([]uint64, n)
	}
	windows(e.text, 0, e.special, e.ends)
}

// unescapeOnce appends a line with one level of escapes undone, nothing when it has
// none.
func unescapeOnce(out, line []byte) []byte {
	// What an escape stands for is never longer than the escape.
	n, last := len(out), 0
	out = slices.Grow(out, len(line)+16)
	out = out[:n+len(line)+16]
	for i := 0; i+1 < len(line); {
		if line[i] != '\\' { // they often stand together
			k := bytes.IndexByte(line[i:len(line)-1], '\\')
			if k < 0 {
				break
			}
			i += k
		}
		if isDrive(line, i) {
			break // nothing of the rest of the line is escaped
		}
		with, size := "", 2
		if next := line[i+1]; next != '"' && next != '\\' {
			if with, size = escape(line[i:]); size == 0 {
				i++
				continue
			}
		}
		if i-last <= 16 && last+16 <= len(line) {
			*(*[16]byte)(out[n:]) = [16]byte(line[last:]) // with what is behind it: see copyTo
		} else {
			copy(out[n:], line[last:i])
		}
		n += i - last
		if with == "" {
			out[n] = line[i+1]
			n++
		} else {
			n += copy(out[n:], with)
		}
		i += size
		last = i
	}
	if last > 0 {
		n += copy(out[n:], line[last:])
	}
	return out[:n]
}
