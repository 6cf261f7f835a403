// Kb is the knowledge base as a program: it serves the site, explains errors,
// finds them in pasted text, and keeps the records in order. Each verb has a
// file of its own.
package main

import (
	"os"

	"github.com/spf13/cobra"

	"errorkb/cmd/internal/cli"
)

func main() { os.Exit(cli.Run(newRoot())) }

// Groups of commands in the help.
const (
	groupAsk  = "ask"
	groupKeep = "keep"
	groupRun  = "run"
)

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "kb",
		Short: "Find out what an error means and how to mend it",
		Long: `kb is a knowledge base of errors. It finds the documented error in a pasted
message, stack trace or log, explains it, and serves the same as a web site.

The bundled records need no set-up and no network.`,
		Example: `  npm start 2>&1 | kb diagnose
  kb explain DUPLEX_CHANNEL_CAPABILITY_DENIED
  kb search duplex channel
  kb serve`,
		Args: cli.NoCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.Version = buildInfo().Version
	root.SetVersionTemplate("kb {{.Version}}\n")
	root.AddGroup(
		&cobra.Group{ID: groupAsk, Title: "Ask:"},
		&cobra.Group{ID: groupRun, Title: "Run:"},
		&cobra.Group{ID: groupKeep, Title: "Keep records:"},
	)
	root.AddCommand(
		newDiagnose(), newRun(), newExplain(), newSearch(),
		newServe(), newRuntime(),
		newLint(), newProve(), newImport(), newExport(), newEval(),
		newVersion(),
	)
	root.PersistentFlags().Var(newChoice("auto", "always", "never"), "color", "colour of text for people")
	root.SetHelpCommandGroupID(groupRun)
	root.SetCompletionCommandGroupID(groupRun)
	cli.Prepare(root)
	return root
}
