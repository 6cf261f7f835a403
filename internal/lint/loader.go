package lint

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"slices"

	"errorkb/internal/kb"
)

// Loader loads a folder again and again. What is known of a file it keeps for as
// long as the file has the same content: its record, and what the checks of single
// records say. Files are read each time, and records compared with each other. Load
// gives what it gave without anything kept. One load at a time.
type Loader struct {
	checks []*aCheck
	files  map[string]*file // by path, of the last load
}

// file is what is known of a file of a certain content.
type file struct {
	content [sha256.Size]byte
	read    []kb.Finding // what reading found
	source  *kb.Source   // without the data; nil when there is no record
	subject *subject     // after the checks of single records; nil before
}

// NewLoader makes a loader for those who need the set and not the warnings: it only
// makes the checks that can keep a set from being loaded.
func NewLoader() *Loader {
	return &Loader{checks: slices.DeleteFunc(slices.Clone(checks), func(c *aCheck) bool {
		return c.Severity != kb.FindingError && !c.Strict
	})}
}

// Load reads and checks every record below a folder, see the function Load.
func (l *Loader) Load(ctx context.Context, fsys fs.FS) (*kb.Set, []kb.Finding) {
	files := map[string]*file{}
	var sources []*kb.Source
	unread := kb.ReadFiles(fsys, func(name string, data []byte) {
		f := l.read(name, data)
		files[name] = f
		if f.source != nil {
			source := *f.source
			source.Data = data
			sources = append(sources, &source)
		}
	})
	l.files = files
	set := kb.NewSet(sources)
	for i, source := range set.Sources {
		source.Sum = set.Sums[i]
		files[source.Path].source.Sum = set.Sums[i]
	}
	findings := l.check(ctx, set, unread)
	if len(set.Records) == 0 && !kb.HasErrors(findings) {
		findings = append(findings, kb.Finding{File: ".", Code: codeEmpty, Severity: kb.FindingWarning,
			Message: "there is no record in the folder", Advice: byCode[codeEmpty].Advice})
	}
	if kb.HasErrors(findings) {
		return nil, findings
	}
	return set, findings
}

// read gives what is known of a file, after decoding it when that is nothing.
func (l *Loader) read(name string, data []byte) *file {
	content := sha256.Sum256(data)
	if f := l.files[name]; f != nil && f.content == content {
		return f
	}
	f := &file{content: content}
	f.source, f.read = kb.Decode(name, data)
	if f.source != nil {
		f.source.Data = nil
	}
	return f
}

// check adds to what reading found, sorted.
func (l *Loader) check(ctx context.Context, set *kb.Set, unread []kb.Finding) []kb.Finding {
	findings := unread
	for _, f := range l.files {
		findings = append(findings, f.read...)
	}
	// A file that gave no record leaves its id unknown.
	all := &collection{unread: kb.HasErrors(findings)}
	var fresh []*subject
	for i, source := range set.Sources {
		s := &subject{record: set.Records[i], source: source}
		if f := l.files[source.Path]; f.subject != nil {
			*s = *f.subject
			s.source = source
		} else {
			for _, r := range f.read {
				s.bad = append(s.bad, r.Field)
			}
			fresh = append(fresh, s)
		}
		all.subjects = append(all.subjects, s)
	}
	each(fresh, func(s *subject) {
		if ctx.Err() == nil {
			s.checkAlone(l.checks)
		}
	})
	if ctx.Err() == nil {
		for _, s := range fresh {
			l.files[s.source.Path].subject = s.kept()
		}
	}
	for _, c := range l.checks {
		if c.set != nil && ctx.Err() == nil {
			c.set(all, func(s *subject, field, message string, args ...any) {
				s.reporter(c)(field, message, args...)
			})
		}
	}
	for _, s := range all.subjects {
		findings = append(findings, s.found...)
	}
	if err := ctx.Err(); err != nil {
		findings = append(findings, kb.Finding{File: ".", Code: codeUnreadable, Severity: kb.FindingError,
			Message: fmt.Sprintf("checking was interrupted: %v", err), Advice: "run it again"})
	}
	kb.SortFindings(findings)
	return findings
}

// checkAlone makes the checks of the schema and of a single record.
func (s *subject) checkAlone(checks []*aCheck) {
	s.checkSchema()
	s.prepare()
	for _, c := range checks {
		if c.record != nil {
			c.record(s, s.reporter(c))
		}
	}
	s.positions = nil
}

// kept is the subject without what only the checks of a single record look at. What
// is added to the lists of the one is not seen in the other.
func (s *subject) kept() *subject {
	return &subject{record: s.record, bad: slices.Clip(s.bad), found: slices.Clip(s.found), pattern: s.pattern, patternErr: s.patternErr}
}
