package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"errorkb/internal/diagnose"
)

// finishTime bounds a diagnosis that somebody waits for: of what was read when a
// signal ends the reading, and of a command's output.
const finishTime = 10 * time.Second

// diagnoseAll answers for everything that can be read from r, and tells progress how
// much was read. When ctx ends, it answers for what was read until then and says that
// this is a part.
func diagnoseAll(ctx context.Context, engine *diagnose.Engine, r io.Reader, progress func(bytes int)) (diagnose.Answer, error) {
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	text := engine.NewStream(work, diagnose.Options{})
	in := &source{r: r}
	for n := 0; ; {
		data, err := in.next(ctx, nil)
		switch {
		case errors.Is(err, io.EOF):
			return text.Answer(), nil
		case errors.Is(err, context.Canceled):
			time.AfterFunc(finishTime, stop)
			a := text.Answer()
			a.Partial = true
			return a, nil
		case err != nil:
			stop()
			text.Answer()
			return diagnose.Answer{}, fmt.Errorf("read the text: %w", err)
		}
		text.Write(data) // fails only when stop was called
		n += len(data)
		progress(n)
	}
}

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
