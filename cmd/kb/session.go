package main

import (
	"bytes"
	"context"

	"errorkb/internal/diagnose"
)

// diagnoser is the engine, as far as it is needed here.
type diagnoser interface {
	Diagnose(ctx context.Context, text []byte, options diagnose.Options) diagnose.Answer
}

// session is the diagnosis of a text that is answered for while it arrives, region by
// region; the engine sees each region with the text
// around it, and what it finds counts for the region that it begins in. So a
// message that lies on a border is seen whole, and counted once.
type session struct {
	engine diagnoser
	around int // bytes before and behind a region that the engine sees as well

	buffer []byte // the end of the text: what stands before the region, then what was not answered for
	from   int    // in buffer: where the next region begins
	start  spot   // of the buffer
	whole  unknown

	// cast has a line for every record found so far: the engine judges a message
	// by what else is in the text, such as a cause before what follows from it.
	cast   []byte
	inCast map[string]bool
}

func newSession(engine diagnoser, around int) *session {
	return &session{engine: engine, around: around, inCast: map[string]bool{}}
}

// spot is a place in the whole text.
type spot struct {
	bytes  int
	lines  int // line ends before it
	column int // bytes since the last one
}

// after is the place behind a text that begins at m.
func (m spot) after(text []byte) spot {
	next := spot{m.bytes + len(text), m.lines, m.column + len(text)}
	if n := bytes.Count(text, []byte{'\n'}); n > 0 {
		next.lines += n
		next.column = len(text) - bytes.LastIndexByte(text, '\n') - 1
	}
	return next
}

// Limits of the cast, in bytes.
const (
	maxWitness = 2 << 10
	maxCast    = 64 << 10
)

// castEnd stands between the cast and the text: no message goes over a stack
// frame.
const castEnd = "    at cast (cast.js:1:1)\n"

// waiting is how much text was not answered for.
func (s *session) waiting() int { return len(s.buffer) - s.from }

// answer diagnoses the first n bytes that wait and forgets what is no longer
// needed. It gives what was found in them, with places in the whole text.
func (s *session) answer(ctx context.Context, n int) diagnose.Answer {
	to := s.from + n
	begin := s.from
	if s.around < begin {
		begin -= s.around
		if i := bytes.IndexByte(s.buffer[begin:s.from], '\n'); i >= 0 {
			begin += i + 1
		}
	} else {
		begin = 0
	}
	text := s.buffer[begin:min(len(s.buffer), to+s.around)]
	move := mover{spot: s.start.after(s.buffer[:begin]), first: 1}
	if len(s.cast) > 0 {
		head := append(bytes.Clone(s.cast), castEnd...)
		lines := bytes.Count(head, []byte{'\n'})
		move.bytes, move.lines, move.first = move.bytes-len(head), move.lines-lines, 1+lines
		text = append(head, text...)
	}
	all := len(text) + 1
	options := diagnose.Options{MaxDiagnoses: all, MaxEvidence: all}
	// What could be said about an unknown text is of use as long as it is one.
	options.Brief = s.whole.known || s.start.lines >= diagnose.MaxTelling
	part := s.engine.Diagnose(ctx, text, options)
	low := s.start.bytes + s.from
	part.Diagnoses = move.within(part.Diagnoses, low, low+n)
	move.unknown(part.Unknown, low, low+n)
	end := s.start.after(s.buffer[:to])
	part.Input = diagnose.Input{Bytes: end.bytes, Lines: end.lines}
	if end.column > 0 {
		part.Input.Lines++
	}
	s.addWitnesses(part.Diagnoses)
	s.whole.add(ctx, s, part)

	drop := max(0, to-s.around)
	s.start = s.start.after(s.buffer[:drop])
	s.buffer = append(s.buffer[:0], s.buffer[drop:]...)
	s.from = to - drop
	return part
}

// linesAround are the whole lines that hold a stretch of the whole text, nil
// when they are too long.
func (s *session) linesAround(from, to int) []byte {
	from, to = from-s.start.bytes, to-s.start.bytes
	if from < 0 || to > len(s.buffer) {
		return nil
	}
	from = bytes.LastIndexByte(s.buffer[:from], '\n') + 1
	if i := bytes.IndexByte(s.buffer[to:], '\n'); i >= 0 {
		to += i
	} else {
		to = len(s.buffer)
	}
	if to-from > maxWitness {
		return nil
	}
	return s.buffer[from:to]
}

func (s *session) addWitnesses(list []diagnose.Diagnosis) {
	for _, d := range list {
		if s.inCast[d.Record.ID] {
			continue
		}
		lines := s.linesAround(d.Evidence[0].Start, d.Evidence[0].End)
		if lines != nil && len(s.cast)+len(lines) < maxCast {
			s.cast = append(append(s.cast, lines...), '\n')
			s.inCast[d.Record.ID] = true
		}
	}
}

// mover turns places in a text that the engine saw into places in the whole
// text.
type mover struct {
	spot
	first int // the line that may begin before the text
}

// within keeps what begins from low to high in the whole text.
func (m mover) within(list []diagnose.Diagnosis, low, high int) []diagnose.Diagnosis {
	out := []diagnose.Diagnosis{}
	for _, d := range list {
		kept := []diagnose.Evidence{}
		for _, e := range d.Evidence {
			if at := e.Start + m.bytes; at < low || at >= high {
				continue
			}
			if e.Line == m.first {
				e.Column += m.column
			}
			e.Start, e.End, e.Line = e.Start+m.bytes, e.End+m.bytes, e.Line+m.lines
			for c := range e.Captures {
				e.Captures[c].Start += m.bytes
				e.Captures[c].End += m.bytes
			}
			kept = append(kept, e)
		}
		if d.Evidence, d.Count = kept, len(kept); d.Count > 0 {
			out = append(out, d)
		}
	}
	return out
}

// unknown does the same for the telling line. One outside was or will be seen
// in its own region, whole.
func (m mover) unknown(u *diagnose.Unknown, low, high int) {
	if u == nil || u.Line == nil {
		return
	}
	l := u.Line
	l.Start, l.End, l.Line = l.Start+m.bytes, l.End+m.bytes, l.Line+m.lines
	if l.Start < low || l.Start >= high {
		*u = diagnose.Unknown{Near: []diagnose.NearRecord{}}
	}
}
