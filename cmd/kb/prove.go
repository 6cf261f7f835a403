package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"errorkb/cmd/internal/cli"
	"errorkb/internal/conformance"
	"errorkb/internal/kb"
)

func newProve() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "prove [ID|SLUG]...",
		GroupID: groupKeep,
		Short:   "Prove the records by making their errors happen",
		Long: `Prove runs the scenario of every record in the reference runtime: the documented
error has to come with its exact message, code and class, the diagnosis has to
recognise it, and after the steps of a remedy the same operation has to succeed.
It also reads the source of the runtime: every place that can raise an error
has a record or a written reason to have none.

What was found is written to evidence.json in the folder of records, the same
bytes each time. With records named, only those are proven and nothing is
written.

The exit status is 0 when everything is proven and 1 when anything is not.`,
		Example: `  kb prove
  kb prove --check
  kb prove fbc48e17530ae3db -v
  kb prove duplex-channel-route-busy --json`,
	}
	dir := cmd.Flags().String("records", recordsFolder, "folder `DIR` of records")
	cmd.MarkFlagDirname("records")
	check := cmd.Flags().Bool("check", false, "compare with evidence.json instead of writing it")
	verbose := cmd.Flags().BoolP("verbose", "v", false, "print each step as it happens")
	limit := cmd.Flags().Duration("limit", conformance.DefaultLimit, "how long one run of a scenario may take")
	asJSON := addJSON(cmd, "the result")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx, stop := cli.UntilSignal(cmd.Context())
		defer stop()
		if *check && len(args) > 0 {
			return cli.Usagef("--check compares the whole set; name no records with it")
		}
		set, err := cli.Records(ctx, *dir, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		if *limit <= 0 {
			return cli.Usagef("--limit is %v; it has to be more than nothing", *limit)
		}
		c := conformance.Config{Records: set, Limit: *limit}
		if c.Only, err = idsOf(set, args); err != nil {
			return err
		}
		if c.Scenarios, err = conformance.Load(os.DirFS(*dir)); err != nil {
			return err
		}
		if c.Program, err = os.Executable(); err != nil {
			return err
		}
		return answer(cmd, func(p *cli.Printer) error {
			result, err := prove(ctx, cmd, p, c, *verbose && !*asJSON)
			if err != nil {
				return err
			}
			if *asJSON {
				if err := indented(p, reportOf(set, result)); err != nil {
					return err
				}
			} else {
				writeProof(p, set, result)
			}
			var stale error
			if len(args) == 0 {
				stale = keepEvidence(filepath.Join(*dir, kb.EvidenceFile), result.Proof.Canonical(), *check)
			}
			if stale == nil && !result.OK() {
				return cli.ErrNo
			}
			return stale
		})
	}
	return cmd
}

// prove runs the proof, with a transcript or a line of progress.
func prove(ctx context.Context, cmd *cobra.Command, p *cli.Printer, c conformance.Config, verbose bool) (*conformance.Result, error) {
	if verbose {
		c.Parallel = 1
		c.Trace = (&transcript{Printer: p, set: c.Records}).write
		return conformance.Prove(ctx, c)
	}
	progress := cli.NewProgress(cmd.ErrOrStderr(), "proving records")
	defer progress.End()
	c.Progress = progress.Step
	return conformance.Prove(ctx, c)
}

// idsOf turns names of records into their ids; nil stands for all.
func idsOf(set *kb.Set, names []string) ([]string, error) {
	var ids []string
	for _, name := range names {
		found := named(set, name)
		if len(found) == 0 {
			return nil, fmt.Errorf("no record for %q", cli.Cut(name, 100))
		}
		for _, r := range found {
			ids = append(ids, r.ID)
		}
	}
	return ids, nil
}

// keepEvidence writes the evidence file when it differs, or, to check it, says
// that it does.
func keepEvidence(name string, fresh []byte, check bool) error {
	have, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	switch {
	case string(have) == string(fresh):
		return nil
	case check:
		return cli.Hint(fmt.Errorf("%s is stale", name), "write it again with: kb prove")
	}
	return os.WriteFile(name, fresh, 0o644)
}

// proofReport is the JSON form of a result.
type proofReport struct {
	Records  int           `json:"records"` // that were to be proven
	Proven   int           `json:"proven"`
	Missing  []string      `json:"missing"`  // ids of records without a scenario
	Late     []string      `json:"late"`     // ids of records that took too long and have no other problem
	Problems []string      `json:"problems"` // of the set as a whole
	Evidence []kb.Evidence `json:"evidence"`
}

func reportOf(_ *kb.Set, r *conformance.Result) proofReport {
	return proofReport{
		Records: len(r.Proof.Records) + len(r.Missing), Proven: r.Proven(),
		Missing: append([]string{}, r.Missing...), Late: append([]string{}, r.Late...), Problems: append([]string{}, r.Problems...), Evidence: r.Proof.Records,
	}
}

// writeProof says what is not proven and why, and counts the rest.
func writeProof(p *cli.Printer, set *kb.Set, r *conformance.Result) {
	title := func(id string) string {
		i := slices.IndexFunc(set.Records, func(r *kb.Record) bool { return r.ID == id })
		return set.Records[i].Slug
	}
	for _, e := range r.Proof.Records {
		if e.Proven {
			continue
		}
		p.Printf("%s %s %s\n", p.Styled(cli.Bad, "not proven"), p.Styled(cli.Bold, e.Record), p.Styled(cli.Plain, title(e.Record)))
		for _, problem := range e.Problems {
			p.Wrap("  ", 2, cli.Inline(problem)...)
		}
	}
	for _, id := range r.Missing {
		p.Printf("%s %s %s: it has no scenario\n", p.Styled(cli.Bad, "not proven"), p.Styled(cli.Bold, id), p.Styled(cli.Plain, title(id)))
	}
	for _, problem := range r.Problems {
		p.Printf("%s ", p.Styled(cli.Bad, "problem"))
		p.Wrap("", 2, cli.Inline(problem)...)
	}
	again, instead := 0, 0
	for _, e := range r.Proof.Records {
		for _, remedy := range e.Remedies {
			switch {
			case !remedy.Works:
			case remedy.Again:
				again++
			default:
				instead++
			}
		}
	}
	p.Printf("%d of %s proven; %s", r.Proven(), cli.Count(len(r.Proof.Records)+len(r.Missing), "record"), remedyCount(again, "work"))
	if instead > 0 {
		p.Printf(", %s", remedyCount(instead, "take another way"))
	}
	if n := len(r.Proof.Places); n > 0 {
		documented := 0
		for _, place := range r.Proof.Places {
			if place.Record != nil {
				documented++
			}
		}
		p.Printf("; %d of %s of the runtime documented, %d exempt", documented, cli.Count(n, "place"), n-documented)
	}
	p.Printf("\n")
}

func remedyCount(n int, does string) string {
	if n == 1 {
		does = strings.Replace(does, "work", "works", 1)
		does = strings.Replace(does, "take", "takes", 1)
		return "1 remedy " + does
	}
	return fmt.Sprintf("%d remedies %s", n, does)
}

// transcript writes the steps of scenarios as they happen.
type transcript struct {
	*cli.Printer
	set  *kb.Set
	last string // record that was written about
}

func (t *transcript) write(e conformance.Event) {
	defer func() { _ = t.Close() }() // shows it at once; the last Close reports errors
	if e.Heading == "" {
		t.Wrap("  · ", 4, cli.Inline(e.Step.Text)...)
		if e.Step.Result != "" {
			t.Wrap("      ", 6, cli.Inline(e.Step.Result)...)
		}
		return
	}
	if e.Record != t.last {
		i := slices.IndexFunc(t.set.Records, func(r *kb.Record) bool { return r.ID == e.Record })
		if t.last != "" {
			t.Printf("\n")
		}
		t.Printf("%s  %s\n", t.Styled(cli.Bold, e.Record), t.Styled(cli.Bold, t.set.Records[i].Slug))
		t.last = e.Record
	}
	t.Printf("%s\n", t.Styled(cli.Value, e.Heading))
}
