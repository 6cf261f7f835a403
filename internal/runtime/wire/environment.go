package wire

import "time"

// Methods of the host that are not about environments.
const (
	MethodInitialize     = "initialize"
	MethodHealth         = "health"
	MethodShutdown       = "shutdown"
	MethodValidateConfig = "validateConfig"
	MethodConfigChanged  = "configChanged"
)

// Methods about environments.
const (
	MethodEnvironmentValidateConfig = "environmentValidateConfig"
	MethodEnvironmentProbe          = "environmentProbe"
	MethodAcquireLease              = "environmentAcquireLease"
	MethodResumeLease               = "environmentResumeLease"
	MethodReleaseLease              = "environmentReleaseLease"
	MethodDestroyLease              = "environmentDestroyLease"
	MethodRealizeWorkspace          = "environmentRealizeWorkspace"
	MethodExecute                   = "environmentExecute"
	MethodSyncIn                    = "environmentSyncIn"
	MethodSyncOut                   = "environmentSyncOut"
	MethodRunnerIngressEndpoint     = "environmentRunnerIngressEndpoint"
)

// Notifications of a worker.
const (
	NotifyLog         = "log"
	NotifyExecuteLog  = "execute.log"
	NotifyDuplexData  = "duplexChannel.data"
	NotifyDuplexExit  = "duplexChannel.exit"
	NotifyLoginOutput = "loginPty.output"
	NotifyLoginExit   = "loginPty.exit"
)

// Text is a string that may be missing: empty is null on the wire.
type Text string

func (t Text) MarshalJSON() ([]byte, error) {
	if t == "" {
		return []byte("null"), nil
	}
	return encode(string(t))
}

// Object is a JSON object whose members depend on the driver.
type Object = map[string]any

// InitializeParams start a worker.
type InitializeParams struct {
	Manifest          any      `json:"manifest"`
	Config            Object   `json:"config"`
	InstanceInfo      Instance `json:"instanceInfo"`
	APIVersion        int      `json:"apiVersion"`
	DatabaseNamespace Text     `json:"databaseNamespace"`
}

// Instance describes the host.
type Instance struct {
	InstanceID  string `json:"instanceId"`
	HostVersion string `json:"hostVersion"`
}

// InitializeResult is what a started worker says about itself.
type InitializeResult struct {
	OK               bool     `json:"ok"`
	SupportedMethods []string `json:"supportedMethods"`
}

// ConfigChangedParams hand a new configuration of the plugin to its worker.
type ConfigChangedParams struct {
	CompanyID Text   `json:"companyId"`
	Config    Object `json:"config"`
}

// Target says for which driver and environment a call is made.
type Target struct {
	DriverKey     string `json:"driverKey"`
	CompanyID     string `json:"companyId"`
	EnvironmentID string `json:"environmentId"`
	IssueID       Text   `json:"issueId"`
	Config        Object `json:"config"`
}

// ValidateParams ask whether a driver accepts a configuration.
type ValidateParams struct {
	DriverKey string `json:"driverKey"`
	Config    Object `json:"config"`
}

// ValidateResult is the answer. Errors and Warnings hold the validation items.
type ValidateResult struct {
	OK               bool     `json:"ok"`
	NormalizedConfig Object   `json:"normalizedConfig,omitempty"`
	Errors           []string `json:"errors,omitempty"`
	Warnings         []string `json:"warnings,omitempty"`
}

// ProbeParams ask whether an environment can be reached.
type ProbeParams struct{ Target }

// ProbeResult is the answer.
type ProbeResult struct {
	OK          bool   `json:"ok"`
	Summary     string `json:"summary"`
	Metadata    Object `json:"metadata,omitempty"`
	Diagnostics []any  `json:"diagnostics,omitempty"`
}

// AcquireParams ask for a new lease.
type AcquireParams struct {
	Target
	RunID                string     `json:"runId"`
	WorkspaceMode        Text       `json:"workspaceMode"`
	AgentID              Text       `json:"agentId"`
	ExecutionWorkspaceID Text       `json:"executionWorkspaceId"`
	AdapterType          Text       `json:"adapterType"`
	RequestedExpiresAt   *time.Time `json:"requestedExpiresAt,omitempty"`
}

// LeaseResult is a lease as the provider grants it. A resume that finds the
// resource gone has no ProviderLeaseID.
type LeaseResult struct {
	ProviderLeaseID Text       `json:"providerLeaseId"`
	ExpiresAt       *time.Time `json:"expiresAt,omitempty"`
	Metadata        Object     `json:"metadata,omitempty"`
}

// LeaseParams resume, release or destroy a lease.
type LeaseParams struct {
	Target
	ProviderLeaseID  Text   `json:"providerLeaseId"`
	LeaseMetadata    Object `json:"leaseMetadata"`
	CancelActiveWork bool   `json:"cancelActiveWork,omitempty"`
}

// Receipt confirms a release or destroy. State is ReceiptStopped or
// ReceiptDestroyed.
type Receipt struct {
	ProviderLeaseID Text   `json:"providerLeaseId"`
	State           string `json:"state"`
}

// States of a Receipt.
const (
	ReceiptStopped   = "stopped"
	ReceiptDestroyed = "destroyed"
)

// Lease is a lease as operations name it.
type Lease struct {
	ProviderLeaseID Text       `json:"providerLeaseId"`
	Metadata        Object     `json:"metadata"`
	ExpiresAt       *time.Time `json:"expiresAt,omitempty"`
}

// RealizeParams ask for the working directory of a lease.
type RealizeParams struct {
	Target
	Lease     Lease     `json:"lease"`
	Workspace Workspace `json:"workspace"`
}

// Workspace is where the work lies on both sides.
type Workspace struct {
	LocalPath  Text   `json:"localPath"`
	RemotePath Text   `json:"remotePath"`
	Mode       Text   `json:"mode"`
	Metadata   Object `json:"metadata,omitempty"`
}

// RealizeResult is the working directory.
type RealizeResult struct {
	Cwd      string `json:"cwd"`
	Metadata Object `json:"metadata,omitempty"`
}

// ExecuteParams run one command.
type ExecuteParams struct {
	Target
	Lease         Lease             `json:"lease"`
	Command       string            `json:"command"`
	Args          []string          `json:"args"`
	Cwd           Text              `json:"cwd"`
	Env           map[string]string `json:"env,omitempty"`
	Stdin         *string           `json:"stdin,omitempty"`
	TimeoutMs     int64             `json:"timeoutMs,omitempty"`
	BypassSession bool              `json:"bypassSession,omitempty"`
}

// ExecuteResult is the outcome of a command. ExitCode is nil when the command
// was cut off.
type ExecuteResult struct {
	ExitCode *int   `json:"exitCode"`
	Signal   Text   `json:"signal"`
	TimedOut bool   `json:"timedOut"`
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
	Metadata Object `json:"metadata,omitempty"`
}

// SyncParams copy files into or out of a lease.
type SyncParams struct {
	Target
	Lease      Lease           `json:"lease"`
	Operations []SyncOperation `json:"operations"`
}

// SyncOperation copies one file or directory.
type SyncOperation struct {
	OperationID string `json:"operationId"`
	Kind        string `json:"kind"` // "file" or "directory"
	SourcePath  string `json:"sourcePath"`
	TargetPath  string `json:"targetPath"`
}

// SyncResult counts what was copied.
type SyncResult struct {
	Operations []SyncCount `json:"operations"`
}

// SyncCount is the outcome of one SyncOperation.
type SyncCount struct {
	OperationID      string `json:"operationId"`
	FilesTransferred int    `json:"filesTransferred"`
	BytesTransferred int64  `json:"bytesTransferred"`
}

// ExecuteLog is one live piece of the output of a command. Stream is "stdout"
// or "stderr".
type ExecuteLog struct {
	Stream string `json:"stream"`
	Chunk  string `json:"chunk"`
}

// LogEntry is a line for the log of the host. Level is "debug", "info", "warn"
// or "error".
type LogEntry struct {
	Level   string `json:"level"`
	Message string `json:"message"`
	Meta    Object `json:"meta,omitempty"`
}
