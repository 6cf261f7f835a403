package daytona

import (
	"context"

	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/wire"
)

// realize makes the working directory of a lease.
func (p *provider) realize(ctx context.Context, q wire.RealizeParams) (wire.RealizeResult, error) {
	c := p.config(q.Config)
	s := c.scope(q.Target, q.Lease.ProviderLeaseID)
	leave, err := p.gates.enter(ctx, s)
	if err != nil {
		return wire.RealizeResult{}, err
	}
	defer leave()
	box, err := p.ready(ctx, c, s)
	if err != nil {
		return wire.RealizeResult{}, err
	}
	cwd, _ := q.Lease.Metadata["remoteCwd"].(string)
	if cwd == "" {
		cwd = string(q.Workspace.RemotePath)
	}
	if cwd == "" {
		if cwd, err = workingDirectory(ctx, box); err != nil {
			return wire.RealizeResult{}, err
		}
	}
	if err := box.CreateFolder(ctx, cwd, folderMode); err != nil {
		return wire.RealizeResult{}, err
	}
	return wire.RealizeResult{Cwd: cwd, Metadata: wire.Object{"provider": DriverKey, "remoteCwd": cwd}}, nil
}

// DAY-25
const summaryProbeFailed = `Daytona sandbox probe failed.`

// probe makes a sandbox, runs a command in it and deletes it again. What goes
// wrong is part of the answer.
func (p *provider) probe(ctx context.Context, q wire.ProbeParams) (wire.ProbeResult, error) {
	c := p.config(q.Config)
	err := p.tryOut(ctx, c, q.Target)
	meta := wire.Object{"provider": DriverKey, "target": c.target, "timeoutMs": c.timeoutMs}
	if err != nil {
		meta["error"] = err.Error()
		return wire.ProbeResult{Summary: fault.New(summaryProbeFailed).Message, Metadata: meta}, nil
	}
	return wire.ProbeResult{OK: true, Summary: "Connected to Daytona.", Metadata: meta}, nil
}

func (p *provider) tryOut(ctx context.Context, c config, t wire.Target) error {
	if problems := c.problems(); len(problems) > 0 {
		return problems[0]
	}
	box, err := p.create(ctx, c, labels(t, c, "probe"))
	if err != nil {
		return err
	}
	_, err = detectShell(ctx, c, box)
	if err != nil {
		return p.undo(ctx, box, err)
	}
	return remove(ctx, box)
}
