package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"errorkb/cmd/internal/cli"
	"errorkb/internal/diagnose"
	"errorkb/internal/diagnose/entry"
	"errorkb/internal/kb"
	"errorkb/internal/render"
)

func newDiagnose() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "diagnose [FILE|-]",
		GroupID: groupAsk,
		Short:   "Find the documented error in a message, stack trace or log",
		Long: `Diagnose reads text (a message, a stack trace, a whole log, a mail, a JSON log
line) from a file or standard input and answers with the documented error in it:
its values, its place and what to do. What it does not know it calls unknown.

Text of any size is read once and in bounded memory. Ctrl-C ends the reading:
the answer is about what was read until then, and says that it is partial.

With --follow each record is shown once, as soon as it is found. A file is
followed like tail -F does; standard input is read to its end.

The exit status is 0 when an error was recognised and 1 when none was.`,
		Example: `  kb diagnose server.log
  npm start 2>&1 | kb diagnose
  kb diagnose --json - < paste.txt
  kb diagnose --follow /var/log/app.log
  kb diagnose                          # then paste, and press Ctrl-D`,
		Args: cobra.MaximumNArgs(1),
	}
	dir := addRecords(cmd)
	follow := cmd.Flags().Bool("follow", false, "show each error as soon as it is found, and go on reading a file that grows")
	asJSON := addJSON(cmd, "the answer of POST /api/diagnose")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		set, err := cli.Records(cmd.Context(), *dir, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		engine, err := newEngine(set, "")
		if err != nil {
			return err
		}
		input, done, err := openInput(cmd, args)
		if err != nil {
			return err
		}
		defer done()
		if *follow {
			return runFollow(cmd, engine, input, set, *asJSON)
		}
		result, err := diagnoseInput(cmd, engine, input)
		if err != nil {
			return err
		}
		return answer(cmd, func(p *cli.Printer) error {
			if *asJSON {
				p.Write(append(result.AppendJSON(nil), '\n'))
			} else {
				writeAnswer(p, &result, set)
			}
			if result.Verdict == diagnose.VerdictUnknown {
				return cli.ErrNo
			}
			return nil
		})
	}
	return cmd
}

// newEngine builds the diagnosis of a set. The answers link to pages of a site
// that lives under base.
func newEngine(set *kb.Set, base render.Base) (*diagnose.Engine, error) {
	engine, err := diagnose.New(set.Version, entriesOf(set, base))
	if err != nil {
		return nil, fmt.Errorf("build the diagnosis: %w", err)
	}
	return engine, nil
}

func entriesOf(set *kb.Set, base render.Base) []diagnose.Entry {
	entries := make([]diagnose.Entry, 0, len(set.Records))
	for _, r := range set.Records {
		entries = append(entries, entry.Of(r, base.Address(render.PlaceError, r.Repo, r.Slug)))
	}
	return entries
}

// diagnoseInput reads a text to its end and shows how far it is. The end of a
// pipe or a file by Ctrl-C is an end, too; a paste on a terminal that is broken
// off is not meant to be answered.
func diagnoseInput(cmd *cobra.Command, engine *diagnose.Engine, input io.Reader) (diagnose.Answer, error) {
	if cli.IsTerminal(input) {
		return diagnoseAll(cmd.Context(), engine, input, func(int) {})
	}
	ctx, stop := cli.UntilSignal(cmd.Context())
	defer stop()
	progress := cli.NewProgress(cmd.ErrOrStderr(), "diagnosing")
	defer progress.End()
	total := sizeOf(input)
	return diagnoseAll(ctx, engine, input, func(n int) { progress.Bytes(int64(n), total) })
}

// sizeOf is the size of a regular file, 0 for anything else.
func sizeOf(r io.Reader) int64 {
	if file, ok := r.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			return info.Size()
		}
	}
	return 0
}

// openInput opens the one FILE argument of a command, or standard input when
// it is missing or "-".
func openInput(cmd *cobra.Command, args []string) (io.Reader, func() error, error) {
	if len(args) == 0 || args[0] == "-" {
		in := cmd.InOrStdin()
		if cli.IsTerminal(in) {
			fmt.Fprintln(cmd.ErrOrStderr(), "Paste the error, then press Enter and Ctrl-D.")
		}
		return in, func() error { return nil }, nil
	}
	file, err := os.Open(args[0])
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, cli.Hint(fmt.Errorf("no file %q", args[0]),
			"to diagnose the words themselves, pipe them in: echo 'message' | kb diagnose")
	case err != nil:
		return nil, nil, fmt.Errorf("open the text: %w", err)
	}
	if info, err := file.Stat(); err == nil && info.IsDir() {
		file.Close()
		return nil, nil, cli.Usagef("%q is a folder; name a file", args[0])
	}
	return file, file.Close, nil
}
