package daytona

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"errorkb/internal/runtime/daytona/client"
	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/sdk"
	"errorkb/internal/runtime/wire"
)

// execSession is the shell in a sandbox in which the commands of a lease run
// one after the other.
type execSession struct {
	id   string
	box  *client.Sandbox
	turn chan struct{} // holds one value while no command runs
}

// DAY-28
const warnSession = `Failed to delete Daytona session %s during teardown: %s`

// session returns the session of a lease and makes it when there is none.
func (p *provider) session(ctx context.Context, s scope, box *client.Sandbox) (*execSession, error) {
	p.mu.Lock()
	have := p.sessions[s]
	p.mu.Unlock()
	if have != nil {
		return have, nil
	}
	made := &execSession{id: "paperclip-" + newID(), box: box, turn: make(chan struct{}, 1)}
	made.turn <- struct{}{}
	if err := box.CreateSession(ctx, made.id); err != nil {
		return nil, err
	}
	p.mu.Lock()
	have = p.sessions[s]
	if have == nil {
		p.sessions[s] = made
	}
	p.mu.Unlock()
	if have != nil { // somebody was faster
		p.deleteSession(ctx, made)
		return have, nil
	}
	return made, nil
}

// forgetSession returns the session of a lease, nil when there is none, and
// knows it no more.
func (p *provider) forgetSession(s scope) *execSession {
	p.mu.Lock()
	defer p.mu.Unlock()
	have := p.sessions[s]
	delete(p.sessions, s)
	return have
}

// deleteSession ends a session with what runs in it.
func (p *provider) deleteSession(ctx context.Context, x *execSession) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.options.KillTimeout)
	defer cancel()
	if err := x.box.DeleteSession(ctx, x.id); err != nil && !client.NotFound(err) {
		warn(ctx, fault.New(warnSession, x.id, err))
	}
}

// inSession runs a script in a subshell of the lease's session. A command over
// its time takes the session with it.
func (p *provider) inSession(ctx context.Context, s scope, box *client.Sandbox, script string, timeout time.Duration) (wire.ExecuteResult, error) {
	text := "(\n" + script + "\n)"
	for again := true; ; again = false {
		x, err := p.session(ctx, s, box)
		if err != nil {
			return wire.ExecuteResult{}, err
		}
		select {
		case <-x.turn:
		case <-ctx.Done():
			return wire.ExecuteResult{}, ctx.Err()
		}
		command, err := box.StartCommand(ctx, x.id, text)
		if err == nil {
			defer func() { x.turn <- struct{}{} }()
			return p.await(ctx, s, x, command, timeout)
		}
		x.turn <- struct{}{}
		// The shell may have ended, also because of the command before.
		p.dropSession(s, x)
		if !again {
			return wire.ExecuteResult{}, err
		}
	}
}

// dropSession forgets a session unless there is a new one already.
func (p *provider) dropSession(s scope, x *execSession) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sessions[s] == x {
		delete(p.sessions, s)
	}
}

// await waits for a command of a session.
func (p *provider) await(ctx context.Context, s scope, x *execSession, command string, timeout time.Duration) (wire.ExecuteResult, error) {
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out := &output{host: sdk.HostOf(ctx), ctx: ctx}
	code, err := p.follow(bounded, x, command, out)
	if err != nil && ctx.Err() == nil && errors.Is(bounded.Err(), context.DeadlineExceeded) {
		p.dropSession(s, x)
		p.deleteSession(ctx, x)
		return timedOut(out.all(), timeout), nil
	}
	if err != nil {
		return wire.ExecuteResult{}, err
	}
	have := out.all()
	return wire.ExecuteResult{ExitCode: &code, Stdout: have.Stdout, Stderr: have.Stderr}, nil
}

// follow waits for a command and collects its output: it follows the log,
// connects once more when that breaks off, and looks from time to time after
// that.
func (p *provider) follow(ctx context.Context, x *execSession, command string, out *output) (int, error) {
	followed := false
	for range 2 {
		out.replay()
		err := x.box.FollowCommand(ctx, x.id, command, out.add)
		if followed = err == nil; followed {
			break
		}
		if ctx.Err() != nil {
			return 0, err
		}
	}
	ticker := time.NewTicker(or(p.options.PollInterval, 50*time.Millisecond))
	defer ticker.Stop()
	for {
		code, err := x.box.CommandExit(ctx, x.id, command)
		if err != nil {
			return 0, err
		}
		if code != nil {
			if followed {
				return *code, nil
			}
			have, err := x.box.CommandOutput(ctx, x.id, command)
			if err != nil {
				return 0, err
			}
			out.complete(have)
			return *code, nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// output collects what a command writes and tells the host at once. Of a log
// that is sent again it drops what it has.
type output struct {
	ctx     context.Context
	host    *sdk.Host
	streams [2]stream // stdout, stderr
}

type stream struct {
	text strings.Builder
	seen int // bytes that have come, kept or not
	skip int // bytes that are to come again
	live textStream
}

// maxKept bounds how much of a stream becomes part of the result. The rest is
// told live only.
const maxKept = 16 << 20

func (o *output) replay() {
	for i := range o.streams {
		o.streams[i].skip = o.streams[i].seen
	}
}

func (o *output) add(name string, chunk []byte) {
	x := &o.streams[0]
	if name == "stderr" {
		x = &o.streams[1]
	}
	dropped := min(x.skip, len(chunk))
	x.skip -= dropped
	chunk = chunk[dropped:]
	x.seen += len(chunk)
	x.text.Write(chunk[:min(len(chunk), maxKept-x.text.Len())])
	if o.host != nil {
		_ = o.host.ExecuteLog(o.ctx, name, x.live.add(chunk)) // live output is a courtesy
	}
}

// complete takes over the whole output and adds what was not followed.
func (o *output) complete(have client.Output) {
	for i, whole := range []string{have.Stdout, have.Stderr} {
		x := &o.streams[i]
		x.skip = 0
		if rest, same := strings.CutPrefix(whole, x.text.String()); same {
			o.add([]string{"stdout", "stderr"}[i], []byte(rest))
			continue
		}
		x.text.Reset() // bytes that are no text look different in it
		x.text.WriteString(whole[:min(len(whole), maxKept)])
	}
}

func (o *output) all() client.Output {
	return client.Output{Stdout: o.streams[0].text.String(), Stderr: o.streams[1].text.String()}
}

// textStream turns pieces of bytes into pieces of text: a character that is
// cut stays back until it is whole.
type textStream struct{ held []byte }

func (t *textStream) add(chunk []byte) string {
	data := append(t.held, chunk...)
	keep := 0
	for n := 1; n < utf8.UTFMax && n <= len(data); n++ {
		if b := data[len(data)-n]; utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRune(data[len(data)-n:]) {
				keep = n
			}
			break
		}
	}
	text := string(data[:len(data)-keep])
	t.held = append([]byte(nil), data[len(data)-keep:]...)
	return text
}
