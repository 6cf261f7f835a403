package conformance

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"errorkb/internal/kb"
)

// flow lists the functions that an operation goes through, in the order in
// which their guards are tried. Which guards those are is read from the source.
type flow struct {
	name, title string
	functions   []string // file and symbol
}

// flows are the operations of the runtime whose errors are documented. Every
// place that raises a documented error is in one of them at least.
var flows = []flow{
	{"acquire-sandbox-lease", "Acquire a lease of a sandbox environment", []string{
		"environment/service.go (*Service).Acquire", "environment/service.go (*Service).driver",
		"environment/sandbox.go (*sandbox).Acquire", "environment/sandbox_reuse.go (*sandbox).resume",
		"daytona/acquire.go (*provider).create", "daytona/daytona.go (*provider).client",
		"lease/store.go (*Store).Insert", "environment/sandbox.go (*sandbox).rejected",
	}},
	{"acquire-plugin-lease", "Acquire a lease of a plugin environment", []string{
		"environment/service.go (*Service).Acquire", "environment/service.go (*Service).driver",
		"environment/plugin_driver.go (*pluginDriver).ofEnvironment", "environment/plugin_driver.go (*core).usable",
		"lease/store.go (*Store).Insert",
	}},
	{"execute-command", "Execute a command in a lease", []string{
		"environment/service.go (*Service).driver", "environment/service.go (*Service).Execute",
		"environment/sandbox_use.go (*sandbox).Execute", "worker/manager.go (*Manager).Call",
		"daytona/execute.go (*provider).execute", "daytona/gates.go (*gates).enter", "daytona/cache.go (*cache).get",
		"daytona/sandbox.go live", "daytona/sandbox.go (*provider).ensureStarted", "daytona/execute.go script", "daytona/execute.go timedOut",
	}},
	{"sync-files", "Sync files into or out of a lease", []string{
		"environment/service.go (*Service).driver", "environment/service.go (*Service).syncer",
		"environment/sandbox_use.go (*sandbox).sync", "worker/manager.go (*Manager).Call", "sdk/serve.go (*worker).call",
	}},
	{"open-duplex-channel", "Open a duplex channel", []string{
		"environment/service.go (*Service).driver", "environment/service.go (*Service).OpenDuplexChannel",
		"environment/sandbox_use.go (*sandbox).OpenDuplexChannel", "worker/channel.go (*Handle).OpenDuplex",
		"duplex/table.go (*Table).Open", "daytona/duplex.go (*provider).duplexOpen",
		"daytona/client/terminal.go (*Terminal).WaitConnected", "daytona/client/terminal.go (*Terminal).ended",
		"daytona/client/terminal.go (*Terminal).Send", "duplex/login.go (*Channel).openFailed",
		"daytona/terminal.go (*terminal).write",
	}},
	{"resume-lease", "Resume a lease", []string{
		"environment/service.go (*Service).driver", "environment/service.go (*Service).Resume",
		"environment/plugin_driver.go (*pluginDriver).Resume", "environment/plugin_driver.go (*pluginDriver).ofLease",
		"environment/plugin_driver.go (*core).usable",
	}},
	{"destroy-lease", "Destroy a lease", []string{
		"environment/service.go (*Service).driver", "environment/service.go (*Service).Destroy",
		"environment/plugin_driver.go (*pluginDriver).ofLease", "environment/plugin_driver.go (*core).usable",
		"daytona/daytona.go (*provider).client", "daytona/release.go (*provider).tearDown",
	}},
	{"release-sandbox-lease", "Release a sandbox lease", []string{
		"environment/service.go (*Service).driver", "environment/sandbox_end.go (*sandbox).Release",
		"daytona/daytona.go (*provider).client", "daytona/sandbox.go live", "daytona/release.go (*provider).tearDown",
		"daytona/release.go (*provider).park",
	}},
	{"save-environment", "Save the config of a sandbox environment", []string{
		"environment/save.go (*Service).checkSandbox",
	}},
	{"validate-daytona-config", "Validate a Daytona config", []string{"daytona/config.go config.problems"}},
	{"start-worker", "Start the worker of a plugin", []string{
		"worker/manager.go (*Manager).Start", "worker/handle.go (*Handle).Start", "worker/handle.go (*Handle).spawn",
		"worker/handle.go (*Handle).exited", "worker/handle.go (*Handle).initialize", "worker/handle.go (*Handle).boot",
	}},
	{"call-worker", "Call a worker", []string{
		"worker/manager.go (*Manager).Call", "worker/call.go (*Handle).Call",
		"worker/call.go (*run).start", "worker/handle.go (*Handle).exited",
	}},
	{"read-message", "Read a message", []string{"wire/message.go Parse", "sdk/serve.go (*worker).read"}},
	{"serve-call", "Serve a call in a worker", []string{
		"sdk/serve.go (*worker).initialize", "sdk/serve.go (*worker).admitConfig", "sdk/serve.go (*worker).call",
		"worker/messages.go (*run).serve",
	}},
}

// operations fills the flows with the guards that the source has.
func (s *source) operations(places []kb.RaisePlace) ([]kb.Operation, []string) {
	operations := []kb.Operation{}
	var problems []string
	shown := map[string]bool{} // ids of records
	for _, f := range flows {
		op := kb.Operation{Name: f.name, Title: f.title, Guards: []kb.Guard{}}
		for _, function := range f.functions {
			file, symbol, _ := strings.Cut(function, " ")
			found := false
			for _, p := range places {
				if p.File != file || p.Symbol != symbol || !strings.ContainsFunc(skeletonOf(p.Message), unicode.IsLetter) {
					continue
				}
				found = true
				if p.Record == nil && (p.Exemption == nil || *p.Exemption != reasonNeighbour && *p.Exemption != reasonVendor) {
					continue // nothing that users of the documented project see
				}
				g := kb.Guard{Place: p.Place, Message: p.Message, Record: p.Record}
				// A guard that stands in a function twice is one guard.
				if !slices.ContainsFunc(op.Guards, func(have kb.Guard) bool { return have.File == g.File && have.Message == g.Message }) {
					op.Guards = append(op.Guards, g)
				}
				if p.Record != nil {
					shown[*p.Record] = true
				}
			}
			if !found {
				problems = append(problems, fmt.Sprintf("operation %s: %s raises nothing; is it another function now?", f.name, function))
			}
		}
		operations = append(operations, op)
	}
	for _, p := range places {
		if p.Record != nil && !shown[*p.Record] {
			problems = append(problems, fmt.Sprintf("%s:%d: the guard of record %s is in no operation", p.File, p.Line, *p.Record))
		}
	}
	return operations, problems
}
