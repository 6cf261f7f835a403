package environment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"regexp"
	"time"

	"errorkb/internal/runtime/capability"
	"errorkb/internal/runtime/clock"
	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/lease"
	"errorkb/internal/runtime/wire"
	"errorkb/internal/runtime/worker"
)

// mayReuse reports whether a sandbox may be kept for later runs.
func (d *sandbox) mayReuse(a *acquisition) bool {
	h := d.Workers.Get(a.plugin.ID)
	if h == nil || !a.declared.Declared()[string(capability.ReusableLeases)] {
		return false
	}
	verified := capability.Effective(capability.Facts{Methods: h.SupportedMethods()})[capability.ReusableLeases]
	return verified && a.config.reuseLease && a.in.RunID != "" && a.in.AgentID != "" &&
		(a.in.ExecutionWorkspaceID != "" || a.in.IssueID != "")
}

// reuseStamp says for whom and with what configuration a sandbox was made.
func reuseStamp(a *acquisition) Object {
	sum := sha256.Sum256(canonical(workerConfig(a.config.all)))
	return Object{
		"scope":       Object{"executionWorkspaceId": a.in.ExecutionWorkspaceID, "issueId": a.in.IssueID, "agentId": a.in.AgentID},
		"fingerprint": hex.EncodeToString(sum[:]),
	}
}

// resumeCandidate takes up the first lease that fits, if there is one. A
// candidate that was made for somebody or something else is destroyed.
func (d *sandbox) resumeCandidate(ctx context.Context, a *acquisition) (l lease.Lease, resumed bool, err error) {
	candidates, err := d.Leases.List(func(l lease.Lease) bool {
		sameWork := l.ExecutionWorkspaceID != "" && l.ExecutionWorkspaceID == a.in.ExecutionWorkspaceID ||
			a.in.ExecutionWorkspaceID == "" && l.IssueID != "" && l.IssueID == a.in.IssueID
		free := l.Status == lease.Released || l.Status == lease.Retained || l.Status == lease.Active && l.HeartbeatRunID == a.in.RunID
		return l.EnvironmentID == a.in.Environment.ID && l.Policy == lease.ReuseByEnvironment && sameWork && free &&
			l.Text("agentId") == a.in.AgentID
	})
	if err != nil {
		return l, false, err
	}
	for _, l := range candidates {
		stamp, _ := l.Metadata["reusableSandboxLease"].(map[string]any)
		if !sameValues(stamp, reuseStamp(a)) {
			if _, err := d.destroy(ctx, LeaseInput{a.in.Environment, l}, lease.ReasonFingerprintMismatch); err != nil {
				return l, false, err
			}
			continue
		}
		if l.Provider != a.config.provider || l.ProviderLeaseID == "" {
			continue
		}
		return d.resume(ctx, a, l)
	}
	return l, false, nil
}

func (d *sandbox) resume(ctx context.Context, a *acquisition, l lease.Lease) (lease.Lease, bool, error) {
	granted, err := d.askResume(ctx, a, l)
	if err != nil {
		return l, false, fault.New(msgNotResumed, l.ProviderLeaseID).WithClass(fault.ClassResume).WithCause(err)
	}
	if granted.ProviderLeaseID == "" {
		reason := "not_found"
		switch {
		case granted.Metadata["expired"] == true:
			reason = "expired"
		case granted.Metadata["workspaceSentinel"] != nil:
			reason = "identity_mismatch"
		}
		a.outcome = Object{"outcome": "replacement", "reason": reason}
		_, err := d.destroy(ctx, LeaseInput{a.in.Environment, l}, lease.ReasonResumeFailed)
		return l, false, err
	}
	a.outcome = Object{"outcome": "resumed"}
	resumed, err := d.Leases.Update(l.ID, func(l *lease.Lease) {
		l.Status, l.HeartbeatRunID, l.LastUsedAt = lease.Active, a.in.RunID, *d.now()
		l.ReleasedAt, l.FailureReason, l.CleanupStatus = nil, "", ""
		if granted.ExpiresAt != nil {
			l.ExpiresAt = granted.ExpiresAt
		}
		maps.Copy(l.Metadata, withoutSecrets(a.declared, granted.Metadata))
		l.Metadata["sandboxLeaseAcquisition"] = a.outcome
	})
	return resumed, err == nil, err
}

// askResume asks the provider, again and again while the failure looks like one
// that passes.
func (d *sandbox) askResume(ctx context.Context, a *acquisition, l lease.Lease) (wire.LeaseResult, error) {
	request := worker.Request{
		Method: wire.MethodResumeLease, CompanyID: l.CompanyID, Timeout: callTimeout(0, a.resolved),
		Params: wire.LeaseParams{Target: d.target(a), ProviderLeaseID: wire.Text(l.ProviderLeaseID), LeaseMetadata: l.Metadata},
	}
	began := d.Clock.Now()
	for pause := d.Limits.ResumeBackoff; ; pause = min(2*pause, d.Limits.ResumeMax) {
		granted, err := unmarshal[wire.LeaseResult](d.Workers.Call(ctx, a.plugin.ID, request))
		jittered := pause/2 + time.Duration(rand.Int64N(int64(pause/2)+1))
		if err == nil || !transient(err) || d.Clock.Now().Sub(began)+jittered > d.Limits.ResumeBudget {
			return granted, err
		}
		if err := clock.Sleep(ctx, d.Clock, jittered); err != nil {
			return granted, err
		}
	}
}

var passing = regexp.MustCompile(`(?i)timeout|timed out|rate limit|network|temporarily|too many requests|ECONNRESET|ECONNREFUSED|ETIMEDOUT|EPIPE`)

// transient reports whether an error may be gone at the next try.
func transient(err error) bool {
	e := fault.As(err)
	if e == nil {
		return false
	}
	var data struct {
		Status int `json:"status"`
	}
	if json.Unmarshal(e.Data, &data) == nil && (data.Status == 429 || data.Status >= 500) {
		return true
	}
	return passing.MatchString(e.Message)
}
