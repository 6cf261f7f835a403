package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"errorkb/cmd/internal/cli"
	"errorkb/internal/kb"
	"errorkb/internal/render"
	"errorkb/internal/search"
	"errorkb/internal/store"
)

func newSearch() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "search WORDS",
		GroupID: groupAsk,
		Short:   "Search the text of all records",
		Long: `Search finds the records whose text holds the given words. Words are only words:
no character has a special meaning.

The exit status is 0 when there is a hit and 1 when there is none.`,
		Example: `  kb search duplex channel
  kb search --severity error --limit 5 lease
  kb search --json "worker manager" | jq -r '.hits[].id'`,
		Args: cobra.MinimumNArgs(1),
	}
	dir := addRecords(cmd)
	data := cmd.Flags().String("data", "", "folder `DIR` to keep the index in for the next search; in memory without it")
	cmd.MarkFlagDirname("data")
	asJSON := addJSON(cmd, "the answer of GET /api/search")
	var query kb.Query
	flags := cmd.Flags()
	flags.StringVar(&query.Repo, "repo", "", "only this repository, as `OWNER/NAME`")
	flags.StringVar(&query.Tag, "tag", "", "only records with this `TAG`")
	flags.StringVar(&query.Severity, "severity", "", "only this `SEVERITY`: fatal, error, warning or info")
	flags.StringVar(&query.Class, "class", "", "only this error `CLASS`")
	flags.StringVar(&query.Code, "code", "", "only this error `CODE`")
	flags.StringVar(&query.Status, "status", "", "only this `STATUS`: active, deprecated, removed or withdrawn")
	flags.IntVar(&query.Limit, "limit", kb.DefaultHits, fmt.Sprintf("`NUMBER` of hits to show, at most %d", kb.MaxHits))
	flags.IntVar(&query.Offset, "offset", 0, "`NUMBER` of hits to skip")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		query.Text = strings.Join(args, " ")
		if err := checkQuery(query); err != nil {
			return err
		}
		set, err := cli.Records(cmd.Context(), *dir, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		result, err := searchOnce(cmd, set, *data, query)
		if err != nil {
			return err
		}
		return answer(cmd, func(p *cli.Printer) error {
			if *asJSON {
				body, _, err := render.SearchJSON("", set.Version, query, result)
				if err != nil {
					return err
				}
				p.Write(body)
			} else {
				writeHits(p, query, result)
			}
			if result.Total == 0 {
				return cli.ErrNo
			}
			return nil
		})
	}
	return cmd
}

func checkQuery(query kb.Query) error {
	switch {
	case strings.TrimSpace(query.Text) == "":
		return cli.Usagef("no word to search for")
	case query.Limit < 1 || query.Limit > kb.MaxHits:
		return cli.Usagef("limit %d is not between 1 and %d", query.Limit, kb.MaxHits)
	case query.Offset < 0 || query.Offset > render.MaxSearchOffset:
		return cli.Usagef("offset %d is not between 0 and %d", query.Offset, render.MaxSearchOffset)
	}
	if err := oneOf("severity", query.Severity, kb.SeverityFatal, kb.SeverityError, kb.SeverityWarning, kb.SeverityInfo); err != nil {
		return err
	}
	return oneOf("status", query.Status, kb.StatusActive, kb.StatusDeprecated, kb.StatusRemoved, kb.StatusWithdrawn)
}

// oneOf checks a flag that may be left out.
func oneOf[T ~string](flag, value string, allowed ...T) error {
	if value == "" || slices.Contains(allowed, T(value)) {
		return nil
	}
	names := make([]string, len(allowed))
	for i, a := range allowed {
		names[i] = string(a)
	}
	return cli.Usagef("--%s %q: want one of %s", flag, value, strings.Join(names, ", "))
}

// searchOnce asks an index once: one in memory, or that of a data directory,
// which must not belong to a running server.
func searchOnce(cmd *cobra.Command, set *kb.Set, data string, query kb.Query) (result kb.SearchResult, err error) {
	ctx := cmd.Context()
	progress := cli.NewProgress(cmd.ErrOrStderr(), "indexing")
	defer progress.End()
	var index *search.Index
	if data == "" {
		index, err = search.OpenMemory(ctx, set)
	} else {
		lock, locked := store.LockDir(data)
		if locked != nil {
			return result, cli.Hint(locked, "leave --data out to search in memory")
		}
		defer lock.Unlock() // the end of the process does it too
		index, err = search.Open(ctx, data, set, progress.Step)
	}
	if err != nil {
		return result, err
	}
	result, err = index.Search(ctx, query)
	return result, errors.Join(err, index.Close())
}

// fragmentsShown is the number of excerpts under a hit.
const fragmentsShown = 2

// writeHits writes hits for people.
func writeHits(p *cli.Printer, query kb.Query, result kb.SearchResult) {
	if result.Cut {
		p.Printf("Only the first %d characters were searched for.\n", kb.MaxQuery)
	}
	if result.Total == 0 {
		p.Printf("Nothing found for %s.\n", p.Styled(cli.Bold, result.Text))
		return
	}
	if result.SomeWords {
		p.Printf("No record holds all of these words; these hold some.\n")
	}
	if len(result.Hits) == 0 {
		p.Printf("%s, none after the first %d.\n", cli.Count(result.Total, "hit"), query.Offset)
		return
	}
	p.Printf("%s\n", p.Styled(cli.Dim, fmt.Sprintf("%d–%d of %s", query.Offset+1, query.Offset+len(result.Hits), cli.Count(result.Total, "hit"))))
	for _, hit := range result.Hits {
		p.Printf("\n")
		id := p.Styled(cli.Value, hit.ID) + "  "
		indent := len(hit.ID) + 2
		title := []cli.Span{{Text: hit.Title, Style: cli.Bold}}
		rest := hit.Fragments
		if len(rest) > 0 && rest[0].Field == kb.FieldTitle {
			title, rest = spans(rest[0], cli.Bold), rest[1:]
		}
		p.Wrap(id, indent, title...)
		margin := strings.Repeat(" ", indent)
		p.Wrap(margin, indent, cli.Span{Text: strings.Join([]string{hit.Repo, string(hit.Severity), hit.Slug}, " · "), Style: cli.Dim})
		for _, fragment := range rest[:min(fragmentsShown, len(rest))] {
			p.Wrap(margin, indent, append([]cli.Span{{Text: fragment.Field + ": ", Style: cli.Dim}}, spans(fragment, cli.Plain)...)...)
		}
	}
	if end := query.Offset + len(result.Hits); end < result.Total {
		p.Printf("\n%s\n", p.Styled(cli.Dim, fmt.Sprintf("More: --offset %d", end)))
	}
}

func spans(f kb.Fragment, plain cli.Style) []cli.Span {
	var list []cli.Span
	for _, part := range f.Parts {
		style := plain
		if part.Marked {
			style = cli.Marked
		}
		list = append(list, cli.Span{Text: part.Text, Style: style})
	}
	return list
}
