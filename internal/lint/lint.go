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
	"strings"
	"sync"

	"errorkb/internal/kb"
)

// Load reads and checks every record below a folder. All or nothing: the set is
// nil when a finding has severity error. Findings are sorted by place. An ended
// ctx is such a finding.
func Load(ctx context.Context, fsys fs.FS) (*kb.Set, []kb.Finding) {
	return (&Loader{checks: checks}).Load(ctx, fsys)
}

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
