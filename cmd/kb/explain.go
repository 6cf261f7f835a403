package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"errorkb/cmd/internal/cli"
	"errorkb/internal/kb"
	"errorkb/internal/render"
	"errorkb/internal/store"
)

func newExplain() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "explain ID|CODE|SLUG|MESSAGE",
		GroupID: groupAsk,
		Short:   "Explain one error completely",
		Long: `Explain shows everything that is known about one error: what it means, where it
is raised, how to mend it and how to keep it from happening again.

The error is named by its id, its code, its slug (alone or as owner/name/slug),
another name it has or had, the address of its page, or its message.`,
		Example: `  kb explain ec727a874bad4398
  kb explain DUPLEX_CHANNEL_CAPABILITY_DENIED
  kb explain 'Environment driver "local" does not support duplex channels.'
  kb explain --json ec727a874bad4398 | jq .record.solutions`,
		Args: cobra.MinimumNArgs(1),
	}
	dir := addRecords(cmd)
	asJSON := addJSON(cmd, "the answer of GET /api/errors/{id}")
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		set, err := cli.Records(cmd.Context(), *dir, cmd.ErrOrStderr())
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names(set, typed), cobra.ShellCompDirectiveNoFileComp
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		set, err := cli.Records(cmd.Context(), *dir, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		word := strings.Join(args, " ")
		found, err := findRecords(cmd.Context(), set, word)
		if err != nil {
			return err
		}
		switch {
		case len(found) == 0:
			return cli.Hint(fmt.Errorf("no record for %q", cli.Cut(word, 100)),
				"look for words of it with: kb search WORDS")
		case len(found) > 1:
			return answer(cmd, func(p *cli.Printer) error {
				return writeChoice(p, word, found, *asJSON, set)
			})
		case *asJSON:
			return explainJSON(cmd, *dir, set, found[0])
		}
		return answer(cmd, func(p *cli.Printer) error {
			writeRecord(p, found[0], set)
			return nil
		})
	}
	return cmd
}

// names lists what a word can be completed to, each with its message.
func names(set *kb.Set, typed string) []string {
	var list []string
	add := func(name string, r *kb.Record) {
		if strings.HasPrefix(name, typed) {
			list = append(list, cobra.CompletionWithDesc(name, cli.Cut(r.ErrorMessage, 60)))
		}
	}
	for _, r := range set.Records {
		add(r.Slug, r)
		if r.ErrorCode != nil {
			add(*r.ErrorCode, r)
		}
		if typed != "" {
			add(r.ID, r)
		}
	}
	return list
}

// explainJSON writes the same bytes as the API.
func explainJSON(cmd *cobra.Command, dir string, set *kb.Set, record *kb.Record) error {
	ctx := cmd.Context()
	proof, err := cli.Proof(dir, set)
	if err != nil {
		return err
	}
	source, err := store.OpenMemory(ctx, set)
	if err != nil {
		return err
	}
	body, err := render.RecordJSON(ctx, source, "", record, proof.Of(record.ID))
	if err := errors.Join(err, source.Close()); err != nil {
		return err
	}
	return answer(cmd, func(p *cli.Printer) error {
		p.Write(body)
		return nil
	})
}

// writeChoice lists records that share a name and ends with ErrNo: the person
// has to choose.
func writeChoice(p *cli.Printer, word string, found []*kb.Record, asJSON bool, set *kb.Set) error {
	if asJSON {
		page := kb.Page{Total: len(found)}
		for _, r := range found {
			page.Items = append(page.Items, kb.Item{ID: r.ID, Repo: r.Repo, Slug: r.Slug, Title: r.ErrorMessage,
				Severity: r.Severity, ContentChangedAt: r.ContentChangedAt})
		}
		body, _, err := render.ListJSON("", set.Version, kb.Filter{}, page)
		if err != nil {
			return err
		}
		p.Write(body)
		return cli.ErrNo
	}
	p.Printf("%s are named %s. Which one?\n\n", cli.Count(len(found), "record"), p.Styled(cli.Bold, word))
	for _, r := range found {
		p.Wrap("  "+p.Styled(cli.Value, r.ID)+"  ", 2+len(r.ID)+2,
			cli.Span{Text: r.ErrorMessage}, cli.Span{Text: " " + r.Repo, Style: cli.Dim})
	}
	return cli.ErrNo
}
