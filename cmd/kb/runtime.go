package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"errorkb/cmd/internal/cli"
	"errorkb/internal/runtime/daytona"
	"errorkb/internal/runtime/daytona/service"
	"errorkb/internal/runtime/duplex"
	"errorkb/internal/runtime/environment"
	"errorkb/internal/runtime/fixture"
	"errorkb/internal/runtime/host"
	"errorkb/internal/runtime/lease"
	"errorkb/internal/runtime/plugin"
	"errorkb/internal/runtime/worker"
)

// workers are the programs of plugins that this program contains. Each takes
// its arguments, speaks on the standard streams and returns its exit status.
var workers = map[string]func(args []string) int{
	daytona.Name: func([]string) int { return daytona.Main() },
	fixture.Name: fixture.Main,
}

func newRuntime() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "runtime",
		GroupID: groupRun,
		Short:   "Work with the reference runtime whose errors are documented",
		Long: `The reference runtime raises the documented errors for real. It leases
environments, runs plugins as worker processes and opens channels to them.`,
		Example: `  kb runtime demo
  echo 'pwd; exit 3' | kb runtime demo`,
	}
	cmd.AddCommand(newRuntimeDemo(), newRuntimeWorker())
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

func newRuntimeDemo() *cobra.Command {
	return &cobra.Command{
		Use:   "demo [COMMAND [ARGUMENT]...]",
		Short: "Lease a sandbox and use a channel to a shell in it",
		Long: `Demo starts a Daytona-style service on this machine, starts the Daytona plugin as
a worker process, leases a sandbox and opens a duplex channel to a shell, or to
the command that is given. What you type goes through the channel, line by line;
the end of the input ends the shell. Then the channel is closed and the lease
released.

The sandbox is a directory, not a machine of its own: its commands run as you.`,
		Example: `  kb runtime demo
  echo 'pwd; exit 3' | kb runtime demo
  kb runtime demo -- env LANG=C sh`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := cli.UntilSignal(cmd.Context())
			defer stop()
			return demo(ctx, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr(), args)
		},
	}
}

// demo goes through the life of a lease with one channel.
func demo(ctx context.Context, in io.Reader, out, notes io.Writer, command []string) (err error) {
	note := func(format string, args ...any) { fmt.Fprintf(notes, "· "+format+"\n", args...) }
	backend, err := service.Start(service.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, backend.Close()) }()
	note("a Daytona-style service answers on %s", backend.URL())

	h, err := host.New(host.Config{Stderr: notes})
	if err != nil {
		return err
	}
	defer h.Close()
	manifest, err := plugin.ParseManifest(daytona.Manifest())
	if err != nil {
		return err
	}
	h.Plugins.Install(plugin.Plugin{ID: "daytona-1", Key: daytona.PluginKey, Status: plugin.Ready, Manifest: manifest})
	program, err := os.Executable()
	if err != nil {
		return err
	}
	w, err := h.StartWorker(ctx, "daytona-1", worker.Command{Path: program, Args: daytona.Args(), Env: backend.Env()})
	if err != nil {
		return err
	}
	note("the worker of the plugin runs as process %d", w.Pid())

	got, err := h.Service.Acquire(ctx, environment.AcquireInput{RunID: "demo", Environment: environment.Environment{
		ID: "demo", CompanyID: "demo", Name: "Demo", Driver: environment.DriverSandbox, Status: environment.StatusActive,
		Config: environment.Object{"provider": daytona.DriverKey},
	}})
	if err != nil {
		return err
	}
	on := environment.LeaseInput{Environment: got.Environment, Lease: got.Lease}
	note("lease %s grants sandbox %s", got.Lease.ID, got.Lease.ProviderLeaseID)
	defer func() {
		// Also after an interruption: the lease must not stay behind.
		ended, releaseErr := h.Service.Release(context.WithoutCancel(ctx), environment.ReleaseInput{LeaseInput: on, Status: lease.Released})
		if releaseErr == nil {
			note("the lease is %s", ended.Status)
		}
		err = errors.Join(err, releaseErr)
	}()
	return converse(ctx, h.Service, on, command, in, out, note)
}

// demoMarker is printed before the command starts. The terminal shows its
// prompt and the launch line first, which nobody wants to see.
const demoMarker = "-- channel ready --\n"

// converse passes input and output through a channel until its program ends.
func converse(ctx context.Context, s *environment.Service, on environment.LeaseInput, command []string,
	in io.Reader, out io.Writer, note func(string, ...any)) error {
	shell := len(command) == 0
	if shell {
		command = []string{"sh"}
	}
	launch := append([]string{"sh", "-c", `printf '%s\n' "$0"; exec "$@"`, strings.TrimSuffix(demoMarker, "\n")}, command...)
	channel, err := s.OpenDuplexChannel(ctx, environment.DuplexInput{LeaseInput: on, Command: launch})
	if err != nil {
		return err
	}
	defer channel.Close()
	note("channel %s is open; type, and end with Ctrl-D", channel.ID())

	ready, over := make(chan struct{}), make(chan duplex.Exit, 1)
	show := afterMarker(out, ready)
	channel.OnData(show)
	channel.OnExit(func(e duplex.Exit) { over <- e })
	select {
	case <-ready:
	case e := <-over:
		over <- e
	case <-ctx.Done():
		return ctx.Err()
	}
	go func() {
		lines := bufio.NewReader(in)
		for {
			line, err := lines.ReadBytes('\n')
			if len(line) > 0 {
				if _, err := channel.Write(line); err != nil {
					return
				}
			}
			if err != nil {
				break
			}
		}
		if shell {
			_, _ = channel.Write([]byte("exit\n"))
			return
		}
		channel.Stop() // the terminal is raw, so nothing else tells the program
	}()
	select {
	case e := <-over:
		if e.Code == nil {
			note("the channel ended without an exit code")
			return nil
		}
		note("the program exited with %d", *e.Code)
		return nil
	case <-ctx.Done():
		channel.Stop()
		return ctx.Err()
	}
}

// afterMarker returns a listener that writes what comes after the marker, and
// closes ready when the marker has come.
func afterMarker(out io.Writer, ready chan<- struct{}) func([]byte) {
	var before []byte
	seen := false
	return func(data []byte) {
		if !seen {
			before = append(before, data...)
			at := bytes.Index(before, []byte(demoMarker))
			if at < 0 {
				return
			}
			seen = true
			data, before = before[at+len(demoMarker):], nil
			close(ready)
		}
		_, _ = out.Write(data) // a reader that is gone does not matter here
	}
}
