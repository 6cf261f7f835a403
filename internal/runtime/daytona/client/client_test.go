package client_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"errorkb/internal/runtime/daytona/client"
	"errorkb/internal/runtime/daytona/service"
	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/fixture"
)

func TestMain(m *testing.M) { os.Exit(fixture.CheckLeaks(m.Run)) }

// limit bounds what a test waits for.
const limit = 30 * time.Second

// scene is a service with one sandbox, and a client of it.
type scene struct {
	t       *testing.T
	ctx     context.Context
	service *service.Service
	sandbox *client.Sandbox
}

func begin(t *testing.T, connect time.Duration) *scene {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	s, err := service.Start(service.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	c := client.New(client.Options{URL: s.URL() + "/", Key: s.Key(), ConnectTimeout: connect})
	t.Cleanup(func() {
		c.Close()
		s.Close()
	})
	b, err := c.Create(ctx, client.CreateParams{})
	if err != nil {
		t.Fatal(err)
	}
	return &scene{t, ctx, s, b}
}

func (x *scene) breaks(f service.Fault) {
	x.t.Helper()
	if err := x.service.Break(f); err != nil {
		x.t.Fatal(err)
	}
}

func (x *scene) open(onData func([]byte)) *client.Terminal {
	x.t.Helper()
	term, err := x.sandbox.OpenTerminal(x.ctx, client.TerminalOptions{ID: "t", OnData: onData})
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() {
		term.Disconnect()
		<-term.Done()
	})
	return term
}

// connectError opens a terminal whose connection has the given fault.
func (x *scene) connectError(f service.Fault) error {
	x.t.Helper()
	f.Operation = "terminal.connect"
	x.breaks(f)
	return x.open(nil).WaitConnected(x.ctx)
}

// rows are the errors of the catalogue that come out of this package.
var rows = []struct {
	id, text, class string
	raise           func(t *testing.T) error
}{
	{"API-01", "PTY connection timeout", client.ClassTimeout, func(t *testing.T) error {
		return begin(t, 20*time.Millisecond).connectError(service.Fault{Kind: service.KindSilent})
	}},
	{"API-02", "Connection failed", client.ClassConnection, func(t *testing.T) error {
		return begin(t, limit).connectError(service.Fault{Kind: service.KindShut})
	}},
	{"API-02", "no such terminal here", client.ClassConnection, func(t *testing.T) error {
		return begin(t, limit).connectError(service.Fault{Kind: service.KindRefuse, Message: "no such terminal here"})
	}},
	{"API-03", "PTY is not connected", client.ClassConnection, func(t *testing.T) error {
		x := begin(t, limit)
		term := x.open(nil)
		if err := term.WaitConnected(x.ctx); err != nil {
			t.Fatal(err)
		}
		term.Disconnect()
		if _, err := term.Wait(x.ctx); err != nil {
			t.Fatal(err)
		}
		return term.Send(x.ctx, []byte("x"))
	}},
	{"API-03", "PTY is not connected", client.ClassConnection, func(t *testing.T) error {
		x := begin(t, limit)
		x.breaks(service.Fault{Operation: "terminal.connect", Kind: service.KindShutConnected})
		term := x.open(nil)
		if err := term.WaitConnected(x.ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := x.sandbox.Execute(x.ctx, "true", "", 0); err != nil {
			t.Fatal(err)
		}
		return term.Send(x.ctx, []byte("x"))
	}},
	{"API-04", "Failed to send input to PTY: connection closed", client.ClassConnection, func(t *testing.T) error {
		x := begin(t, limit)
		x.breaks(service.Fault{Operation: "terminal.connect", Kind: service.KindDropInput})
		term := x.open(nil)
		if err := term.WaitConnected(x.ctx); err != nil {
			t.Fatal(err)
		}
		// One message is larger than all buffers on the way: the reset comes
		// in the middle of it.
		return term.Send(x.ctx, make([]byte, 16<<20))
	}},
	{"API-05", "Unknown connection error", client.ClassConnection, func(t *testing.T) error {
		return begin(t, limit).connectError(service.Fault{Kind: service.KindRefuse})
	}},
	{"API-06", "WebSocket connection error", client.ClassConnection, func(t *testing.T) error {
		return begin(t, limit).connectError(service.Fault{Kind: service.KindStatus})
	}},
}

func TestCatalogue(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range rows {
		seen[row.id] = true
		t.Run(row.id, func(t *testing.T) {
			err := row.raise(t)
			e := fault.As(err)
			if e == nil || e.Message != row.text || e.Class != row.class || e.Code != 0 || e.Place.File != "daytona/client/terminal.go" {
				t.Errorf("got %v (%+v)", err, e)
			}
		})
	}
	for _, must := range []string{"API-01", "API-02", "API-03"} {
		if !seen[must] {
			t.Errorf("%s has no test", must)
		}
	}
}

func TestForeignAndOversizedMessages(t *testing.T) {
	x := begin(t, limit)
	x.breaks(service.Fault{Operation: "terminal.connect", Kind: service.KindForeign})
	got := make(chan []byte, 1000)
	term := x.open(func(data []byte) { got <- bytes.Clone(data) })
	if err := term.WaitConnected(x.ctx); err != nil {
		t.Fatal(err)
	}
	if err := term.Send(x.ctx, []byte("printf '%s-' done; exit 4\r")); err != nil {
		t.Fatal(err)
	}
	exit, err := term.Wait(x.ctx)
	if err != nil || exit.Code == nil || *exit.Code != 4 {
		t.Errorf("exit %+v, %v", exit, err)
	}
	close(got)
	var text []byte
	for data := range got {
		text = append(text, data...)
	}
	if !bytes.Contains(text, []byte(`{"status":"fine","type":"weather"}{not JSON`)) || !bytes.Contains(text, []byte("done-")) {
		t.Errorf("output is %q", text)
	}

	x.service.Mend("")
	x.breaks(service.Fault{Operation: "terminal.connect", Kind: service.KindOversized})
	term, err = x.sandbox.OpenTerminal(x.ctx, client.TerminalOptions{ID: "t2"})
	if err != nil {
		t.Fatal(err)
	}
	if err := term.WaitConnected(x.ctx); err != nil {
		t.Fatal(err)
	}
	if exit, err := term.Wait(x.ctx); err != nil || exit.Code != nil {
		t.Errorf("exit %+v, %v", exit, err)
	}
}

// TestCloseReasons lets a server end a terminal in every way.
func TestCloseReasons(t *testing.T) {
	for _, c := range []struct{ shown, want string }{
		{`1000 {"exitCode":0}`, "0"},
		{`1011 {"exitCode":137,"exitReason":"SIGKILL"}`, "137"},
		{`1000`, "0"},
		{`1000 bye`, "0"},
		{`1011`, "unknown"},
		{`1008 slow consumer`, "unknown"},
		{`1011 {"error":"lost"}`, "PTY session ended with an error: lost"},
		{`1011 {"exitCode":"7"}`, "unknown"},
		{`1011 {"exitCode":3,"error":"both"}`, "3"},
	} {
		var code int
		status, reason, _ := strings.Cut(c.shown, " ")
		fmt.Sscan(status, &code)
		exit, err := client.ReadClose(code, reason)
		got := "unknown"
		switch {
		case err != nil:
			got = err.Error()
		case exit.Code != nil:
			got = fmt.Sprint(*exit.Code)
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.shown, got, c.want)
		}
	}
}

// TestTransport holds the texts of failed requests against a server that
// fails in many ways, and against none.
func TestTransport(t *testing.T) {
	answers := map[string]func(w http.ResponseWriter){
		"message": func(w http.ResponseWriter) { http.Error(w, `{"message":"out of quota"}`, http.StatusForbidden) },
		"error":   func(w http.ResponseWriter) { http.Error(w, `{"error":"no"}`, 500) },
		"text":    func(w http.ResponseWriter) { http.Error(w, `<h1>Bad gateway</h1>`, http.StatusBadGateway) },
		"empty":   func(w http.ResponseWriter) { io.WriteString(w, `{}`) },
		"scalar":  func(w http.ResponseWriter) { io.WriteString(w, `7`) },
		"cut": func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, `{"id":`)
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers[r.URL.Path[len("/sandbox/"):]](w)
	}))
	defer server.Close()
	c := client.New(client.Options{URL: server.URL})
	defer c.Close()
	for id, want := range map[string]string{
		"message": "out of quota",
		"error":   "no",
		"text":    "Request failed with status code 502",
		"empty":   "The Daytona API answered with a sandbox without an id",
		"scalar":  "The Daytona API answered with something else than JSON: json: cannot unmarshal number into Go value of type client.Data",
		"cut":     "Request to the Daytona API failed: connection closed",
	} {
		if _, err := c.Get(t.Context(), id); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", id, err, want)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	for url, want := range map[string]string{
		"http://" + address: "Request to the Daytona API failed: connection refused",
		"http://[::1":       "The address of the Daytona API cannot be used: missing ']' in host",
	} {
		nobody := client.New(client.Options{URL: url})
		if _, err := nobody.Get(t.Context(), "x"); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", url, err, want)
		}
		nobody.Close()
	}
}

// TestOversizedAnswer meets a service that does not stop.
func TestOversizedAnswer(t *testing.T) {
	x := begin(t, limit)
	x.breaks(service.Fault{Operation: "sandbox.get", Kind: service.KindOversized})
	c := client.New(client.Options{URL: x.service.URL(), Key: x.service.Key(), MaxAnswer: 1 << 20})
	defer c.Close()
	if _, err := c.Get(x.ctx, "sandbox-1"); err == nil || err.Error() != "The Daytona API answered with more than 1048576 bytes" {
		t.Errorf("got %v", err)
	}
}

// TestSplit cuts a followed log at every place.
func TestSplit(t *testing.T) {
	log := []byte("\x01\x01\x01out\x02\x02\x02err\x01\x01\x01a\x02b\x01\x01c\x02\x02\x02d\x01")
	want := []string{"stdout=outa\x02b\x01\x01c", "stderr=errd\x01"}
	for i := range log {
		for j := i; j <= len(log); j++ {
			if got := client.Split(log[:i], log[i:j], log[j:]); !slices.Equal(got, want) {
				t.Fatalf("cut at %d and %d: %q", i, j, got)
			}
		}
	}
}
