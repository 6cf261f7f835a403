package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"errorkb/internal/diagnose"
)

// Text of any length is diagnosed in regions, so that memory stays bounded. A
// text that the API would take is answered by one call: there the two answers
// are the same, byte for byte.
const (
	callSize   = 16 << 20
	regionSize = 16 << 20
	// aroundSize is more than a message with its values and wrapped lines takes.
	aroundSize = 64 << 10
)

// finishTime bounds a diagnosis that somebody waits for: of what was read when a
// signal ends the reading, and of a command's output.
const finishTime = 10 * time.Second

// stream reads a text and diagnoses it.
type stream struct {
	engine               diagnoser
	call, region, around int
	progress             func(bytes int) // is told how much was read and diagnosed
}

func newStream(engine diagnoser, progress func(int)) *stream {
	return &stream{engine, callSize, regionSize, aroundSize, progress}
}

// diagnose answers for everything that can be read from r. When ctx ends, it
// answers for what was read until then and says that this is a part.
func (st *stream) diagnose(ctx context.Context, r io.Reader) (diagnose.Answer, error) {
	s := newSession(st.engine, st.around)
	in := &source{r: r}
	want, interrupted := st.call+1, false
	for {
		ended, err := in.fill(ctx, &s.buffer, s.from+want)
		if errors.Is(err, context.Canceled) {
			ended, interrupted = true, true
			finish, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTime)
			defer cancel()
			ctx = finish
		} else if err != nil {
			return diagnose.Answer{}, fmt.Errorf("read the text: %w", err)
		}
		if ended && s.start.bytes == 0 && s.from == 0 && len(s.buffer) <= st.call {
			a := st.engine.Diagnose(ctx, s.buffer, diagnose.Options{})
			a.Partial = a.Partial || interrupted
			return a, nil
		}
		// A region is cut when the text behind it is there too.
		want = st.region + st.around
		for s.waiting() > want || ended && s.waiting() > 0 {
			n := s.waiting()
			if n > st.region {
				n = cutPoint(s.buffer[s.from:s.from+st.region], st.around)
			}
			part := s.answer(ctx, n)
			st.progress(s.start.bytes + s.from)
			if part.Partial {
				interrupted, ended = true, true
				break
			}
		}
		if ended {
			a := s.whole.answer()
			a.Partial = a.Partial || interrupted
			return a, nil
		}
		want++
	}
}

// cutPoint is where a region ends: before the last line that starts something
// new. Lines of a stack trace are indented, so a line that is not starts
// something; failing that any line end is taken, and in one endless line the
// cut falls where it must.
func cutPoint(text []byte, seam int) int {
	from := max(0, len(text)-seam)
	lineEnd := 0
	for end := len(text); ; {
		i := bytes.LastIndexByte(text[from:end], '\n')
		if i < 0 {
			break
		}
		at := from + i + 1
		if lineEnd == 0 {
			lineEnd = at
		}
		if at < len(text) && !isBlank(text[at]) {
			return at
		}
		end = from + i
	}
	if lineEnd > 0 {
		return lineEnd
	}
	return len(text)
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// source reads from r in a way that a context can end, although r may block
// for ever.
type source struct {
	r       io.Reader
	pending chan chunk // the read under way, nil when there is none
	block   []byte     // for reading; nil while a read is under way
}

type chunk struct {
	data []byte
	err  error
}

// blockSize is how much is read at once.
const blockSize = 256 << 10

// next gives what the reader has, at most blockSize bytes. They are good until
// the next call. Data and an error do not come together.
func (in *source) next(ctx context.Context, idle <-chan time.Time) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if in.pending == nil {
		pending := make(chan chunk, 1)
		in.pending = pending
		if in.block == nil {
			in.block = make([]byte, blockSize)
		}
		go func(block []byte) {
			n, err := in.r.Read(block)
			pending <- chunk{block[:n], err}
		}(in.block)
	}
	select {
	case c := <-in.pending:
		in.pending = nil
		if len(c.data) > 0 && c.err != nil {
			in.r = failed{c.err}
			c.err = nil
		}
		return c.data, c.err
	case <-idle:
		return nil, errIdle
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// errIdle says that nothing arrived in time.
var errIdle = errors.New("nothing arrived")

// failed is a reader that has ended.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error) { return 0, f.err }

// fill appends to the buffer until it has size bytes or the text has ended.
func (in *source) fill(ctx context.Context, buffer *[]byte, size int) (ended bool, err error) {
	for len(*buffer) < size {
		data, err := in.next(ctx, nil)
		*buffer = append(*buffer, data...)
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}
