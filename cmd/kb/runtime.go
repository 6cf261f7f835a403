package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"errorkb/cmd/internal/cli"
	"errorkb/internal/runtime/fixture"
)

// workers are the programs of plugins that this program contains. Each takes
// its arguments, speaks on the standard streams and returns its exit status.
var workers = map[string]func(args []string) int{
	fixture.Name: fixture.Main,
}

func newRuntime() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "runtime",
		GroupID: groupRun,
		Short:   "Work with the reference runtime whose errors are documented",
		Long: `The reference runtime raises the documented errors for real. It leases
environments, runs plugins as worker processes and opens channels to them.`,
		Example: `  kb runtime worker fixture`,
	}
	cmd.AddCommand(newRuntimeWorker())
	return cmd
}

func newRuntimeWorker() *cobra.Command {
	names := slices.Sorted(maps.Keys(workers))
	return &cobra.Command{
		Use:   "worker NAME [ARGUMENT]...",
		Short: "Run the worker process of a plugin",
		Long: fmt.Sprintf(`Worker is what the runtime starts for a plugin: a process that speaks JSON-RPC,
one message per line, over its standard streams. It ends when its input ends.

NAME is one of: %s.`, strings.Join(names, ", ")),
		Example:   `  echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}' | kb runtime worker fixture`,
		Args:      cobra.MinimumNArgs(1),
		ValidArgs: names,
		RunE: func(_ *cobra.Command, args []string) error {
			run := workers[args[0]]
			if run == nil {
				return cli.Usagef("no worker %q; there are: %s", args[0], strings.Join(names, ", "))
			}
			os.Exit(run(args[1:])) // the status of a worker is its own
			return nil
		},
	}
}
