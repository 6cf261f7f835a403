package daytona

import (
	"context"
	"path"
	"strings"
	"sync"

	"errorkb/internal/runtime/daytona/client"
	"errorkb/internal/runtime/fault"
)

const (
	terminalCols = 120
	terminalRows = 30

	// inputChunk is the most that is sent to a terminal at once. The service
	// ends a connection that sends more than 65 536 bytes in one message.
	inputChunk = 61_440
)

// DAY-08. It is a reason for the log and never an error at the host, which sees
// only that the terminal has ended.
const reasonWrite = `write_error`

// terminal is a terminal in a sandbox with a program in the place of its
// shell.
type terminal struct {
	term     *client.Terminal
	provider *provider
	out      *outlet
	failed   func(reason *fault.Error) // told once

	mu     sync.Mutex // orders writes
	broken bool
}

// outlet passes output on once it is opened, and keeps it until then.
type outlet struct {
	mu   sync.Mutex
	held []byte
	to   func([]byte) // nil until it is opened
}

func (o *outlet) add(data []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.to == nil {
		o.held = append(o.held, data...)
		return
	}
	o.to(data)
}

func (o *outlet) open(to func([]byte)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.held) > 0 {
		to(o.held)
	}
	o.held, o.to = nil, to
}

// openTerminal makes a terminal, waits until it is connected and sends the
// line that starts the program. before, unless it is nil, has the last word
// about that. A terminal that cannot be used is ended.
func (p *provider) openTerminal(ctx context.Context, box *client.Sandbox, id, line string, before func(context.Context) error, failed func(*fault.Error)) (*terminal, error) {
	t := &terminal{provider: p, out: &outlet{}, failed: failed}
	var err error
	t.term, err = box.OpenTerminal(ctx, client.TerminalOptions{ID: id, Cols: terminalCols, Rows: terminalRows, OnData: t.out.add})
	if err != nil {
		return nil, err
	}
	err = t.term.WaitConnected(ctx)
	if err == nil && before != nil {
		err = before(ctx)
	}
	if err == nil {
		err = t.term.Send(ctx, []byte(line))
	}
	if err != nil {
		t.end(ctx)
		return nil, err
	}
	return t, nil
}

// write sends input in order with other writes, in pieces. The first failure
// ends the terminal; nothing is sent after it.
func (t *terminal) write(ctx context.Context, data []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(data) > 0 && !t.broken {
		piece := data[:min(len(data), inputChunk)]
		data = data[len(piece):]
		if err := t.term.Send(ctx, piece); err != nil {
			t.broken = true
			t.failed(fault.New(reasonWrite).WithCause(err))
			t.kill(ctx)
		}
	}
}

// kill ends the program, as well as that goes.
func (t *terminal) kill(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), t.provider.options.KillTimeout)
	defer cancel()
	_ = t.term.Kill(ctx)
}

// end ends the program and the connection.
func (t *terminal) end(ctx context.Context) {
	t.kill(ctx)
	t.term.Disconnect()
}

// finish ends the program and waits until the service has told how it ended.
func (t *terminal) finish(ctx context.Context) {
	t.kill(ctx)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), t.provider.options.KillTimeout)
	defer cancel()
	_, _ = t.term.Wait(ctx)
	t.term.Disconnect()
}

// launchLine is what a shell on a terminal is sent to become a program whose
// input and output are clean: diagnostics of the shell go to a file, and the
// terminal neither echoes nor changes what passes.
func (p *provider) launchLine(id string, command []string) string {
	words := make([]string, len(command))
	for i, word := range command {
		words[i] = quote(word)
	}
	log := path.Join(p.options.Scratch, "paperclip-duplex-"+id+".log")
	return "exec 2>" + quote(log) + "; stty raw -echo; exec " + strings.Join(words, " ") + "\r"
}
