package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"errorkb/cmd/internal/cli"
	"errorkb/internal/diagnose"
)

// keptOutput is how much of the end of a command's output is diagnosed.
const keptOutput = 4 << 20

// Exit statuses of commands that could not be run, as shells have them.
const (
	statusOwnFailure = 125
	statusNoStart    = 126
	statusNoCommand  = 127
	statusSignal     = 128 // and the number of the signal
)

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

func newRun() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "run CMD [ARG]...",
		GroupID: groupAsk,
		Short:   "Run a command and diagnose its output when it fails",
		Long: `Run starts a command and stays out of its way: input, output and errors pass
as they are, a terminal stays a terminal, signals reach the command, and its
exit status is that of kb. When it fails, the diagnosis of the end of its output
follows on standard error, secrets masked, as it may end up in a log.

Where input and output are a terminal, the command has one of its own, whose
keys are its own: Ctrl-C ends it, Ctrl-Z stops only programs that stop
themselves.

A command that a signal ended gives 128 and the number of the signal; 127 means
that there is no such command, 126 that it cannot be run, 125 that its output
could not be written.`,
		Example: `  kb run npm test
  kb run -- make -j4 all
  kb run --always -- ./deploy.sh staging`,
		Args: cobra.MinimumNArgs(1),
		// What completes a command line of another program is the shell's matter.
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		},
	}
	cmd.Flags().SetInterspersed(false) // flags behind CMD are the command's
	dir := addRecords(cmd)
	always := cmd.Flags().Bool("always", false, "diagnose the output of a command that succeeds, too")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *dir != "" {
			if _, err := cli.Folder(*dir); err != nil {
				return &cli.Error{Status: statusOwnFailure, Err: err, Hint: "name the folder with --records DIR"}
			}
		}
		output := &tail{limit: keptOutput}
		state, failed := runCommand(args, streams{cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()}, output)
		if state == nil {
			return startFailure(args[0], failed)
		}
		status, how := ending(state.Sys().(syscall.WaitStatus))
		if status != 0 || *always {
			if err := diagnoseOutput(cmd, output, *dir, args[0]+" "+how); err != nil {
				cli.WriteError(cmd.ErrOrStderr(), "kb", fmt.Errorf("diagnose the output: %w", err), "")
			}
		}
		switch {
		case failed != nil:
			return &cli.Error{Status: cmp.Or(status, statusOwnFailure), Err: failed}
		case status != 0:
			return &cli.Error{Status: status, Err: cli.ErrNo}
		}
		return nil
	}
	return cmd
}

// startFailure says why a command could not be run.
func startFailure(name string, err error) error {
	status := statusOwnFailure
	var failed *exec.Error
	var path *fs.PathError
	_, missing := os.Stat(name)
	switch {
	case strings.ContainsRune(name, os.PathSeparator) && missing == nil && errors.Is(err, fs.ErrNotExist):
		status, err = statusNoStart, fmt.Errorf("run %q: the program that its first line names, or its loader, is missing", name)
	case name == "", errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		status, err = statusNoCommand, fmt.Errorf("no command %q", name)
	case errors.As(err, &path):
		status, err = statusNoStart, fmt.Errorf("run %q: %w", name, path.Err)
	case errors.As(err, &failed):
		status, err = statusNoStart, fmt.Errorf("run %q: %w", name, failed.Err)
	}
	return &cli.Error{Status: status, Err: err}
}

// ending is the exit status of a command, and how it ended in words.
func ending(w syscall.WaitStatus) (status int, how string) {
	if w.Signaled() {
		how = fmt.Sprintf("was ended by signal %d (%s)", w.Signal(), w.Signal())
		return statusSignal + int(w.Signal()), how
	}
	return w.ExitStatus(), fmt.Sprintf("ended with status %d", w.ExitStatus())
}

// diagnoseOutput writes the diagnosis of the end of a command's output to
// standard error. A command that said nothing has no diagnosis.
func diagnoseOutput(cmd *cobra.Command, output *tail, dir, title string) error {
	text, before := output.text()
	if len(strings.TrimSpace(string(text))) == 0 {
		return nil
	}
	set, err := cli.Records(cmd.Context(), dir, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	engine, err := newEngine(set, "")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), finishTime)
	defer cancel()
	a := engine.Diagnose(ctx, text, diagnose.Options{})
	maskAnswer(&a, text)
	moveAnswer(&a, before)
	p := cli.NewPrinter(cmd.ErrOrStderr(), cmd.Flag("color").Value.String())
	p.Printf("\n%s\n\n", p.Styled(cli.Dim, "kb: "+cli.Visible(title)))
	writeAnswer(p, &a, set)
	return p.Close()
}

// moveAnswer moves the places of an answer about the end of a text.
func moveAnswer(a *diagnose.Answer, before spot) {
	m := mover{spot: before, first: 1}
	a.Diagnoses = m.within(a.Diagnoses, before.bytes, before.bytes+a.Input.Bytes+1)
	m.unknown(a.Unknown, before.bytes, before.bytes+a.Input.Bytes+1)
	a.Input.Bytes += before.bytes
	a.Input.Lines += before.lines
}
