package duplex

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"errorkb/internal/runtime/clock"
	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/wire"
)

func TestStates(t *testing.T) {
	events := map[event]string{sent: "sent", bound: "bound", ending: "ending"}
	if len(events) != nEvents {
		t.Fatal("an event is missing")
	}
	want := map[State]map[event]State{
		Reserved: {sent: Opening, ending: Closed},
		Opening:  {bound: Open, ending: Closed},
		Open:     {ending: Closed},
		Closed:   {},
	}
	for state, moves := range want {
		for e, name := range events {
			to, legal := moves[e]
			if !legal {
				to = state
			}
			if got, ok := state.next(e); got != to || ok != legal {
				t.Errorf("%s on %s: %s, %v; want %s, %v", state, name, got, ok, to, legal)
			}
		}
	}
}

// scripted is a worker that answers as a test says, in the same goroutine.
type scripted struct {
	calls   []string
	answer  map[string]func(r Request) Reply // by method; without one the reply waits
	waiting []func(Reply)
	retired int
}

func (w *scripted) Start(r Request, done func(Reply)) {
	raw, _ := json.Marshal(r.Params)
	w.calls = append(w.calls, r.Method+" "+string(raw))
	if answer := w.answer[r.Method]; answer != nil {
		done(answer(r))
		return
	}
	w.waiting = append(w.waiting, done)
}

func (w *scripted) Retire() { w.retired++ }

func result(v any) Reply {
	raw, _ := json.Marshal(v)
	return Reply{Result: raw, Sent: true}
}

type bench struct {
	*Table
	t      *testing.T
	worker *scripted
	clock  *clock.Fake
	log    *bytes.Buffer
}

func newBench(t *testing.T, change func(*Limits)) *bench {
	w := &scripted{}
	w.answer = map[string]func(Request) Reply{
		wire.MethodDuplexOpen: func(r Request) Reply {
			id := r.Params.(wire.DuplexOpenParams).HostRouteID
			return result(wire.DuplexPair{HostRouteID: id, WorkerSessionID: "s-" + id})
		},
		wire.MethodDuplexClose: func(r Request) Reply {
			id := r.Params.(wire.DuplexCloseParams).HostRouteID
			return result(wire.DuplexPair{HostRouteID: id, WorkerSessionID: "s-" + id})
		},
		wire.MethodDuplexWrite: func(Request) Reply { return result(nil) },
		wire.MethodDuplexStop:  func(Request) Reply { return result(nil) },
	}
	limits := DefaultLimits()
	if change != nil {
		change(&limits)
	}
	b := &bench{t: t, worker: w, clock: clock.NewFake(time.Unix(0, 0)), log: &bytes.Buffer{}}
	b.Table = NewTable(w, Config{Slots: NewSlots(0), Limits: limits, Clock: b.clock, Log: slog.New(slog.NewTextHandler(b.log, nil))})
	return b
}

func (b *bench) open() *Channel {
	b.t.Helper()
	c, err := b.Open(b.t.Context(), wire.DuplexOpenParams{Command: []string{"cat"}})
	if err != nil {
		b.t.Fatal(err)
	}
	return c
}

func (b *bench) data(route, session, text string) {
	raw, _ := json.Marshal(wire.DuplexData{DuplexPair: wire.DuplexPair{HostRouteID: route, WorkerSessionID: session}, Chunk: wire.EncodeChunk([]byte(text))})
	b.Data(raw)
}

func (b *bench) exit(route, session string, code int, lost bool) {
	raw, _ := json.Marshal(wire.DuplexExit{DuplexPair: wire.DuplexPair{HostRouteID: route, WorkerSessionID: session}, ExitCode: &code, TransportClosed: lost})
	b.Exit(raw)
}

// ended checks that a channel ended without a code and the worker was told.
func (b *bench) ended(c *Channel) {
	b.t.Helper()
	exit, err := c.Wait(b.t.Context())
	if err != nil || exit.Code != nil || exit.TransportClosed || c.State() != Closed || b.Slots.Taken() != 0 || b.Len() != 0 {
		b.t.Errorf("exit %+v, %v; state %s; %d slots", exit, err, c.State(), b.Slots.Taken())
	}
	want := fmt.Sprintf(`duplexChannelClose {"hostRouteId":%q}`, c.ID())
	if n := strings.Count(strings.Join(b.worker.calls, "\n"), want); n != 1 {
		b.t.Errorf("the worker was told %d times to close: %v", n, b.worker.calls)
	}
	if n, err := c.Write([]byte("x")); n != 0 || !errors.Is(err, io.ErrClosedPipe) {
		b.t.Errorf("a write after the end: %d, %v", n, err)
	}
	calls := len(b.worker.calls)
	c.Stop()
	c.Close()
	if len(b.worker.calls) != calls {
		b.t.Errorf("an ended channel still talks: %v", b.worker.calls[calls:])
	}
}

func TestLimits(t *testing.T) {
	const id, session = "duplex-route-1", "s-duplex-route-1"
	bad := func(b *bench, n int) {
		for range n {
			b.Data(json.RawMessage(fmt.Sprintf(`{"hostRouteId":%q,"workerSessionId":%q,"chunk":"?"}`, id, session)))
		}
	}
	cases := map[string]struct {
		limit func(*Limits)
		pass  func(b *bench, c *Channel) // stays within the limit
		over  func(b *bench, c *Channel)
	}{
		"chunk": {func(l *Limits) { l.Chunk = 4 },
			func(b *bench, c *Channel) { b.data(id, session, "1234") }, func(b *bench, c *Channel) { b.data(id, session, "12345") }},
		"buffered bytes": {func(l *Limits) { l.Buffered = 4 },
			func(b *bench, c *Channel) { b.data(id, session, "1234") }, func(b *bench, c *Channel) { b.data(id, session, "5") }},
		"buffered frames": {func(l *Limits) { l.Frames = 2 },
			func(b *bench, c *Channel) { b.data(id, session, "1"); b.data(id, session, "2") }, func(b *bench, c *Channel) { b.data(id, session, "3") }},
		"total": {func(l *Limits) { l.Total = 4 },
			func(b *bench, c *Channel) { b.data(id, session, "1234") }, func(b *bench, c *Channel) { b.data(id, session, "5") }},
		"protocol errors": {func(l *Limits) { l.ProtocolErrors = 3 },
			func(b *bench, c *Channel) { bad(b, 3) }, func(b *bench, c *Channel) { bad(b, 1) }},
		"one write": {func(l *Limits) { l.Write = 4 },
			func(b *bench, c *Channel) { c.Write([]byte("1234")) }, func(b *bench, c *Channel) { c.Write([]byte("12345")) }},
		"in flight": {func(l *Limits) { l.InFlight = 2 },
			func(b *bench, c *Channel) {
				delete(b.worker.answer, wire.MethodDuplexWrite)
				c.Write([]byte("1"))
				c.Stop()
				c.Write([]byte("2"))
				b.worker.waiting[0](result(nil))
			}, func(b *bench, c *Channel) { c.Write([]byte("3")); c.Write([]byte("4")) }},
		"unacknowledged": {func(l *Limits) { l.Unacknowledged = 4 },
			func(b *bench, c *Channel) {
				delete(b.worker.answer, wire.MethodDuplexWrite)
				c.Write([]byte("1234"))
				b.worker.waiting[0](result(nil))
				c.Write([]byte("1234"))
			}, func(b *bench, c *Channel) { c.Write([]byte("5")) }},
		"write that was not sent": {nil,
			func(b *bench, c *Channel) { c.Write([]byte("1")) },
			func(b *bench, c *Channel) {
				b.worker.answer[wire.MethodDuplexWrite] = func(Request) Reply { return Reply{Err: io.ErrClosedPipe} }
				c.Write([]byte("2"))
			}},
		"lifetime": {func(l *Limits) { l.Lifetime = time.Minute },
			func(b *bench, c *Channel) { b.clock.Advance(59 * time.Second) }, func(b *bench, c *Channel) { b.clock.Advance(time.Second) }},
		"close": {nil, func(*bench, *Channel) {}, func(b *bench, c *Channel) { c.Close() }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, c.limit)
			channel := b.open()
			c.pass(b, channel)
			if channel.State() != Open {
				t.Fatalf("the channel is %s within its limit", channel.State())
			}
			c.over(b, channel)
			b.ended(channel)
			if b.worker.retired != 0 || len(b.clock.Pending()) != 0 {
				t.Errorf("retired %d times, pending %v", b.worker.retired, b.clock.Pending())
			}
		})
	}
}

func TestHold(t *testing.T) {
	b := newBench(t, func(l *Limits) { l.Held, l.Frames = 10, 3 })
	id, session := "duplex-route-1", "s-duplex-route-1"
	open := b.worker.answer[wire.MethodDuplexOpen]
	b.worker.answer[wire.MethodDuplexOpen] = func(r Request) Reply {
		b.exit(id, session, 7, true)
		b.exit(id, session, 8, false) // the first one counts
		b.data(id, session, "one ")
		b.data(id, session, "two")
		return open(r)
	}
	c := b.open()
	var got strings.Builder
	exits := make(chan Exit, 2)
	c.OnExit(func(e Exit) { got.WriteString("|exit"); exits <- e })
	<-c.exited
	first := <-exits // nobody listens to the data yet
	c.OnData(func(p []byte) { got.Write(p) })
	c.OnExit(func(e Exit) { exits <- e })
	if e := <-exits; *e.Code != 7 || !e.TransportClosed || *first.Code != 7 {
		t.Errorf("exit %+v", e)
	}
	if got.String() != "|exitone two" {
		t.Errorf("got %q", got.String())
	}
	if c.State() != Open {
		t.Errorf("an exit closed the channel: %s", c.State())
	}
	c.Close()

	for name, early := range map[string]func(id, session string){
		"too many bytes": func(id, session string) { b.data(id, session, "12345678901") },
		"a large piece":  func(id, session string) { b.data(id, session, strings.Repeat("x", b.Limits.Chunk+1)) },
		"too many errors": func(id, session string) {
			for range b.Limits.ProtocolErrors + b.Limits.Frames + 2 {
				b.data(id, session, "1")
			}
		},
	} {
		b.worker.answer[wire.MethodDuplexOpen] = func(r Request) Reply {
			id := r.Params.(wire.DuplexOpenParams).HostRouteID
			early(id, "s-"+id)
			return open(r)
		}
		_, err := b.Open(t.Context(), wire.DuplexOpenParams{})
		if !fault.Is(err, msgOpenFailed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if b.worker.retired != 0 || b.Slots.Taken() != 0 {
		t.Errorf("retired %d times, %d slots taken", b.worker.retired, b.Slots.Taken())
	}
}

func TestOpenFails(t *testing.T) {
	own := errors.New("own error")
	for name, c := range map[string]struct {
		reply   Reply
		want    string
		told    bool // the worker is asked to close
		retired int
	}{
		"error":       {Reply{Err: own, Sent: true}, "own error", true, 0},
		"not sent":    {Reply{Err: own}, "own error", false, 0},
		"null":        {result(nil), "DUPLEX_CHANNEL_OPEN_FAILED", true, 0},
		"text":        {result("x"), "DUPLEX_CHANNEL_OPEN_FAILED", true, 0},
		"no session":  {result(wire.DuplexPair{HostRouteID: "duplex-route-2"}), "DUPLEX_CHANNEL_OPEN_FAILED", true, 0},
		"wrong route": {result(wire.DuplexPair{HostRouteID: "duplex-route-1", WorkerSessionID: "s"}), "DUPLEX_CHANNEL_OPEN_FAILED", true, 0},
		"live pair":   {result(wire.DuplexPair{HostRouteID: "duplex-route-2", WorkerSessionID: "s-duplex-route-1"}), "DUPLEX_CHANNEL_OPEN_FAILED", true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			first := b.open()
			b.worker.answer[wire.MethodDuplexOpen] = func(Request) Reply { return c.reply }
			_, err := b.Open(t.Context(), wire.DuplexOpenParams{})
			if err == nil || err.Error() != c.want {
				t.Errorf("got %v", err)
			}
			told := strings.Contains(strings.Join(b.worker.calls, " "), `duplexChannelClose {"hostRouteId":"duplex-route-2"}`)
			if told != c.told || b.worker.retired != c.retired || b.Slots.Taken() != 1 || first.State() != Open {
				t.Errorf("told %v, retired %d, slots %d", told, b.worker.retired, b.Slots.Taken())
			}
			if c.retired > 0 && !strings.Contains(b.log.String(), "duplex channel ownership violation (duplicate bound pair); retiring worker") {
				t.Errorf("log:\n%s", b.log)
			}
		})
	}
	b := newBench(t, nil)
	b.Slots = NewSlots(1)
	b.open()
	if _, err := b.Open(t.Context(), wire.DuplexOpenParams{}); err == nil || err.Error() != "DUPLEX_CHANNEL_ROUTE_BUSY" {
		t.Errorf("over the ceiling: %v", err)
	}
	b = newBench(t, nil)
	delete(b.worker.answer, wire.MethodDuplexOpen)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Open(ctx, wire.DuplexOpenParams{}); !errors.Is(err, context.Canceled) || b.Slots.Taken() != 0 {
		t.Errorf("after cancelling: %v", err)
	}
	b.worker.waiting[0](result(wire.DuplexPair{HostRouteID: "duplex-route-1", WorkerSessionID: "s-duplex-route-1"}))
	b.data("duplex-route-1", "s-duplex-route-1", "late")
	if b.Len() != 0 || b.worker.retired != 0 {
		t.Errorf("a late reply revived the route; retired %d times", b.worker.retired)
	}
}

func TestOwnership(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		send   func(b *bench, c *Channel)
	}{
		"unknown route":       {"data frame pair", func(b *bench, c *Channel) { b.data("duplex-route-9", "s", "x") }},
		"foreign session":     {"data frame pair", func(b *bench, c *Channel) { b.data(c.ID(), "s", "x") }},
		"no session":          {"data frame pair", func(b *bench, c *Channel) { b.data(c.ID(), "", "x") }},
		"no object":           {"data frame pair", func(b *bench, c *Channel) { b.Data(json.RawMessage(`3`)) }},
		"exit of a foreigner": {"exit frame pair", func(b *bench, c *Channel) { b.exit(c.ID(), "s", 0, false) }},
		"too many tombstones": {"tombstone set overflow", func(b *bench, c *Channel) { c.Close(); b.open().Close() }},
	} {
		b := newBench(t, func(l *Limits) { l.Tombstones = 1 })
		channel := b.open()
		c.send(b, channel)
		if want := "duplex channel ownership violation (" + c.reason + "); retiring worker"; b.worker.retired != 1 || !strings.Contains(b.log.String(), want) {
			t.Errorf("%s: retired %d times, log:\n%s", name, b.worker.retired, b.log)
		}
	}
	b := newBench(t, nil)
	c := b.open()
	c.Close()
	b.data(c.ID(), c.SessionID(), "late")
	b.exit(c.ID(), c.SessionID(), 0, false)
	if b.worker.retired != 0 {
		t.Error("a frame for a closed pair retires the worker")
	}
}

func TestCloseMustBeConfirmed(t *testing.T) {
	for name, reply := range map[string]Reply{
		"late":          {Err: fault.New("timed out").WithCode(wire.CodeTimeout), Sent: true},
		"not sent":      {Err: io.ErrClosedPipe},
		"null":          result(nil),
		"no session":    result(wire.DuplexPair{HostRouteID: "duplex-route-1"}),
		"other session": result(wire.DuplexPair{HostRouteID: "duplex-route-1", WorkerSessionID: "s"}),
		"other route":   result(wire.DuplexPair{HostRouteID: "duplex-route-2", WorkerSessionID: "s-duplex-route-1"}),
	} {
		b := newBench(t, nil)
		c := b.open()
		b.worker.answer[wire.MethodDuplexClose] = func(Request) Reply { return reply }
		c.Close()
		c.Close()
		if b.worker.retired != 1 || !strings.Contains(b.log.String(), logNotAcknowledged) {
			t.Errorf("%s: retired %d times", name, b.worker.retired)
		}
	}
	b := newBench(t, nil)
	c := b.open()
	b.worker.answer[wire.MethodDuplexClose] = func(Request) Reply {
		return Reply{Err: fault.New("gone").WithCode(wire.CodeWorkerUnavailable), Sent: true}
	}
	c.Close()
	if b.worker.retired != 0 {
		t.Error("a worker that is gone was killed")
	}
}

func TestListeners(t *testing.T) {
	b := newBench(t, nil)
	c := b.open()
	b.data(c.ID(), c.SessionID(), "before ")
	got := make(chan string, 10)
	c.OnData(func([]byte) { panic("listener") })
	c.OnExit(func(e Exit) {
		c.Close() // a listener may call the channel
		got <- fmt.Sprint(*e.Code)
	})
	b.data(c.ID(), c.SessionID(), "lost")
	for {
		b.mu.Lock()
		idle := !c.pumping && len(c.queue) == 0
		b.mu.Unlock()
		if idle {
			break
		}
	}
	c.OnData(func(p []byte) { got <- string(p) })
	b.data(c.ID(), c.SessionID(), "after")
	b.exit(c.ID(), c.SessionID(), 5, false)
	b.exit(c.ID(), c.SessionID(), 6, true)
	if diff := cmp.Diff([]string{"after", "5"}, []string{<-got, <-got}); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(b.log.String(), logDeliveryThrew) {
		t.Error("the panic was not logged")
	}
}

func TestWorkerExit(t *testing.T) {
	b := newBench(t, nil)
	c := b.open()
	b.data(c.ID(), c.SessionID(), "dropped")
	calls := len(b.worker.calls)
	b.WorkerExited()
	exit, err := c.Wait(t.Context())
	if err != nil || exit.Code != nil || exit.TransportClosed {
		t.Errorf("exit %+v, %v", exit, err)
	}
	c.OnData(func([]byte) { t.Error("dropped data was delivered") })
	c.Close()
	b.data(c.ID(), c.SessionID(), "from the grave")
	if len(b.worker.calls) != calls || b.worker.retired != 0 || b.Slots.Taken() != 0 {
		t.Errorf("a dead worker was asked: %v", b.worker.calls[calls:])
	}
}

func TestDataAfterTheEnd(t *testing.T) {
	b := newBench(t, nil)
	c := b.open()
	b.data(c.ID(), c.SessionID(), "kept")
	c.Close()
	got := make(chan string, 1)
	c.OnData(func(p []byte) { got <- string(p) })
	if text := <-got; text != "kept" {
		t.Errorf("got %q", text)
	}
}
