package capability

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

var allMethods = []string{"environmentResumeLease", "environmentReleaseLease", "environmentDestroyLease", "environmentSyncIn",
	"environmentSyncOut", "environmentExecute", "duplexChannelOpen", "environmentRunnerIngressEndpoint"}

// TestTruthTable goes through every combination of the four facts for every
// capability.
func TestTruthTable(t *testing.T) {
	optIn := map[Key]bool{IncrementalSessionOutput: true, ConcurrentSyncOperations: true, DuplexCommandStream: true, RunnerWebSocketIngress: true}
	granted := 0
	for _, key := range Keys() {
		for _, supported := range []bool{false, true} {
			for _, verified := range []bool{false, true} {
				for _, declared := range []string{"absent", "false", "true"} {
					for _, narrowing := range []string{"absent", "false", "true"} {
						f := Facts{Supported: []Key{}, Declared: map[string]bool{}, Narrowing: Set{}}
						if supported {
							f.Supported = Keys()
						}
						if verified {
							f.Methods = allMethods
						}
						if declared != "absent" {
							f.Declared[string(key)] = declared == "true"
						}
						if narrowing != "absent" {
							f.Narrowing[key] = narrowing == "true"
						}
						want := supported && verified && narrowing != "false" &&
							(declared == "true" || declared == "absent" && !optIn[key])
						if got := Effective(f)[key]; got != want {
							t.Errorf("%s: supported %v, verified %v, declared %s, narrowing %s: %v", key, supported, verified, declared, narrowing, got)
						}
						if want {
							granted++
						}
					}
				}
			}
		}
	}
	if want := 4*2 + 5*2*2; granted != want {
		t.Errorf("%d combinations grant, want %d", granted, want)
	}
	if got := Effective(Facts{Methods: allMethods}); !got[NativeSyncIn] {
		t.Error("no set of supported capabilities is a limit")
	}
}

func TestVerifiedNeedsEveryMethod(t *testing.T) {
	declared := map[string]bool{}
	for _, key := range Keys() {
		declared[string(key)] = true
	}
	needs := map[string][]Key{
		"environmentResumeLease": {ReusableLeases}, "environmentReleaseLease": {ReusableLeases}, "environmentDestroyLease": {ReusableLeases},
		"environmentSyncIn": {NativeSyncIn, ConcurrentSyncOperations}, "environmentSyncOut": {NativeSyncOut, ConcurrentSyncOperations},
		"environmentExecute": {PersistentProcessSessions, IndependentControlCommands, IncrementalSessionOutput},
		"duplexChannelOpen":  {DuplexCommandStream}, "environmentRunnerIngressEndpoint": {RunnerWebSocketIngress},
	}
	for missing, lost := range needs {
		var methods []string
		for _, m := range allMethods {
			if m != missing {
				methods = append(methods, m)
			}
		}
		want := Set{}
		for _, key := range Keys() {
			want[key] = true
		}
		for _, key := range lost {
			want[key] = false
		}
		if diff := cmp.Diff(want, Effective(Facts{Methods: methods, Declared: declared})); diff != "" {
			t.Errorf("without %s: %s", missing, diff)
		}
	}
}

func TestNarrow(t *testing.T) {
	for _, c := range []struct {
		lease Lease
		want  Set
	}{
		{Lease{}, Set{ReusableLeases: false}},
		{Lease{Reusable: true}, Set{ReusableLeases: true}},
		{Lease{Metadata: map[string]any{"backend": "job"}}, Set{ReusableLeases: false, NativeSyncIn: false, NativeSyncOut: false}},
		{Lease{Metadata: map[string]any{"nativeFileSyncUnsupported": true}}, Set{ReusableLeases: false, NativeSyncIn: false, NativeSyncOut: false}},
		{Lease{Metadata: map[string]any{"backend": "vm", "nativeFileSyncUnsupported": "yes"}}, Set{ReusableLeases: false}},
		{Lease{ConfigFailed: true}, Set{ReusableLeases: false, PersistentProcessSessions: false, IncrementalSessionOutput: false, DuplexCommandStream: false}},
	} {
		if diff := cmp.Diff(c.want, Narrow(c.lease)); diff != "" {
			t.Error(diff)
		}
	}
	for key, granted := range None() {
		if granted {
			t.Errorf("None grants %s", key)
		}
	}
}
