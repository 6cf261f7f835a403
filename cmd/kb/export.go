package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"errorkb/cmd/internal/cli"
	"errorkb/internal/kb"
)

func newExport() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "export [ID|CODE|SLUG]...",
		GroupID: groupKeep,
		Short:   "Write records for other programs",
		Long: `Export writes records to standard output, one a line, in version 3: all of them,
or those that are named. With --out it writes them as files instead, which
makes a copy of the bundled records to work on.`,
		Example: `  kb export > records.jsonl
  kb export ec727a874bad4398 | jq .solutions
  kb export --out records
  kb export | ssh host kb import --out records -`,
	}
	dir := addRecords(cmd)
	out := cmd.Flags().String("out", "", "folder `DIR` to write files into, as <owner>/<name>/<slug>.json")
	cmd.MarkFlagDirname("out")
	replace := cmd.Flags().Bool("replace", false, "write over earlier states of the same records")
	asJSON := addJSON(cmd, "records one a line (the default), or with --out what was written,")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		set, err := cli.Records(cmd.Context(), *dir, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		records, err := chosen(set, args)
		if err != nil {
			return err
		}
		if *out == "" {
			return answer(cmd, func(p *cli.Printer) error { return writeLines(p, records) })
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

// chosen gives the records that are named, in that order and each once, or all.
func chosen(set *kb.Set, words []string) ([]*kb.Record, error) {
	if len(words) == 0 {
		return set.Records, nil
	}
	var records []*kb.Record
	taken := map[string]bool{}
	for _, word := range words {
		found := named(set, word)
		if len(found) == 0 {
			return nil, fmt.Errorf("no record for %q", cli.Cut(word, 100))
		}
		for _, r := range found {
			if !taken[r.ID] {
				taken[r.ID] = true
				records = append(records, r)
			}
		}
	}
	return records, nil
}

// writeLines writes records in canonical form, one a line.
func writeLines(p *cli.Printer, records []*kb.Record) error {
	var line bytes.Buffer
	for _, r := range records {
		line.Reset()
		if err := json.Compact(&line, r.Canonical()); err != nil {
			return fmt.Errorf("write record %s: %w", r.ID, err)
		}
		line.WriteByte('\n')
		p.Write(line.Bytes())
	}
	return nil
}
