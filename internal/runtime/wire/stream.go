package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"
)

// MaxLine is how long a line of a worker may be, without its end: 128 Mi. The
// documented project counts characters; we count bytes, so that the limit also
// bounds memory.
const MaxLine = 128 << 20

// Reader cuts a stream into lines.
type Reader struct {
	r     *bufio.Reader
	limit int
	line  []byte
}

// keepLine is the largest buffer that a Reader keeps between two lines.
const keepLine = 1 << 20

// NewReader returns a reader of r whose lines are at most limit bytes long.
func NewReader(r io.Reader, limit int) *Reader {
	return &Reader{r: bufio.NewReaderSize(r, 64<<10), limit: limit}
}

// Next returns the next line that is not blank, without its end and valid
// until the next call. A line over the limit is skipped without being kept; it
// is returned as nil with its length. The last line may lack its end. At the
// end of the stream err is io.EOF.
func (r *Reader) Next() (line []byte, skipped int64, err error) {
	for {
		if cap(r.line) > keepLine {
			r.line = nil
		}
		r.line = r.line[:0]
		var length int64
		for {
			part, err := r.r.ReadSlice('\n')
			length += int64(len(part))
			if length <= int64(r.limit)+1 { // the end of the line does not count
				r.line = append(r.line, part...)
			}
			if err == nil {
				length--
				break
			}
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			if length == 0 {
				return nil, 0, err
			}
			break // what stands before the end of the stream is the last line
		}
		if length > int64(r.limit) {
			return nil, length, nil
		}
		if line := bytes.TrimRight(r.line, "\r\n"); len(bytes.TrimSpace(line)) > 0 {
			return line, 0, nil
		}
	}
}

// Writer sends messages, each with one call of Write. It is safe for use by
// several goroutines.
type Writer struct {
	mu sync.Mutex
	w  io.Writer
}

// NewWriter returns a writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Send writes one message and the end of its line.
func (w *Writer) Send(m *Message) error {
	line, err := Line(m)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err = w.w.Write(line)
	return err
}

// Line encodes a message as it stands in the stream, with the end of its line.
func Line(m *Message) ([]byte, error) {
	line, err := appendLine(m)
	if err != nil {
		return nil, err
	}
	return append(line, '\n'), nil
}
