package environment

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/lease"
	"errorkb/internal/runtime/wire"
)

// RunInput prepares an environment for a run.
type RunInput struct {
	EnvironmentID string
	CompanyID     string
	// Environments returns an environment; false when there is none.
	Environments func(id string) (Environment, bool)
	Acquire      AcquireInput // without the environment
	Workspace    wire.Workspace
	Provision    *Provision // nil when nothing has to be set up
}

// Provision is the command that sets a workspace up.
type Provision struct {
	Command string
	Args    []string
	Timeout time.Duration
}

// Run is an environment that is ready for work.
type Run struct {
	Acquired
	Workspace Realization
}

// Keys of the errors of a run.
const (
	KeyNotFound      = "environment_not_found"
	KeyInactive      = "environment_inactive"
	KeyAcquireFailed = "lease_acquire_failed"
	KeyLeaseConflict = "lease_conflict"
	KeyRealizeFailed = "workspace_realization_failed"
)

// Texts of errors in preparing a run. They wrap what the runtime says.
const (
	msgEnvironmentMissing = `Environment "%s" not found.`                                                                  // ORC-01
	msgOtherCompany       = `Environment "%s" does not belong to this company.`                                            // ORC-02
	msgInactive           = `Environment "%s" is not active (status: %s).`                                                 // ORC-03
	msgAcquireFailed      = `Failed to acquire lease for environment "%s" (%s): %s`                                        // ORC-04
	msgDeferring          = `Execution workspace for environment "%s" is already leased by another active run; deferring.` // ORC-05
	msgRealizeFailed      = `Failed to realize workspace for environment "%s" (%s): %s`                                    // ORC-06
	msgProvisionFailed    = `Failed to provision workspace for environment "%s" (%s): %s`                                  // ORC-07
)

// StartRun leases an environment, realizes its workspace and provisions it. Its
// errors have the class EnvironmentRunError and the cause behind them. A lease
// that was acquired stays, to be released with the run.
func (s *Service) StartRun(ctx context.Context, in RunInput) (Run, error) {
	e, ok := in.Environments(in.EnvironmentID)
	if !ok {
		return Run{}, runError(fault.New(msgEnvironmentMissing, in.EnvironmentID), KeyNotFound, e, nil)
	}
	if e.CompanyID != "" && e.CompanyID != in.CompanyID {
		return Run{}, runError(fault.New(msgOtherCompany, in.EnvironmentID), KeyNotFound, e, nil)
	}
	if e.Status != StatusActive {
		return Run{}, runError(fault.New(msgInactive, e.Name, e.Status), KeyInactive, e, nil)
	}
	in.Acquire.Environment, in.Acquire.CompanyID = e, in.CompanyID
	got, err := s.Acquire(ctx, in.Acquire)
	if cause := fault.As(err); cause != nil && cause.Key == lease.KeyConflict {
		return Run{}, runError(fault.New(msgDeferring, e.Name), KeyLeaseConflict, e, err)
	}
	if err != nil {
		return Run{}, runError(fault.New(msgAcquireFailed, e.Name, e.Driver, err), KeyAcquireFailed, e, err)
	}
	run := Run{Acquired: got}
	on := LeaseInput{Environment: e, Lease: got.Lease}
	if run.Workspace, err = s.Realize(ctx, RealizeInput{LeaseInput: on, Workspace: in.Workspace}); err != nil {
		return run, runError(fault.New(msgRealizeFailed, e.Name, e.Driver, err), KeyRealizeFailed, e, err)
	}
	if err := s.provision(ctx, on, in.Provision, run.Workspace.Cwd); err != nil {
		return run, runError(fault.New(msgProvisionFailed, e.Name, e.Driver, err), KeyRealizeFailed, e, err)
	}
	return run, nil
}

// errProvisionTimeout becomes the cause in ORC-07.
var errProvisionTimeout = errors.New("provision command timed out")

// runError gives an error what every error of a run has.
func runError(f *fault.Error, key string, e Environment, cause error) error {
	return f.WithClass(fault.ClassRun).WithKey(key).WithCause(cause).
		WithData(Object{"environmentId": e.ID, "driver": e.Driver, "provider": text(e.Config, "provider")})
}

func (s *Service) provision(ctx context.Context, on LeaseInput, p *Provision, cwd string) error {
	if p == nil {
		return nil
	}
	result, err := s.Execute(ctx, ExecuteInput{LeaseInput: on, Command: p.Command, Args: p.Args, Cwd: cwd, Timeout: p.Timeout})
	switch {
	case err != nil:
		return err
	case result.TimedOut:
		return errProvisionTimeout
	case result.ExitCode == nil || *result.ExitCode != 0:
		code := "null"
		if result.ExitCode != nil {
			code = fmt.Sprint(*result.ExitCode)
		}
		said := result.Stderr
		if strings.TrimSpace(said) == "" {
			said = result.Stdout
		}
		first, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
		return fmt.Errorf("exit code %s: %s", code, first)
	}
	return nil
}
