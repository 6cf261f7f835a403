package daytona

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"errorkb/internal/runtime/daytona/service"
	"errorkb/internal/runtime/wire"
)

func TestLaunchLine(t *testing.T) {
	p := &provider{options: Options{Scratch: "/tmp"}}
	got := p.launchLine("u-1", []string{"/bin/cat", "it's", ""})
	want := "exec 2>'/tmp/paperclip-duplex-u-1.log'; stty raw -echo; exec '/bin/cat' 'it'\"'\"'s' ''\r"
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestDuplex(t *testing.T) {
	x := begin(t)
	l := x.lease()
	c, err := x.open(string(l.ProviderLeaseID), "sh", "-c", "echo ready-; exec cat")
	x.must(err)
	c.until("ready-\n")
	before := len(c.output())
	// Every byte, in more than one piece of the terminal.
	data := make([]byte, 3*inputChunk+17)
	for i := range data {
		data[i] = byte(i)
	}
	c.write(data[:100_000])
	c.write(append(data[100_000:], "-end"...))
	c.until("-end")
	if got := c.output()[before:]; !bytes.Equal(got, append(data, "-end"...)) {
		t.Errorf("%d bytes came back, not the same", len(got))
	}
	foreign := wire.DuplexPair{HostRouteID: c.pair.HostRouteID, WorkerSessionID: "duplex-other"}
	x.must(x.call(wire.MethodDuplexWrite, wire.DuplexWriteParams{DuplexPair: foreign, Data: wire.EncodeChunk([]byte("foreign"))}, nil))
	x.must(x.call(wire.MethodDuplexWrite, wire.DuplexWriteParams{DuplexPair: c.pair, Data: "!!"}, nil))
	x.must(x.call(wire.MethodDuplexStop, wire.DuplexStopParams{DuplexPair: foreign}, nil))
	c.write([]byte("still here"))
	c.until("still here")
	if bytes.Contains(c.output(), []byte("foreign")) {
		t.Error("a foreign pair could write")
	}
	x.must(c.stopProgram())
	if exit := c.exit(); exit != "137" {
		t.Errorf("exit %s", exit)
	}
	if pair := c.close(); pair != c.pair {
		t.Errorf("close answered %+v", pair)
	}
	if pair := c.close(); pair != (wire.DuplexPair{HostRouteID: c.pair.HostRouteID}) {
		t.Errorf("second close answered %+v", pair)
	}
	x.must(c.stopProgram())
	c.write([]byte("nobody"))
}

func TestDuplexExits(t *testing.T) {
	x := begin(t)
	l := x.lease()
	for _, code := range []string{"0", "7"} {
		c, err := x.open(string(l.ProviderLeaseID), "sh", "-c", "exit "+code)
		x.must(err)
		if exit := c.exit(); exit != code {
			t.Errorf("exit %s arrived as %s", code, exit)
		}
		if pair := c.close(); pair != c.pair {
			t.Errorf("close answered %+v", pair)
		}
	}
	c, err := x.open(string(l.ProviderLeaseID), "sleep", "1000")
	x.must(err)
	if n := x.service.DropTerminals("sandbox-1"); n != 1 {
		t.Errorf("%d sockets were dropped", n)
	}
	if exit := c.exit(); exit != "lost" {
		t.Errorf("exit %s after the socket was dropped", exit)
	}
	c.close()
	if n := x.service.Terminals("sandbox-1"); n != 0 {
		t.Errorf("%d terminals are left", n)
	}
	// The exit says nothing of a channel that the host has closed.
	c, err = x.open(string(l.ProviderLeaseID), "sleep", "1000")
	x.must(err)
	c.close()
	x.must(x.execute(l, "true"))
	for _, m := range x.worker.events {
		if m.Method == wire.NotifyDuplexExit && strings.Contains(string(m.Params), c.pair.WorkerSessionID) {
			t.Errorf("exit of a closed channel: %s", m.Params)
		}
	}
}

func TestReleaseEndsChannels(t *testing.T) {
	x := begin(t)
	x.config["reuseLease"] = true
	l := x.lease()
	c, err := x.open(string(l.ProviderLeaseID), "sleep", "1000")
	x.must(err)
	_, err = x.release(l)
	x.must(err)
	if exit := c.exit(); exit != "137" {
		t.Errorf("exit %s", exit)
	}
	// The worker has forgotten the channel: the reply to close lacks the
	// session id, which the host takes for unconfirmed.
	if pair := c.close(); pair.WorkerSessionID != "" {
		t.Errorf("close answered %+v", pair)
	}
}

// TestDeletedBehindTheCache shows that a sandbox which the service has deleted
// is not the error of a missing handle: the handle is still there.
func TestDeletedBehindTheCache(t *testing.T) {
	x := begin(t)
	l := x.lease()
	x.must(x.service.Remove("sandbox-1"))
	_, err := x.open(string(l.ProviderLeaseID), "cat")
	if err == nil || err.Error() != "Sandbox with ID sandbox-1 not found" {
		t.Errorf("got %v", err)
	}
}

// TestRemedy follows 2.11: after the worker was started again, an operation on
// the lease fills the cache, and the same open works.
func TestRemedy(t *testing.T) {
	x := begin(t)
	l := x.lease()
	x.restart()
	_, err := x.open(string(l.ProviderLeaseID), "cat")
	if err == nil || err.Error() != fmt.Sprint(msgNoDuplexSandbox) {
		t.Fatalf("got %v", err)
	}
	x.must(x.call(wire.MethodRealizeWorkspace, wire.RealizeParams{Target: x.target(), Lease: wire.Lease{ProviderLeaseID: l.ProviderLeaseID, Metadata: l.Metadata}}, nil))
	c, err := x.open(string(l.ProviderLeaseID), "sh", "-c", "echo ready-")
	x.must(err)
	c.until("ready-\n")
	if exit := c.exit(); exit != "0" {
		t.Errorf("exit %s", exit)
	}
}

func TestCloseWhileOpening(t *testing.T) {
	x := begin(t)
	l := x.lease()
	x.breaks(service.Fault{Operation: "terminal.create", Kind: service.KindHang})
	opened := make(chan error, 1)
	q := wire.DuplexOpenParams{HostRouteID: "duplex-route-77", ProviderLeaseID: string(l.ProviderLeaseID), Command: []string{"cat"}}
	go func() { opened <- x.call(wire.MethodDuplexOpen, q, nil) }()
	x.must(x.service.WaitHanging(x.ctx, 1))
	var pair wire.DuplexPair
	x.must(x.call(wire.MethodDuplexClose, wire.DuplexCloseParams{HostRouteID: q.HostRouteID}, &pair))
	if pair.HostRouteID != q.HostRouteID {
		t.Errorf("close answered %+v", pair)
	}
	if err := <-opened; err == nil {
		t.Error("the open succeeded")
	}
	if n := x.service.Terminals("sandbox-1"); n != 0 {
		t.Errorf("%d terminals are left", n)
	}
}

func TestManyChannels(t *testing.T) {
	x := begin(t)
	l := x.lease()
	channels := make([]*duplexChannel, 16)
	for i := range channels {
		c, err := x.open(string(l.ProviderLeaseID), "sh", "-c", "echo ready-; exec cat")
		x.must(err)
		channels[i] = c
	}
	for _, i := range rand.Perm(len(channels)) {
		channels[i].until("ready-\n")
		channels[i].write(fmt.Appendf(nil, "I am %d.", i))
	}
	for i, c := range channels {
		c.until(fmt.Sprintf("I am %d.", i))
		if got := bytes.Count(c.output(), []byte("I am ")); got != 1 {
			t.Errorf("channel %d heard %d", i, got)
		}
	}
	// The worker ends with all of them open.
	x.worker.stop()
	if n := x.service.Terminals("sandbox-1"); n != 0 {
		t.Errorf("%d terminals outlived the worker", n)
	}
}

func TestLogin(t *testing.T) {
	x := begin(t)
	removeHome := func() { os.RemoveAll(sessionHome) }
	removeHome()
	defer os.Remove("/tmp/paperclip-adapter-login") // only when empty
	defer removeHome()
	l := x.lease()
	// A program of that name in the sandbox.
	x.must(x.execute(l, `mkdir -p "$HOME/bin"; printf '#!/bin/sh\necho "$1 for $CODEX_HOME é"; read line; echo "got <$line>"; exit 3\n' >"$HOME/bin/codex"; chmod +x "$HOME/bin/codex"; echo 'PATH="$HOME/bin:$PATH"' >"$HOME/.bashrc"`))
	got, err := x.login(string(l.ProviderLeaseID), "codex", sessionHome)
	x.must(err)
	shown := func() string {
		var all strings.Builder
		for _, m := range x.worker.events {
			var o wire.LoginOutput
			if m.Method == wire.NotifyLoginOutput && unmarshal(m.Params, &o) == nil && o.WorkerSessionID == got.WorkerSessionID {
				all.WriteString(o.Chunk)
			}
		}
		return all.String()
	}
	x.wait("prompt", func(*wire.Message) bool { return strings.Contains(shown(), "login for "+sessionHome+" é") })
	x.must(x.call(wire.MethodLoginInput, wire.LoginInputParams{WorkerSessionID: got.WorkerSessionID, Data: "code\r"}, nil))
	x.wait("echo", func(*wire.Message) bool { return strings.Contains(shown(), "got <code>") })
	exit := x.wait("exit", func(m *wire.Message) bool { return m.Method == wire.NotifyLoginExit })
	var e wire.LoginExit
	x.must(unmarshal(exit.Params, &e))
	if e.ExitCode == nil || *e.ExitCode != 3 {
		t.Errorf("exit %+v", e)
	}
	x.must(x.call(wire.MethodLoginClose, wire.LoginCloseParams{HostRouteID: "login-1"}, nil))

	// DAY-34: the home is there already, or a link is in its place.
	for _, prepare := range []func(){
		func() {},
		func() { removeHome(); _ = os.Symlink("/tmp", sessionHome) },
	} {
		prepare()
		_, err = x.login(string(l.ProviderLeaseID), "claude", sessionHome)
		if err == nil || err.Error() != "LOGIN_PTY_HOME_REJECTED" {
			t.Errorf("got %v", err)
		}
	}
	if n := x.service.Terminals("sandbox-1"); n != 0 {
		t.Errorf("%d terminals are left", n)
	}
}
