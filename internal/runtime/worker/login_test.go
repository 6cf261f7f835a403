//go:build unix

package worker

import (
	"testing"
	"time"

	"errorkb/internal/runtime/clock"
	"errorkb/internal/runtime/duplex"
	"errorkb/internal/runtime/wire"
)

const home = "/tmp/paperclip-adapter-login/0a1b2c3d-0000-4000-8000-0123456789ab"

func login(lease string) wire.LoginOpenParams {
	return wire.LoginOpenParams{DriverKey: "fixture", CompanyID: "c1", ProviderLeaseID: lease, LoginCommandKey: "claude", SessionHome: home}
}

func TestLogin(t *testing.T) {
	opts, _ := options(t)
	opts.Slots = duplex.NewSlots(2)
	h := started(t, opts)
	c, err := h.OpenLogin(t.Context(), login("fx-1"))
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 1)
	c.OnData(func(p []byte) { got <- string(p) })
	c.Write([]byte("grüße"))
	if text := <-got; text != "grüße" {
		t.Errorf("got %q", text)
	}
	c.Stop()
	if exit, err := c.Wait(t.Context()); err != nil || *exit.Code != 137 {
		t.Errorf("exit %+v, %v", exit, err)
	}

	bad := login("fx-1")
	bad.LoginCommandKey, bad.SessionHome = "bash", "/tmp/x"
	_, err = h.OpenLogin(t.Context(), bad)
	wantFault(t, err, 0, "", "LOGIN_PTY_COMMAND_NOT_ALLOWED")
	bad = login("fx-1")
	bad.SessionHome = "/tmp/x"
	_, err = h.OpenLogin(t.Context(), bad)
	wantFault(t, err, 0, "", "LOGIN_SESSION_HOME_INVALID")
	_, err = h.OpenLogin(t.Context(), login("fx-1,open=no-session"))
	wantFault(t, err, 0, "", "LOGIN_PTY_OPEN_FAILED")
	shared, err := h.OpenLogin(t.Context(), login("fx-1,open=same-session"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = h.OpenDuplex(t.Context(), wire.DuplexOpenParams{CompanyID: "c1", ProviderLeaseID: "fx-1"})
	wantFault(t, err, 0, "", "DUPLEX_CHANNEL_ROUTE_BUSY") // the slots are shared
	_, err = h.OpenLogin(t.Context(), login("fx-1"))
	wantFault(t, err, 0, "", "LOGIN_PTY_ROUTES_AT_CAPACITY")
	_, err = h.OpenLogin(t.Context(), bad)
	wantFault(t, err, 0, "", "LOGIN_SESSION_HOME_INVALID")
	c.Close()
	_, err = h.OpenLogin(t.Context(), login("fx-1,open=same-session"))
	wantFault(t, err, 0, "", "LOGIN_PTY_OPEN_FAILED")
	shared.Close()
	if h.Status() != Running || opts.Slots.Taken() != 0 {
		t.Errorf("the worker is %s, %d slots are taken", h.Status(), opts.Slots.Taken())
	}
}

func TestLoginNeedsAWorkerAndAnAcknowledgement(t *testing.T) {
	opts, log := options(t)
	opts.LoginLimits = duplex.DefaultLoginLimits()
	opts.LoginLimits.Close = 20 * time.Millisecond
	h := started(t, opts)
	c, err := h.OpenLogin(t.Context(), login("fx-1,close=silent"))
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	await(t, h, Stopped)
	if !log.has("login pseudo-terminal close not acknowledged; retiring worker") {
		t.Error("the missing acknowledgement was not logged")
	}
	opts, _ = options(t)
	opts.Clock = clock.NewFake(time.Unix(0, 0))
	h = started(t, opts)
	_, _ = h.Call(t.Context(), execute("kill"))
	await(t, h, Backoff)
	_, err = h.OpenLogin(t.Context(), login("fx-1"))
	wantFault(t, err, 0, "", `Cannot open a login pseudo-terminal — worker for "plugin-1" is backoff`)
}
