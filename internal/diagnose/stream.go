package diagnose

import (
	"context"
	"runtime"
	"sync"
)

// Stream is the diagnosis of a text of any length that arrives bit by bit. Its answer
// is that of Diagnose for the whole text, byte for byte; its memory does not depend on
// the length of the text, but on how many records are found in it.
//
// What is written is cut into chunks as Diagnose cuts a text that is there. Each is
// read on a processor of its own while the next ones arrive, and forgotten.
type Stream struct {
	opts   Options
	w      *work
	o      *order
	chunk  int    // bytes of a chunk at least
	buffer []byte // what was written and not handed on
	from   spot   // of the text: where the buffer begins
	next   int    // number of the next chunk
	todo   chan chunk
	free   chan []byte // for further chunks; how many there are bounds what is under way
	wait   sync.WaitGroup
}

// NewStream begins a diagnosis. When ctx ends, the answer holds what was found until
// then. Every stream has to be ended by Answer.
func (e *Engine) NewStream(ctx context.Context, opts Options) *Stream {
	return e.newStream(ctx, opts, chunkSize)
}

func (e *Engine) newStream(ctx context.Context, opts Options, size int) *Stream {
	opts = opts.orDefault()
	return &Stream{opts: opts, w: e.newWork(ctx, nil, opts.MaxEvidence), chunk: size}
}

// Write adds to the text. It waits while enough of it is under way, and fails only with
// the reason why the context ended.
func (s *Stream) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if err := s.w.ctx.Err(); err != nil {
			return n - len(p), err
		}
		full := s.chunk + maxSeamGap
		if cap(s.buffer) < full && len(s.buffer)+len(p) > cap(s.buffer) {
			// A short text takes little.
			s.buffer = append(make([]byte, 0, min(full, max(len(s.buffer)+len(p), 2*len(s.buffer)))), s.buffer...)
		}
		k := min(len(p), full-len(s.buffer))
		s.buffer, p = append(s.buffer, p[:k]...), p[k:]
		if len(s.buffer) == full && len(p) > 0 {
			s.handOn()
		}
	}
	return n, nil
}

// handOn gives the first chunk of the buffer away.
func (s *Stream) handOn() {
	if s.todo == nil {
		s.start()
	}
	n := s.w.cutChunk(s.buffer, s.chunk)
	c := chunk{number: s.next, text: s.buffer[:n], base: s.from}
	rest := <-s.free
	if cap(rest) < s.chunk+maxSeamGap {
		rest = make([]byte, 0, s.chunk+maxSeamGap)
	}
	s.buffer = append(rest[:0], s.buffer[n:]...)
	s.from = s.from.after(c.text)
	s.next++
	s.todo <- c
}

// start lets the processors begin.
func (s *Stream) start() {
	s.w.large, s.w.tally.forget = true, true
	s.o = newOrder(s.w)
	workers := runtime.GOMAXPROCS(0)
	s.todo, s.free = make(chan chunk, 1), make(chan []byte, workers+2)
	for range cap(s.free) {
		s.free <- nil
	}
	s.o.done = func(text []byte) { s.free <- text }
	for range workers {
		s.wait.Go(func() {
			c := clears.Get().(*clear)
			defer clears.Put(c)
			for next := range s.todo {
				s.read(c, next)
			}
		})
	}
}

// read reads a chunk. One for which there is no time is read as far as there was.
func (s *Stream) read(c *clear, next chunk) {
	p := s.o.share(next)
	if !p.late() {
		p.readChunk(c)
		p.finish()
	}
	if !s.opts.Brief && !s.o.known.Load() && next.base.lines < MaxTelling {
		text := next.text[:startOfLine(next.text, MaxTelling-next.base.lines)]
		p.told = c.candidate(text, next.base, p.late)
	}
	s.o.take(p)
}

// Answer ends the text and answers for all of it. It is called once, and nothing is
// written afterwards.
func (s *Stream) Answer() Answer {
	defer s.w.release()
	w := s.w
	if s.todo == nil {
		return w.engine.Diagnose(w.ctx, s.buffer, s.opts)
	}
	for len(s.buffer) > 0 {
		s.handOn()
	}
	close(s.todo)
	s.wait.Wait()
	input := Input{Bytes: s.from.bytes, Lines: s.from.lines}
	if s.from.column > 0 {
		input.Lines++
	}
	a := w.answer(input, s.opts)
	if a.Verdict == VerdictUnknown && !s.opts.Brief {
		a.Unknown = s.unknown()
	}
	a.Partial = w.partial
	return a
}

// unknown is what is said of the line that was kept.
func (s *Stream) unknown() *Unknown {
	told := s.o.told
	s.w.input = told.text
	u := s.w.unknownLine(s.w.readTelling(told, part(s.w.arena, told.text, 0, len(told.text))))
	if l := u.Line; l != nil {
		l.Line, _ = told.at.place(l.Line, 0)
		l.Start, l.End = l.Start+told.at.bytes, l.End+told.at.bytes
	}
	return u
}
