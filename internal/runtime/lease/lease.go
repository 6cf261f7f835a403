// Package lease keeps the leases of environments. Open gives a Store; with a
// directory its leases survive a restart of the process.
package lease

import (
	"maps"
	"time"
)

// Status is how far a lease has come.
type Status string

// States of a lease.
const (
	Active         Status = "active"
	Released       Status = "released"
	Expired        Status = "expired"
	Failed         Status = "failed"
	Retained       Status = "retained"
	PendingCleanup Status = "pending_cleanup"
)

// Policy says what becomes of a lease after its run.
type Policy string

// Policies of a lease.
const (
	Ephemeral                 Policy = "ephemeral"
	ReuseByEnvironment        Policy = "reuse_by_environment"
	ReuseByExecutionWorkspace Policy = "reuse_by_execution_workspace"
	RetainOnFailure           Policy = "retain_on_failure"
)

// Reasons for the end of a lease.
const (
	ReasonRunFailure          = "adapter_or_run_failure"
	ReasonCleanupFailed       = "release_cleanup_failed"
	ReasonExpired             = "lease_expired"
	ReasonDestroyed           = "lease_destroyed"
	ReasonFingerprintMismatch = "lease_fingerprint_mismatch"
	ReasonResumeFailed        = "resume_failed"
	ReasonAcquireRejected     = "acquire_rejected_teardown_failed"
)

// Outcomes of clean-up.
const (
	CleanupPending = "pending"
	CleanupSuccess = "success"
	CleanupFailed  = "failed"
)

// Lease is one grant of an environment to a run. An empty string is a missing
// value.
type Lease struct {
	ID                   string         `json:"id"`
	CompanyID            string         `json:"companyId"`
	EnvironmentID        string         `json:"environmentId"`
	ExecutionWorkspaceID string         `json:"executionWorkspaceId,omitempty"`
	IssueID              string         `json:"issueId,omitempty"`
	HeartbeatRunID       string         `json:"heartbeatRunId,omitempty"` // none marks a probe
	Status               Status         `json:"status"`
	Policy               Policy         `json:"leasePolicy"`
	Provider             string         `json:"provider,omitempty"`
	ProviderLeaseID      string         `json:"providerLeaseId,omitempty"`
	AcquiredAt           time.Time      `json:"acquiredAt"`
	LastUsedAt           time.Time      `json:"lastUsedAt"`
	ExpiresAt            *time.Time     `json:"expiresAt,omitempty"`
	ReleasedAt           *time.Time     `json:"releasedAt,omitempty"`
	FailureReason        string         `json:"failureReason,omitempty"`
	CleanupStatus        string         `json:"cleanupStatus,omitempty"`
	Metadata             map[string]any `json:"metadata"`
}

// Text returns a metadata value that is a non-empty string, else "".
func (l Lease) Text(key string) string {
	text, _ := l.Metadata[key].(string)
	return text
}

// PluginBacked reports whether a plugin provides the sandbox of the lease.
func (l Lease) PluginBacked() bool {
	switch v := l.Metadata["sandboxProviderPlugin"].(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case float64:
		return v != 0
	}
	return true
}

// DriverKey returns which driver serves the lease: the recorded one, else that
// of the environment, else the sandbox driver.
func (l Lease) DriverKey(environmentDriver string) string {
	if key, ok := l.Metadata["driver"].(string); ok {
		return key
	}
	if environmentDriver != "" {
		return environmentDriver
	}
	return "sandbox"
}

func (l Lease) clone() Lease {
	l.Metadata = maps.Clone(l.Metadata)
	return l
}
