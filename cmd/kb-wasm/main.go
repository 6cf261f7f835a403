//go:build js && wasm

// Kb-wasm is the diagnosis for the browser. It runs in a worker of a site that
// is made of plain files, where no server answers pastes; build-site compiles
// it. It sets three functions of the worker:
//
//	kbOpen(entries)           takes the file of package entries, as bytes; must come first
//	kbDiagnose(text, limit)   the answer to a text, both as bytes; after limit milliseconds, unless 0, it is partial
//	kbAbout(id)               what else a page says of a record: {captures: [[name, description], …], proven: boolean}
//
// kbOpen returns what went wrong in words, or null.
package main

import (
	"context"
	"syscall/js"
	"time"

	"errorkb/cmd/internal/entries"
	"errorkb/internal/diagnose"
)

// program is what kbOpen has loaded.
type program struct {
	engine *diagnose.Engine
	about  map[string]entries.Entry // by id of the record
}

func main() {
	var p program
	set := func(name string, f func(args []js.Value) any) {
		js.Global().Set(name, js.FuncOf(func(_ js.Value, args []js.Value) any { return f(args) }))
	}
	set("kbOpen", func(args []js.Value) any {
		if err := p.open(string(bytesOf(args[0]))); err != nil {
			return err.Error()
		}
		return nil
	})
	set("kbDiagnose", func(args []js.Value) any {
		answer := p.diagnose(bytesOf(args[0]), time.Duration(args[1].Float()*float64(time.Millisecond)))
		out := js.Global().Get("Uint8Array").New(len(answer))
		js.CopyBytesToJS(out, answer)
		return out
	})
	set("kbAbout", func(args []js.Value) any {
		e := p.about[args[0].String()]
		captures := []any{}
		for _, c := range e.Captures {
			captures = append(captures, []any{c.Name, c.Description})
		}
		return map[string]any{"captures": captures, "proven": e.Proven}
	})
	select {} // the functions live as long as the worker
}

func bytesOf(array js.Value) []byte {
	out := make([]byte, array.Length())
	js.CopyBytesToGo(out, array)
	return out
}

func (p *program) open(file string) error {
	version, list, err := entries.Parse(file)
	if err != nil {
		return err
	}
	known := make([]diagnose.Entry, len(list))
	p.about = make(map[string]entries.Entry, len(list))
	for i, e := range list {
		known[i] = e.Entry
		p.about[e.Ref.ID] = e
	}
	p.engine, err = diagnose.New(version, known)
	return err
}

func (p *program) diagnose(text []byte, limit time.Duration) []byte {
	ctx := context.Background()
	if limit > 0 {
		ctx = clock{ctx, time.Now().Add(limit)}
	}
	answer := p.engine.Diagnose(ctx, text, diagnose.Options{})
	return answer.AppendJSON(nil)
}

// clock is a context that ends at a time. A timer cannot end it: nothing else
// runs in a worker while the diagnosis does.
type clock struct {
	context.Context
	end time.Time
}

func (c clock) Err() error {
	if time.Now().After(c.end) {
		return context.DeadlineExceeded
	}
	return nil
}
