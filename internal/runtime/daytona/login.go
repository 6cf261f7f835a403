package daytona

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"errorkb/internal/runtime/daytona/client"
	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/sdk"
	"errorkb/internal/runtime/wire"
)

const (
	msgNoLoginSandbox = `Daytona login pseudo-terminal: no cached sandbox resolves the provider lease.` // DAY-07
	msgDescriptor     = `LOGIN_PTY_DESCRIPTOR_REJECTED`                                                 // DAY-33
	msgHome           = `LOGIN_PTY_HOME_REJECTED`                                                       // DAY-34
)

// loginCommands are the programs of a login terminal. A host names one by its
// key and cannot say anything else.
var loginCommands = map[string]func(home string) string{
	"claude": func(string) string { return "claude setup-token" },
	"codex":  func(home string) string { return "env CODEX_HOME=" + quote(home) + " codex login --device-auth" },
}

var loginHome = regexp.MustCompile(`^/tmp/paperclip-adapter-login/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// loginOpen opens a terminal with a login command. Its home is made for it and
// must not have been there before.
func (p *provider) loginOpen(ctx context.Context, q wire.LoginOpenParams) (wire.LoginOpenResult, error) {
	box := p.cache.find(ctx, q.ProviderLeaseID)
	if box == nil {
		return wire.LoginOpenResult{}, fault.New(msgNoLoginSandbox)
	}
	command, known := loginCommands[q.LoginCommandKey]
	if !known || !loginHome.MatchString(q.SessionHome) {
		return wire.LoginOpenResult{}, fault.New(msgDescriptor)
	}
	home, err := makeHome(ctx, box, q.SessionHome)
	if err != nil {
		return wire.LoginOpenResult{}, err
	}
	if err := home.check(ctx); err != nil {
		return wire.LoginOpenResult{}, err
	}
	id := newID()
	c := &channel{pair: wire.DuplexPair{HostRouteID: q.HostRouteID, WorkerSessionID: "pty-" + id}, lease: q.ProviderLeaseID, login: true}
	host := sdk.HostOf(ctx)
	var text textStream
	deliver := func(data []byte) { _ = host.LoginOutput(unbound, c.pair, text.add(data)) }
	err = p.open(ctx, c, deliver, func(ctx context.Context) (*terminal, error) {
		line := "exec " + command(q.SessionHome) + "\r"
		return p.openTerminal(ctx, box, "paperclip-login-"+id, line, home.check, p.tellFailure(host, c))
	})
	if err != nil {
		return wire.LoginOpenResult{}, err
	}
	return wire.LoginOpenResult{WorkerSessionID: c.pair.WorkerSessionID}, nil
}

// home is the directory of a login in a sandbox.
type home struct {
	box  *client.Sandbox
	path string
	user string // number of the user that owns it
}

// makeHome makes a home that nobody else can use.
func makeHome(ctx context.Context, box *client.Sandbox, path string) (home, error) {
	got, err := box.Execute(ctx, "id -u", "", 0)
	if err != nil {
		return home{}, err
	}
	h := home{box, path, strings.TrimSpace(got.Result)}
	parent := quote(path[:strings.LastIndexByte(path, '/')])
	return h, h.try(ctx, fmt.Sprintf("umask 077; mkdir -p %s && mkdir -m 700 %s", parent, quote(path)))
}

// check makes sure that the home is still a directory of its user alone.
func (h home) check(ctx context.Context) error {
	p := quote(h.path)
	return h.try(ctx, fmt.Sprintf(`[ -d %s ] && [ ! -L %s ] && [ "$(stat -c '%%a %%u' %s)" = %s ]`, p, p, p, quote("700 "+h.user)))
}

func (h home) try(ctx context.Context, command string) error {
	got, err := h.box.Execute(ctx, command, "", 0)
	if err != nil {
		return err
	}
	if got.ExitCode != 0 {
		return fault.New(msgHome)
	}
	return nil
}

// login returns the login terminal of a session id, nil when there is none.
func (r *routes) login(sessionID string) *channel {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.open {
		if c.login && c.terminal != nil && c.pair.WorkerSessionID == sessionID {
			return c
		}
	}
	return nil
}

func (p *provider) loginInput(ctx context.Context, q wire.LoginInputParams) error {
	if c := p.routes.login(q.WorkerSessionID); c != nil {
		c.terminal.write(ctx, []byte(q.Data))
	}
	return nil
}

func (p *provider) loginStop(ctx context.Context, q wire.LoginStopParams) error {
	if c := p.routes.login(q.WorkerSessionID); c != nil {
		c.terminal.kill(ctx)
	}
	return nil
}

// loginClose forgets a login terminal. The program goes on without a client.
func (p *provider) loginClose(_ context.Context, q wire.LoginCloseParams) (wire.LoginCloseParams, error) {
	if c, t := p.routes.take(q.HostRouteID); t != nil {
		t.term.Disconnect()
	} else if c != nil {
		c.cancel()
	}
	return q, nil
}
