// Package lint checks records: first against the schema, then with checks that
// are values with a code, a description and advice. All findings come in one
// run, each with its place.
//
// Start with Load, which reads a folder and gives a set; Fix mends what can be
// mended safely.
package lint

import (
	"context"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"

	"errorkb/internal/kb"
)

// Load reads and checks every record below a folder. All or nothing: the set is
// nil when a finding has severity error. Findings are sorted by place. An ended
// ctx is such a finding.
func Load(ctx context.Context, fsys fs.FS) (*kb.Set, []kb.Finding) {
	return load(ctx, fsys, checks)
}

// LoadErrors is Load for those who need the set and not the warnings: only the
// checks are made that can keep a set from being loaded.
func LoadErrors(ctx context.Context, fsys fs.FS) (*kb.Set, []kb.Finding) {
	return load(ctx, fsys, slices.DeleteFunc(slices.Clone(checks), func(c *aCheck) bool {
		return c.Severity != kb.FindingError && !c.Strict
	}))
}

func load(ctx context.Context, fsys fs.FS, checks []*aCheck) (*kb.Set, []kb.Finding) {
	sources, read := kb.ReadDir(fsys)
	set := kb.NewSet(sources)
	findings := check(ctx, set, read, checks)
	if len(set.Records) == 0 && !kb.HasErrors(findings) {
		findings = append(findings, kb.Finding{File: ".", Code: codeEmpty, Severity: kb.FindingWarning,
			Message: "there is no record in the folder", Advice: byCode[codeEmpty].Advice})
	}
	if kb.HasErrors(findings) {
		return nil, findings
	}
	return set, findings
}

// check adds to what reading found, sorted.
func check(ctx context.Context, set *kb.Set, read []kb.Finding, checks []*aCheck) []kb.Finding {
	subjects := subjectsOf(set, read)
	each(subjects, func(s *subject) {
		if ctx.Err() != nil {
			return
		}
		s.checkSchema()
		s.prepare()
		for _, c := range checks {
			if c.record != nil {
				c.record(s, s.reporter(c))
			}
		}
		s.positions = nil
	})
	all := &collection{subjects: subjects, unread: unread(read)}
	for _, c := range checks {
		if c.set != nil && ctx.Err() == nil {
			c.set(all, func(s *subject, field, message string, args ...any) {
				s.reporter(c)(field, message, args...)
			})
		}
	}
	findings := read
	for _, s := range subjects {
		findings = append(findings, s.found...)
	}
	if err := ctx.Err(); err != nil {
		findings = append(findings, kb.Finding{File: ".", Code: codeUnreadable, Severity: kb.FindingError,
			Message: fmt.Sprintf("checking was interrupted: %v", err), Advice: "run it again"})
	}
	kb.SortFindings(findings)
	return findings
}

// unread reports whether some file gave no record, so that its id is unknown.
func unread(read []kb.Finding) bool { return kb.HasErrors(read) }

// each runs f for every subject, on all processors.
func each(subjects []*subject, f func(*subject)) {
	next := make(chan *subject)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(subjects)) {
		wg.Go(func() {
			for s := range next {
				f(s)
			}
		})
	}
	for _, s := range subjects {
		next <- s
	}
	close(next)
	wg.Wait()
}

// subjectsOf makes a subject of each record, with the fields that reading has
// already complained about.
func subjectsOf(set *kb.Set, read []kb.Finding) []*subject {
	bad := map[string][]string{}
	for _, f := range read {
		bad[f.File] = append(bad[f.File], f.Field)
	}
	subjects := make([]*subject, len(set.Records))
	for i, r := range set.Records {
		source := set.Sources[i]
		subjects[i] = &subject{record: r, source: source, bad: bad[source.Path]}
	}
	return subjects
}

// element names one element of a list.
func element(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i) }

// overlaps reports whether two fields are the same or one lies in the other.
func overlaps(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	rest, ok := strings.CutPrefix(b, a)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
