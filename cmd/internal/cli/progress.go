package cli

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Progress draws one line about long work on a terminal, and nothing anywhere
// else. Work that ends soon draws nothing at all.
type Progress struct {
	w     io.Writer
	title string

	mu     sync.Mutex
	begun  time.Time
	timer  *time.Timer // draws the first line; nil when silent
	next   time.Time   // no line before it
	drawn  bool
	ended  bool
	counts string // how far the work is, "" when that is not known
}

// How long work runs before its line appears, and how often it changes.
const (
	progressDelay = 300 * time.Millisecond
	progressEvery = 100 * time.Millisecond
)

// NewProgress begins a line on w, which should be standard error.
func NewProgress(w io.Writer, title string) *Progress {
	return newProgress(w, title, progressDelay)
}

func newProgress(w io.Writer, title string, delay time.Duration) *Progress {
	now := time.Now()
	p := &Progress{w: w, title: title, begun: now, next: now.Add(delay)}
	if IsTerminal(w) {
		p.timer = time.AfterFunc(delay, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.draw(time.Now())
		})
	}
	return p
}

// Step says that done of total parts are ready. Calls may come from several
// goroutines, also after End.
func (p *Progress) Step(done, total int) {
	if p.timer == nil || total <= 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts = fmt.Sprintf(" %d of %d (%d %%)", done, total, 100*done/total)
	p.draw(time.Now())
}

// Bytes says that so many bytes are done, of total when that is above zero, and
// shows at which rate.
func (p *Progress) Bytes(done, total int64) {
	if p.timer == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.counts = " " + Bytes(done)
	if total > 0 {
		p.counts += fmt.Sprintf(" of %s (%d %%)", Bytes(total), 100*done/total)
	}
	if seconds := now.Sub(p.begun).Seconds(); seconds > 0 {
		p.counts += fmt.Sprintf(", %s/s", Bytes(int64(float64(done)/seconds)))
	}
	p.draw(now)
}

// Bytes writes a number of bytes for people, in units of 1024.
func Bytes(n int64) string {
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n), ""
	for _, unit = range []string{"KiB", "MiB", "GiB", "TiB"} {
		if value /= 1 << 10; value < 1000 {
			break
		}
	}
	return fmt.Sprintf("%.3g %s", value, unit)
}

// draw writes the line when it is time to.
func (p *Progress) draw(now time.Time) {
	if p.ended || now.Before(p.next) {
		return
	}
	p.next, p.drawn = now.Add(progressEvery), true
	fmt.Fprintf(p.w, "\r\x1b[K%s…%s", p.title, p.counts)
}

// End takes the line away.
func (p *Progress) End() {
	if p.timer == nil {
		return
	}
	p.timer.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
