package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"errorkb/cmd/internal/cli"
	"errorkb/internal/kb"
	"errorkb/internal/lint"
)

// recordsFolder is where the commands that keep records look for them.
const recordsFolder = "records"

func newLint() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "lint",
		GroupID: groupKeep,
		Short:   "Check the records of a folder",
		Long: `Lint checks every record of a folder and reports all findings in one run, each
with its file, line, column, field, the code of the check, and advice. Errors
keep a set from being loaded, warnings do not.

With --matrix it tries every example and every message on every pattern instead,
and shows what more than one record finds and which of them comes first. The
records must be free of errors.

The exit status is 0 when there is no finding and 1 when there is one; with
--matrix, when a text is not diagnosed as the record that it belongs to.`,
		Example: `  kb lint
  kb lint --records path/to/records
  kb lint --fix
  kb lint --json | jq '.[] | select(.severity == "error")'
  kb lint --matrix
  kb lint --checks`,
		Args: cobra.NoArgs,
	}
	dir := cmd.Flags().String("records", recordsFolder, "folder `DIR` of records")
	cmd.MarkFlagDirname("records")
	fix := cmd.Flags().Bool("fix", false, "write the canonical form and mend what can be mended safely, then check")
	list := cmd.Flags().Bool("checks", false, "list the checks instead of running them")
	matrix := cmd.Flags().Bool("matrix", false, "show which records find texts of others, and what tells them apart")
	asJSON := addJSON(cmd, "the findings, the checks or the matrix")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *list && *matrix {
			return cli.Usagef("--checks and --matrix cannot be shown at once")
		}
		if *list {
			return answer(cmd, func(p *cli.Printer) error { return writeChecks(p, *asJSON) })
		}
		fsys, err := cli.Folder(*dir)
		if err != nil {
			return err
		}
		if *fix {
			changes, err := lint.Fix(cmd.Context(), *dir)
			writeChanges(cmd.ErrOrStderr(), *dir, changes)
			if err != nil {
				return err
			}
		}
		progress := cli.NewProgress(cmd.ErrOrStderr(), "checking records")
		set, findings := lint.Load(cmd.Context(), fsys)
		progress.End()
		if err := cmd.Context().Err(); err != nil {
			return err
		}
		count := 0
		if set != nil {
			count = len(set.Records)
			_, stale := lint.Evidence(fsys, set)
			findings = append(findings, stale...)
		}
		if count == 0 && len(findings) == 0 {
			return cli.Hint(fmt.Errorf("no record in %s", *dir), "records lie at <owner>/<name>/<slug>.json below it")
		}
		if *matrix && set != nil {
			return lintMatrix(cmd, set, *asJSON)
		}
		return answer(cmd, func(p *cli.Printer) error {
			if *asJSON {
				if findings == nil {
					findings = []kb.Finding{}
				}
				if err := indented(p, findings); err != nil {
					return err
				}
			} else {
				writeFindings(p, *dir, findings, count)
				if set != nil {
					writeUnreduced(p, *dir, lint.Unreduced(set))
				}
			}
			if len(findings) > 0 {
				return cli.ErrNo
			}
			return nil
		})
	}
	return cmd
}

// writeChanges says what was mended and what was not.
func writeChanges(w io.Writer, dir string, changes []lint.Change) {
	for _, c := range changes {
		name := path.Join(dir, c.File)
		if c.Skipped != "" {
			fmt.Fprintf(w, "left alone %s: %s\n", cli.Visible(name), cli.Visible(c.Skipped))
			continue
		}
		fmt.Fprintf(w, "fixed %s: %s\n", cli.Visible(name), strings.Join(c.Done, ", "))
	}
}

// indented writes a value as JSON that people can read too.
func indented(p *cli.Printer, value any) error {
	encoder := json.NewEncoder(p)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// writeFindings writes one finding a line, in the form that editors follow to
// the place, and a summary.
func writeFindings(p *cli.Printer, dir string, findings []kb.Finding, records int) {
	errors, warnings := 0, 0
	for _, f := range findings {
		style, word := cli.Bad, "error"
		if f.Severity == kb.FindingWarning {
			style, word = cli.Warn, "warning"
			warnings++
		} else {
			errors++
		}
		place := path.Join(dir, f.File)
		if f.Line > 0 {
			place += fmt.Sprintf(":%d:%d", f.Line, f.Column)
		}
		p.Printf("%s: %s [%s] ", p.Styled(cli.Bold, place), p.Styled(style, word), f.Code)
		if f.Field != "" {
			p.Printf("%s: ", p.Styled(cli.Value, f.Field))
		}
		p.Printf("%s", p.Styled(cli.Plain, f.Message))
		if f.Advice != "" {
			p.Printf("%s", p.Styled(cli.Dim, "; "+f.Advice))
		}
		p.Printf("\n")
	}
	switch {
	case len(findings) == 0:
		p.Printf("%s, no finding\n", cli.Count(records, "record"))
	case errors == 0:
		p.Printf("\n%s, %s\n", cli.Count(records, "record"), cli.Count(warnings, "warning"))
	default:
		p.Printf("\n%s, %s: nothing would be loaded\n", cli.Count(errors, "error"), cli.Count(warnings, "warning"))
	}
}

// writeUnreduced says how many patterns are searched for the slow way.
func writeUnreduced(p *cli.Printer, dir string, files []string) {
	if len(files) == 0 {
		p.Printf("every pattern is literals and gaps\n")
		return
	}
	for i, file := range files {
		files[i] = path.Join(dir, file)
	}
	p.Printf("%s searched for as a regular expression: %s\n", cli.Count(len(files), "pattern"), p.Styled(cli.Plain, strings.Join(files, ", ")))
}

// lintMatrix is kb lint --matrix.
func lintMatrix(cmd *cobra.Command, set *kb.Set, asJSON bool) error {
	progress := cli.NewProgress(cmd.ErrOrStderr(), "comparing records")
	m, err := matrixOf(cmd.Context(), set)
	progress.End()
	if err != nil {
		return fmt.Errorf("compare the records: %w", err)
	}
	return answer(cmd, func(p *cli.Printer) error {
		if asJSON {
			if err := indented(p, m); err != nil {
				return err
			}
		} else {
			writeMatrix(p, m)
		}
		if len(m.Wrong) > 0 {
			return cli.ErrNo
		}
		return nil
	})
}

// writeChecks lists what lint looks at.
func writeChecks(p *cli.Printer, asJSON bool) error {
	checks := lint.Checks()
	if asJSON {
		type check struct {
			Code        string             `json:"code"`
			Name        string             `json:"name"`
			Severity    kb.FindingSeverity `json:"severity"`
			Description string             `json:"description"`
			Advice      string             `json:"advice"`
		}
		list := make([]check, 0, len(checks))
		for _, c := range checks {
			list = append(list, check{c.Code, c.Name, c.Severity, c.Description, c.Advice})
		}
		return indented(p, list)
	}
	for i, c := range checks {
		if i > 0 {
			p.Printf("\n")
		}
		p.Printf("%s  %s\n", p.Styled(cli.Bold, c.Code), p.Styled(cli.Dim, string(c.Severity)))
		p.Wrap("  ", 2, cli.Inline(c.Description)...)
		p.Wrap("  ", 2, cli.Inline(c.Advice)...)
	}
	return nil
}
