package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/spf13/cobra"

	"errorkb/cmd/internal/cli"
	"errorkb/internal/kb"
)

func newImport() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "import --out DIR FILE...",
		GroupID: groupKeep,
		Short:   "Take records from elsewhere into a folder",
		Long: `Import reads records and writes each to DIR/<owner>/<name>/<slug>.json in
canonical form. A file holds one record, an answer of GET /api/errors/{id}, an
array of either, or one of them a line; "-" is standard input. Versions 2 and 3
are read, version 3 is written, and every value is kept as it is.

Nothing is written when any input cannot be read or a record would take the
place of another one. What the records say is not judged: run kb lint for that.`,
		Example: `  kb import --out records 003_record.txt
  curl -s https://kb.example/api/dataset.jsonl | kb import --out records -
  kb import --out records --replace *.json`,
		Args: cobra.MinimumNArgs(1),
	}
	out := cmd.Flags().String("out", "", "folder `DIR` to write the records into (required)")
	cmd.MarkFlagDirname("out")
	replace := cmd.Flags().Bool("replace", false, "write over earlier states of the same records")
	asJSON := addJSON(cmd, "what was written")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *out == "" {
			return cli.Hint(cli.Usagef("no folder to import into"), "name it with --out DIR")
		}
		records, findings, err := readAll(cmd, args)
		if err != nil {
			return err
		}
		if kb.HasErrors(findings) {
			return &cli.FindingsError{Dir: "", Findings: findings}
		}
		for _, f := range findings {
			fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n", cli.Visible(f.String()))
		}
		result, err := writeRecords(*out, records, *replace)
		if err != nil {
			return err
		}
		return answer(cmd, func(p *cli.Printer) error {
			if *asJSON {
				return indented(p, result)
			}
			writeWritten(p, *out, result)
			return nil
		})
	}
	return cmd
}

// readAll reads the records of several files.
func readAll(cmd *cobra.Command, names []string) (records []*kb.Record, findings []kb.Finding, err error) {
	for _, name := range names {
		data, err := readInput(cmd.Context(), cmd.InOrStdin(), name)
		if err != nil {
			return nil, nil, err
		}
		found, bad := kb.Import(data)
		for i := range bad {
			bad[i].File = name
		}
		if len(found) == 0 && len(bad) == 0 {
			bad = append(bad, kb.Finding{File: name, Code: "empty", Severity: kb.FindingError,
				Message: "there is no record in it"})
		}
		records, findings = append(records, found...), append(findings, bad...)
	}
	return records, findings, nil
}

func readInput(ctx context.Context, stdin io.Reader, name string) ([]byte, error) {
	if name == "-" {
		data, err := io.ReadAll(stdin)
		if err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
		return data, ctx.Err()
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read the records: %w", err)
	}
	return data, ctx.Err()
}

func writeWritten(p *cli.Printer, dir string, w written) {
	for _, part := range []struct {
		word  string
		names []string
	}{{"new", w.New}, {"replaced", w.Replaced}, {"unchanged", w.Unchanged}} {
		for _, name := range part.names {
			p.Printf("%-9s  %s\n", part.word, p.Styled(cli.Plain, path.Join(dir, name)))
		}
	}
}
