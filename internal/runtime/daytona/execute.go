package daytona

import (
	"context"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"errorkb/internal/runtime/daytona/client"
	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/wire"
)

const (
	msgVariable = `Invalid sandbox environment variable key: %s` // DAY-14
	// Texts of the error output of a result.
	outTimeout = `Command timed out after %d s.`                 // DAY-22
	outNoLease = `No provider lease ID available for execution.` // DAY-24
)

// execute runs one command. A command that fails, or that takes too long, is a
// result and not an error.
func (p *provider) execute(ctx context.Context, q wire.ExecuteParams) (wire.ExecuteResult, error) {
	if q.Lease.ProviderLeaseID == "" {
		one := 1
		return wire.ExecuteResult{ExitCode: &one, Stderr: fault.New(outNoLease).Message}, nil
	}
	c := p.config(q.Config)
	s := c.scope(q.Target, q.Lease.ProviderLeaseID)
	leave, err := p.gates.enter(ctx, s)
	if err != nil {
		return wire.ExecuteResult{}, err
	}
	defer leave()
	box, err := p.ready(ctx, c, s)
	if err != nil {
		return wire.ExecuteResult{}, err
	}
	input := ""
	if q.Stdin != nil {
		input = path.Join(p.options.Scratch, "paperclip-stdin-"+newID())
	}
	script, err := script(q, input)
	if err != nil {
		return wire.ExecuteResult{}, err
	}
	if input != "" {
		if err := box.Upload(ctx, client.File{Path: input, Data: []byte(*q.Stdin)}); err != nil {
			return wire.ExecuteResult{}, err
		}
		defer p.discard(ctx, box, input)
	}
	timeout := c.timeout()
	if q.TimeoutMs > 0 {
		timeout = time.Duration(q.TimeoutMs) * time.Millisecond
	}
	var result wire.ExecuteResult
	if q.BypassSession {
		result, err = oneShot(ctx, box, script, timeout)
	} else {
		result, err = p.inSession(ctx, s, box, script, timeout)
	}
	if err == nil {
		result.Metadata = wire.Object{"provider": DriverKey, "sandboxId": box.ID()}
	}
	return result, err
}

// discard deletes a file that is no longer needed, as well as that goes.
func (p *provider) discard(ctx context.Context, box *client.Sandbox, file string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.options.KillTimeout)
	defer cancel()
	_ = box.DeleteFile(ctx, file, false)
}

// oneShot runs a script by itself. The service gives both output streams as
// one.
func oneShot(ctx context.Context, box *client.Sandbox, script string, timeout time.Duration) (wire.ExecuteResult, error) {
	got, err := box.Execute(ctx, script, "", timeout)
	if client.TimedOut(err) {
		return timedOut(client.Output{}, timeout), nil
	}
	if err != nil {
		return wire.ExecuteResult{}, err
	}
	return wire.ExecuteResult{ExitCode: &got.ExitCode, Stdout: got.Result}, nil
}

// timedOut is the result of a command over its time, with what it wrote until
// then.
func timedOut(have client.Output, timeout time.Duration) wire.ExecuteResult {
	if have.Stderr != "" && !strings.HasSuffix(have.Stderr, "\n") {
		have.Stderr += "\n"
	}
	text := fault.New(outTimeout, wholeSeconds(timeout)).Message
	return wire.ExecuteResult{TimedOut: true, Stdout: have.Stdout, Stderr: have.Stderr + text}
}

func wholeSeconds(d time.Duration) int { return max(1, int((d+time.Second-1)/time.Second)) }

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// profiles are sourced before a command, as a login shell does.
const profiles = `[ -f /etc/profile ] && . /etc/profile >/dev/null 2>&1
if [ -f "$HOME/.bash_profile" ]; then . "$HOME/.bash_profile" >/dev/null 2>&1
elif [ -f "$HOME/.profile" ]; then . "$HOME/.profile" >/dev/null 2>&1
fi
`

// script is what runs in the sandbox for a command: login profiles, then the
// command in its directory with its variables and its input, which is a file
// or "".
func script(q wire.ExecuteParams, input string) (string, error) {
	var b strings.Builder
	b.WriteString(profiles)
	cwd := string(q.Cwd)
	if cwd == "" {
		cwd, _ = q.Lease.Metadata["remoteCwd"].(string)
	}
	if cwd != "" {
		b.WriteString("cd " + quote(cwd) + " && ")
	}
	b.WriteString("exec env")
	for _, key := range slices.Sorted(maps.Keys(q.Env)) {
		if !variable.MatchString(key) {
			return "", fault.New(msgVariable, key)
		}
		b.WriteString(" " + key + "=" + quote(q.Env[key]))
	}
	for _, word := range append([]string{q.Command}, q.Args...) {
		b.WriteString(" " + quote(word))
	}
	if input != "" {
		b.WriteString(" <" + quote(input))
	}
	return b.String(), nil
}

// quote makes one word of a shell out of text.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'"'"'`) + "'" }
