// Package capability decides what a lease may do: whatever the driver supports,
// the live worker shows, the manifest declares and nothing about the lease
// takes away.
//
// Effective combines the four; Narrow works out the last. Everything that is
// not known counts as a no.
package capability

import "slices"

// Key names a capability.
type Key string

// The capabilities.
const (
	ReusableLeases             Key = "reusableLeases"
	NativeSyncIn               Key = "nativeSyncIn"
	NativeSyncOut              Key = "nativeSyncOut"
	PersistentProcessSessions  Key = "persistentProcessSessions"
	IndependentControlCommands Key = "independentControlCommands"
	IncrementalSessionOutput   Key = "incrementalSessionOutput"
	ConcurrentSyncOperations   Key = "concurrentSyncOperations"
	DuplexCommandStream        Key = "duplexCommandStream"
	RunnerWebSocketIngress     Key = "runnerWebSocketIngress"
)

// rule says when a capability is verified and whether it has to be declared.
type rule struct {
	key     Key
	methods []string // the worker advertises all of them
	optIn   bool
}

var rules = []rule{
	{ReusableLeases, []string{"environmentResumeLease", "environmentReleaseLease", "environmentDestroyLease"}, false},
	{NativeSyncIn, []string{"environmentSyncIn"}, false},
	{NativeSyncOut, []string{"environmentSyncOut"}, false},
	{PersistentProcessSessions, []string{"environmentExecute"}, false},
	{IndependentControlCommands, []string{"environmentExecute"}, false},
	{IncrementalSessionOutput, []string{"environmentExecute"}, true},
	{ConcurrentSyncOperations, []string{"environmentSyncIn", "environmentSyncOut"}, true},
	{DuplexCommandStream, []string{"duplexChannelOpen"}, true},
	{RunnerWebSocketIngress, []string{"environmentRunnerIngressEndpoint"}, true},
}

// Keys lists all capabilities in a fixed order.
func Keys() []Key {
	keys := make([]Key, len(rules))
	for i, r := range rules {
		keys[i] = r.key
	}
	return keys
}

// Set tells for each capability whether it is granted; a missing key is not.
type Set map[Key]bool

// Facts are what a decision rests on.
type Facts struct {
	Supported []Key           // what the driver can do at all; nil puts no limit
	Methods   []string        // what the live worker advertises
	Declared  map[string]bool // what the manifest declares; missing is not the same as false
	Narrowing Set             // what the lease takes away: a key that is false
}

// Effective returns the granted capabilities, with a value for every key.
func Effective(f Facts) Set {
	set := Set{}
	for _, r := range rules {
		supported := f.Supported == nil || slices.Contains(f.Supported, r.key)
		declared, isDeclared := f.Declared[string(r.key)]
		if !isDeclared {
			declared = !r.optIn
		}
		allowed, isNarrowed := f.Narrowing[r.key]
		set[r.key] = supported && verified(r, f.Methods) && declared && (allowed || !isNarrowed)
	}
	return set
}

func verified(r rule, methods []string) bool {
	for _, m := range r.methods {
		if !slices.Contains(methods, m) {
			return false
		}
	}
	return true
}

// None grants nothing.
func None() Set { return Effective(Facts{Supported: []Key{}}) }

// Lease is what narrowing looks at.
type Lease struct {
	Reusable     bool // its policy is to be reused by its environment
	Metadata     map[string]any
	ConfigFailed bool // its configuration could not be resolved
}

// Narrow returns what a lease takes away.
func Narrow(l Lease) Set {
	set := Set{ReusableLeases: l.Reusable}
	if l.Metadata["backend"] == "job" || l.Metadata["nativeFileSyncUnsupported"] == true {
		set[NativeSyncIn], set[NativeSyncOut] = false, false
	}
	if l.ConfigFailed {
		set[PersistentProcessSessions], set[IncrementalSessionOutput], set[DuplexCommandStream] = false, false, false
	}
	return set
}
