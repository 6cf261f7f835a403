// Package cli is what our commands share: how a command line is run, what its
// errors look like, and how text for people is written. Start with Run.
//
// House rules of output:
//
//   - Standard output carries the answer and nothing else; everything about
//     the work (errors, hints, progress) goes to standard error.
//   - Colour and progress appear on a terminal only. NO_COLOR turns colour off.
//   - An error is one line, "kb: what went wrong", and often a second one,
//     indented, that says what to do about it.
//   - The exit status is 0 when something was found or done, 1 when nothing was
//     found, when there are findings or when the work failed, 2 for wrong use.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Exit statuses.
const (
	StatusOK    = 0
	StatusNo    = 1 // not found, findings, or a failure
	StatusUsage = 2 // wrong use
)

// helpWidth is the number of columns of a help page.
const helpWidth = 100

// ErrNo ends a command with StatusNo and without a message: the command has
// said on standard output what there was to say.
var ErrNo = errors.New("nothing found")

// Error is a failure with advice for the person at the keyboard.
type Error struct {
	Status int
	Err    error
	Hint   string // a sentence in the imperative, or ""
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Usagef makes an error of wrong use.
func Usagef(format string, args ...any) error {
	return &Error{Status: StatusUsage, Err: fmt.Errorf(format, args...)}
}

// Hint adds advice to an error and keeps its status.
func Hint(err error, hint string) error {
	status := StatusNo
	var known *Error
	if errors.As(err, &known) {
		status = known.Status
	}
	return &Error{Status: status, Err: err, Hint: hint}
}

// Run executes the command line of the process and returns its exit status.
// A signal ends the process at once, as it does everywhere; commands that have
// something to finish first use UntilSignal.
func Run(root *cobra.Command) int {
	return report(root, root.ExecuteContext(context.Background()))
}

// UntilSignal gives a context that the first SIGINT or SIGTERM ends. The
// second one ends the process at once.
func UntilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// Prepare gives a finished tree of commands the behaviour that is the same
// everywhere: silence of the library, errors of wrong use, and environment
// variables for flags.
func Prepare(root *cobra.Command) {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SuggestionsMinimumDistance = 2
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), "Flags.FlagUsages", fmt.Sprintf("Flags.FlagUsagesWrapped %d", helpWidth)))
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var bad *pflag.InvalidValueError
		if errors.As(err, &bad) {
			err = fmt.Errorf("--%s %q: %w", bad.GetFlag().Name, bad.GetValue(), wanted(bad.GetFlag(), bad))
		}
		return Hint(Usagef("%w", err), seeHelp(cmd))
	})
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		return fromEnvironment(cmd, os.LookupEnv)
	}
	if root.HasSubCommands() {
		// Made here and not at the start, so that they get what all others get.
		root.InitDefaultCompletionCmd()
		root.SetHelpCommand(newHelp())
		root.InitDefaultHelpCmd()
	}
	eachCommand(root, func(cmd *cobra.Command) {
		if !cmd.Runnable() {
			cmd.Args, cmd.RunE = NoCommand, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
		describe := func(f *pflag.Flag) { f.Usage += " [" + Variable(f.Name) + "]" }
		cmd.LocalNonPersistentFlags().VisitAll(describe)
		cmd.PersistentFlags().VisitAll(describe)
		if positional := cmd.Args; positional != nil {
			cmd.Args = func(cmd *cobra.Command, args []string) error {
				if err := positional(cmd, args); err != nil {
					return Hint(Usagef("%w", arguments(cmd, positional, args, err)), seeHelp(cmd))
				}
				return nil
			}
		}
	})
}

// arguments says in the words of the help what is wrong with the arguments of a
// command, which the library tells by numbers.
func arguments(cmd *cobra.Command, positional cobra.PositionalArgs, args []string, err error) error {
	if cmd.HasSubCommands() {
		return err // of NoCommand
	}
	_, shown, _ := strings.Cut(cmd.Use, " ")
	if len(args) == 0 {
		return fmt.Errorf("%s needs %s", cmd.CommandPath(), shown)
	}
	fit := len(args) - 1
	for fit > 0 && positional(cmd, args[:fit]) != nil {
		fit--
	}
	if shown == "" {
		return fmt.Errorf("%s takes no argument, and %q is one", cmd.CommandPath(), args[fit])
	}
	return fmt.Errorf("%s takes %s only, and %q is one more", cmd.CommandPath(), shown, args[fit])
}

// wanted says what a flag takes. Its own flags say it themselves; of the
// library's, the error is one of the parser's.
func wanted(f *pflag.Flag, err error) error {
	switch f.Value.Type() {
	case "bool":
		return errors.New("want true or false")
	case "int":
		return errors.New("want a whole number")
	case "float64":
		return errors.New("want a number")
	case "duration":
		return errors.New("want a time such as 2s or 500ms")
	}
	if cause := errors.Unwrap(err); cause != nil {
		return cause
	}
	return err
}

// newHelp is the help command; the library's own is content with anything.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show the help of a command",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return Hint(Usagef("no command %q", strings.Join(args, " ")), seeHelp(cmd.Root()))
			}
			return about.Help()
		},
	}
}

func eachCommand(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, sub := range cmd.Commands() {
		eachCommand(sub, visit)
	}
}

func seeHelp(cmd *cobra.Command) string {
	return fmt.Sprintf("see '%s --help'", cmd.CommandPath())
}

// NoCommand is the positional check of a root command: whatever stands there
// is a command that does not exist.
func NoCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fmt.Errorf("unknown command %q", args[0])
	if similar := cmd.SuggestionsFor(args[0]); len(similar) > 0 {
		return fmt.Errorf("%w; did you mean %s?", err, strings.Join(similar, " or "))
	}
	return err
}

// Variable names the environment variable of a flag.
func Variable(flag string) string {
	return "KB_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// fromEnvironment sets the flags that the command line leaves out from their
// environment variables. An empty variable counts as unset.
func fromEnvironment(cmd *cobra.Command, lookup func(string) (string, bool)) error {
	var failure error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Changed || failure != nil || f.Name == "help" {
			return
		}
		value, ok := lookup(Variable(f.Name))
		if !ok || value == "" {
			return
		}
		if err := cmd.Flags().Set(f.Name, value); err != nil {
			failure = Usagef("environment variable %s=%q: %w", Variable(f.Name), value, wanted(f, err))
		}
	})
	return failure
}

// report writes the error of a command to its standard error and turns it into
// an exit status.
func report(root *cobra.Command, err error) int {
	if err == nil {
		return StatusOK
	}
	status, hint := StatusNo, ""
	var known *Error
	if errors.As(err, &known) {
		status, hint = known.Status, known.Hint
	}
	if errors.Is(err, ErrNo) {
		return status
	}
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	WriteError(root.ErrOrStderr(), root.Name(), err, hint)
	var bad *FindingsError
	if errors.As(err, &bad) {
		fmt.Fprint(root.ErrOrStderr(), bad.Details())
	}
	return status
}

// WriteError writes one error the way all commands do.
func WriteError(w io.Writer, program string, err error, hint string) {
	fmt.Fprintf(w, "%s: %s\n", program, Visible(err.Error()))
	if hint != "" {
		fmt.Fprintf(w, "  %s\n", hint)
	}
}
