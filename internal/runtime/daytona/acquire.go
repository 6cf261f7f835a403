package daytona

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"errorkb/internal/runtime/daytona/client"
	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/wire"
)

// DAY-20
const msgResourcesDefault = `Daytona resource settings require image-backed sandbox creation; default sandbox creation cannot override CPU, memory, disk, or GPU.`

const (
	workspaceFolder = "paperclip-workspace"
	defaultHome     = "/home/daytona"
	folderMode      = "755"
)

// acquire creates a sandbox. What fails after that deletes it again.
func (p *provider) acquire(ctx context.Context, q wire.AcquireParams) (wire.LeaseResult, error) {
	c := p.config(q.Config)
	box, err := p.create(ctx, c, labels(q.Target, c, q.RunID))
	if err != nil {
		return wire.LeaseResult{}, err
	}
	result, err := p.prepare(ctx, q, c, box)
	if err != nil {
		return wire.LeaseResult{}, p.undo(ctx, box, err)
	}
	s := c.scope(q.Target, result.ProviderLeaseID)
	p.gates.open(s)
	p.cache.seed(s, box)
	return result, nil
}

// labels let an operator see in the service what a sandbox is for.
func labels(t wire.Target, c config, runID string) map[string]string {
	return map[string]string{
		"paperclip-provider":       DriverKey,
		"paperclip-company-id":     t.CompanyID,
		"paperclip-environment-id": t.EnvironmentID,
		"paperclip-reuse-lease":    fmt.Sprint(c.reuseLease),
		"paperclip-run-id":         runID,
	}
}

// create makes a sandbox. One that was made but does not start is deleted.
func (p *provider) create(ctx context.Context, c config, labels map[string]string) (*client.Sandbox, error) {
	if len(c.sizes) > 0 && c.image == "" && c.snapshot == "" {
		return nil, fault.New(msgResourcesDefault)
	}
	api, err := p.client(c)
	if err != nil {
		return nil, err
	}
	minutes := func(n float64) *int { i := int(n); return &i }
	params := client.CreateParams{
		Image: c.image, Snapshot: c.snapshot, Labels: labels,
		AutoStopInterval: minutes(c.autoStop), AutoArchiveInterval: minutes(c.autoArchive), AutoDeleteInterval: minutes(c.autoDelete),
	}
	if c.image != "" {
		params.CPU, params.Memory, params.Disk, params.GPU = c.sizes["cpu"], c.sizes["memory"], c.sizes["disk"], c.sizes["gpu"]
	}
	bounded, cancel := context.WithTimeout(ctx, c.timeout())
	defer cancel()
	box, err := api.Create(bounded, params)
	if err != nil && box != nil {
		err = p.undo(ctx, box, err)
	}
	return box, err
}

// undo deletes a sandbox that cannot be used because of err, which it
// returns, together with the failure to delete if there was one.
func (p *provider) undo(ctx context.Context, box *client.Sandbox, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.options.StopTimeout)
	defer cancel()
	if undo := box.Delete(ctx); undo != nil && !client.NotFound(undo) {
		if e := fault.As(err); e != nil {
			return e.WithCause(errors.Join(errors.Unwrap(e), undo)) // the text stays that of the first failure
		}
	}
	return err
}

// prepare makes a new sandbox ready for work and describes it.
func (p *provider) prepare(ctx context.Context, q wire.AcquireParams, c config, box *client.Sandbox) (wire.LeaseResult, error) {
	cwd, err := workingDirectory(ctx, box)
	if err != nil {
		return wire.LeaseResult{}, err
	}
	if err := box.CreateFolder(ctx, cwd, folderMode); err != nil {
		return wire.LeaseResult{}, err
	}
	shell, err := detectShell(ctx, c, box)
	if err != nil {
		return wire.LeaseResult{}, err
	}
	result := wire.LeaseResult{ProviderLeaseID: wire.Text(box.ID())}
	if minutes := lifetime(q.RequestedExpiresAt, p.options.Clock()); minutes > 0 {
		if err := box.SetTimeToLive(ctx, minutes); err != nil {
			return wire.LeaseResult{}, err
		}
		result.ExpiresAt = box.Data().AutoDestroyAt
	}
	result.Metadata = metadata(c, box, cwd, shell)
	if c.reuseLease && q.AgentID != "" && q.ExecutionWorkspaceID != "" {
		s := newSentinel(q, c, cwd)
		if err := s.write(ctx, box); err != nil {
			return wire.LeaseResult{}, err
		}
		result.Metadata["workspaceSentinel"] = s.metadata("written")
	}
	return result, nil
}

// workingDirectory is where the work of a lease lies in its sandbox.
func workingDirectory(ctx context.Context, box *client.Sandbox) (string, error) {
	dir, err := box.WorkDir(ctx)
	if err != nil {
		return "", err
	}
	if dir == "" {
		if dir, err = box.HomeDir(ctx); err != nil {
			return "", err
		}
	}
	return path.Join(or(dir, defaultHome), workspaceFolder), nil
}

// detectShell finds out which shell the sandbox has.
func detectShell(ctx context.Context, c config, box *client.Sandbox) (string, error) {
	got, err := box.Execute(ctx, "command -v bash >/dev/null 2>&1 && echo bash || echo sh", "", c.timeout())
	if err != nil {
		return "", err
	}
	if strings.TrimSpace(got.Result) == "bash" {
		return "bash", nil
	}
	return "sh", nil
}

// lifetime is how many whole minutes are left until end, at least one; none
// when there is no end or it has passed.
func lifetime(end *time.Time, now time.Time) int {
	if end == nil || !end.After(now) {
		return 0
	}
	return int(end.Sub(now) / time.Minute)
}

// metadata is what the host stores of a sandbox.
func metadata(c config, box *client.Sandbox, cwd, shell string) wire.Object {
	data := box.Data()
	m := wire.Object{
		"provider": DriverKey, "sandboxId": data.ID, "sandboxName": data.Name, "sandboxState": data.State,
		"target": data.Target, "remoteCwd": cwd, "shellCommand": shell,
		"timeoutMs": c.timeoutMs, "reuseLease": c.reuseLease,
	}
	if c.image != "" {
		m["image"] = c.image
	}
	if c.snapshot != "" {
		m["snapshot"] = c.snapshot
	}
	return m
}
