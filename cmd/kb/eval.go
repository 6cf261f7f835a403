package main

import (
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"errorkb/cmd/internal/cli"
	"errorkb/internal/diagnose/eval"
)

func newEval() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "eval --catalogues DIR --cases FILE",
		GroupID: groupKeep,
		Short:   "Measure the diagnosis against cases with known answers",
		Long: `Eval diagnoses every case of a file, first against its own catalogue of messages
and then against all of them, and counts what is right by tier. It answers with
figures, whatever they are: the exit status is 0 when the run itself went well.`,
		Example: `  kb eval --catalogues eval/catalogues --cases eval/cases.jsonl
  kb eval --catalogues eval/catalogues --cases eval/cases.jsonl --json | jq .own`,
		Args: cobra.NoArgs,
	}
	catalogues := cmd.Flags().String("catalogues", "", "folder `DIR` of catalogues, <name>.jsonl (required)")
	cases := cmd.Flags().String("cases", "", "`FILE` of cases, one a line (required)")
	asJSON := addJSON(cmd, "the figures and each case")
	cmd.MarkFlagDirname("catalogues")
	cmd.MarkFlagFilename("cases", "jsonl")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *catalogues == "" || *cases == "" {
			return cli.Usagef("--catalogues and --cases are both required")
		}
		report, err := eval.Run(cmd.Context(), *catalogues, *cases)
		if errors.Is(err, fs.ErrNotExist) {
			return cli.Hint(err, "the manual says where cases and catalogues come from: docs/quality.md")
		}
		if err != nil {
			return err
		}
		return answer(cmd, func(p *cli.Printer) error {
			if *asJSON {
				return indented(p, report)
			}
			return report.WriteText(p)
		})
	}
	return cmd
}
