// Mutate shows that the proof can fail. It breaks a copy of the runtime in every
// way that the proof has to notice, one way at a time, and runs the scenarios
// concerned:
//
//	go run ./internal/conformance/mutate
//
// The source is read, changed in memory and built with go build -overlay, so
// nothing in the tree is written. All mutants are in one program and are
// switched on by its name, see package point; a mutant is then one run of kb
// prove, first of the scenarios of the records concerned and, if those stay
// green, at the end of all. A mutant is killed when the proof turns red or
// crashes, or takes too long at two tries.
//
// It runs on demand: some minutes, one mutant at a time. The exit status is 1
// when a mutant survives that is not in survivors.go, or one in there does not.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
	default:
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("mutate", flag.ContinueOnError)
	root := flags.String("root", ".", "`folder` of the repository")
	only := flags.String("only", "", "only mutants whose name matches the regular `expression`")
	span := flags.Duration("for", 0, "stop after this `time`; mutants of each kind take turns")
	limit := flags.Duration("limit", 20*time.Second, "how long one run of a scenario may `take`; what takes longer is tried again with three times that")
	list := flags.Bool("list", false, "list the mutants and run none")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *span < 0 || *limit <= 0 || flags.NArg() > 0 {
		return errors.New("-for and -limit are times, and there are no arguments")
	}
	pattern, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	lab, err := prepare(*root)
	if err != nil {
		return err
	}
	defer lab.close()
	chosen := inTurns(slices.DeleteFunc(slices.Clone(lab.mutants), func(m *mutant) bool { return !pattern.MatchString(m.Name) }))
	if len(chosen) == 0 {
		return fmt.Errorf("no mutant is called %q", *only)
	}
	if *list {
		for _, m := range chosen {
			fmt.Fprintln(out, m.Name)
		}
		return nil
	}
	lab.limit = *limit
	if err := lab.build(ctx); err != nil {
		return err
	}
	if *span > 0 {
		lab.until = time.Now().Add(*span)
	}
	results, err := lab.runAll(ctx, chosen, func(r result) {
		fmt.Fprintf(out, "%-8s %s\n", r.outcome, r.mutant.Name)
		if r.why != "" {
			fmt.Fprintf(out, "         %s\n", r.why)
		}
	})
	if err != nil {
		return err
	}
	writeTable(out, lab.mutants, results)
	for _, place := range lab.unguarded {
		fmt.Fprintf(out, "no guard of its own: %s\n", place)
	}
	whole := len(results) == len(lab.mutants)
	if problems := judge(results, survivors, whole); len(problems) > 0 {
		return errors.New(strings.Join(problems, "\n"))
	}
	return nil
}

// inTurns puts mutants into an order in which the kinds advance evenly, so that
// a run that stops early is a fair sample.
func inTurns(mutants []*mutant) []*mutant {
	total := map[kind]int{}
	for _, m := range mutants {
		total[m.Kind]++
	}
	seen := map[kind]int{}
	share := map[*mutant]float64{}
	for _, m := range mutants {
		share[m] = float64(seen[m.Kind]) / float64(total[m.Kind])
		seen[m.Kind]++
	}
	slices.SortStableFunc(mutants, func(a, b *mutant) int { return cmp.Compare(share[a], share[b]) })
	return mutants
}

// judge compares the survivors with the list of those that are known. whole
// says that every mutant ran.
func judge(results []result, known map[string]string, whole bool) []string {
	var problems []string
	ran := map[string]bool{}
	for _, r := range results {
		ran[r.mutant.Name] = true
		_, listed := known[r.mutant.Name]
		switch {
		case r.outcome == survived && !listed:
			problems = append(problems, "survives: "+r.mutant.Name)
		case r.outcome != survived && listed:
			problems = append(problems, "listed as a survivor and killed: "+r.mutant.Name)
		}
	}
	for _, name := range sorted(known) {
		if known[name] == "" {
			problems = append(problems, "listed as a survivor without a reason: "+name)
		}
		if whole && !ran[name] {
			problems = append(problems, "listed as a survivor, and there is no such mutant: "+name)
		}
	}
	return problems
}

// writeTable writes the numbers by kind, in Markdown.
func writeTable(out io.Writer, all []*mutant, results []result) {
	fmt.Fprintf(out, "\n| mutation | mutants | run | killed | of these by time | by a crash | survived |\n|---|---:|---:|---:|---:|---:|---:|\n")
	var total [6]int
	for _, k := range kinds {
		var n [6]int
		for _, m := range all {
			if m.Kind == k {
				n[0]++
			}
		}
		for _, r := range results {
			if r.mutant.Kind != k {
				continue
			}
			n[1]++
			switch r.outcome {
			case survived:
				n[5]++
				continue
			case hung:
				n[3]++
			case crashed:
				n[4]++
			}
			n[2]++
		}
		fmt.Fprintf(out, "| %s | %d | %d | %d | %d | %d | %d |\n", k.title(), n[0], n[1], n[2], n[3], n[4], n[5])
		for i := range n {
			total[i] += n[i]
		}
	}
	fmt.Fprintf(out, "| all | %d | %d | %d | %d | %d | %d |\n\n", total[0], total[1], total[2], total[3], total[4], total[5])
}
