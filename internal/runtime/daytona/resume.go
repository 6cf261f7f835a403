package daytona

import (
	"context"

	"errorkb/internal/runtime/daytona/client"
	"errorkb/internal/runtime/wire"
)

// resume takes a lease up again. A reply without a lease id means that the
// sandbox is gone or is not the one that it was.
func (p *provider) resume(ctx context.Context, q wire.LeaseParams) (wire.LeaseResult, error) {
	c := p.config(q.Config)
	s := c.scope(q.Target, q.ProviderLeaseID)
	if err := p.gates.settled(ctx, s); err != nil {
		return wire.LeaseResult{}, err
	}
	box, err := p.sandbox(ctx, c, s)
	if client.NotFound(err) {
		p.cache.evict(s)
		return wire.LeaseResult{Metadata: wire.Object{"expired": true}}, nil
	}
	if err != nil {
		p.cache.evict(s)
		return wire.LeaseResult{}, err
	}
	result, err := p.takeUp(ctx, q, c, s, box)
	if err != nil || result.ProviderLeaseID == "" {
		p.cache.evict(s)
		return result, err
	}
	p.gates.open(s)
	return result, nil
}

// takeUp starts the sandbox of a lease and makes sure that it is the right
// one.
func (p *provider) takeUp(ctx context.Context, q wire.LeaseParams, c config, s scope, box *client.Sandbox) (wire.LeaseResult, error) {
	if box.State() != client.StateStarted {
		// Nothing of what ran in it is left.
		p.forgetSession(s)
		p.endLease(ctx, s.leaseID)
	}
	if err := p.ensureStarted(ctx, c, box); err != nil {
		return wire.LeaseResult{}, err
	}
	cwd, _ := q.LeaseMetadata["remoteCwd"].(string)
	shell, _ := q.LeaseMetadata["shellCommand"].(string)
	if cwd == "" {
		var err error
		if cwd, err = workingDirectory(ctx, box); err != nil {
			return wire.LeaseResult{}, err
		}
	}
	result := wire.LeaseResult{ProviderLeaseID: q.ProviderLeaseID, Metadata: metadata(c, box, cwd, or(shell, "sh"))}
	if want, remembered := sentinelOf(q.LeaseMetadata); remembered {
		status, err := want.check(ctx, box)
		if err != nil {
			return wire.LeaseResult{}, err
		}
		result.Metadata["workspaceSentinel"] = want.metadata(status)
		if status != "matched" {
			return wire.LeaseResult{Metadata: wire.Object{"workspaceSentinel": want.metadata(status)}}, nil
		}
	}
	result.ExpiresAt = box.Data().AutoDestroyAt
	return result, nil
}
