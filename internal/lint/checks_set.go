package lint

import (
	"strings"

	"errorkb/internal/kb"
	"errorkb/internal/pattern"
)

// setChecks compare the records of a set.
var setChecks = []*aCheck{
	{CheckInfo: CheckInfo{Code: "duplicate-id", Name: "id used twice", Severity: kb.FindingError,
		Description: "An id names one record for ever.",
		Advice:      "give the newer record an id of its own"}, set: checkDuplicateID},
	{CheckInfo: CheckInfo{Code: "duplicate-slug", Name: "slug used twice", Severity: kb.FindingError,
		Description: "A slug names one record of its repository; letters' case in the repository's name makes no difference.",
		Advice:      "rename one of them"}, set: checkDuplicateSlug},
	{CheckInfo: CheckInfo{Code: "duplicate-alias", Name: "alias used twice", Severity: kb.FindingError,
		Description: "An alias leads to one record of its repository: it is no other record's slug, id, code or alias.",
		Advice:      "keep it where it is meant"}, set: checkDuplicateAlias},
	{CheckInfo: CheckInfo{Code: "dangling-related", Name: "related record unknown", Severity: kb.FindingError,
		Description: "Each id in related is a record of the set.",
		Advice:      "mend the id or remove it"}, set: checkDanglingRelated},
	{CheckInfo: CheckInfo{Code: "dangling-replaced-by", Name: "replacing record unknown", Severity: kb.FindingError,
		Description: "replacedBy is the id of a record of the set, and following it ends at a record that is not replaced.",
		Advice:      "mend the id or set it to null"}, set: checkDanglingReplaced},
	{CheckInfo: CheckInfo{Code: "pattern-ambiguous", Name: "two records find one text", Severity: kb.FindingWarning,
		Description: "No other record with as much text in its pattern finds this record's examples, so that a paste has one answer. A wrapper around a cause may.",
		Advice:      "make the patterns differ, join the records, or set the role of one of them to wrapper"}, set: checkAmbiguous},
}

// duplicates reports every subject whose key another one has before it.
func (c *collection) duplicates(key func(*subject) string, report func(s, first *subject)) {
	first := map[string]*subject{}
	for _, s := range c.subjects {
		k := key(s)
		if k == "" {
			continue
		}
		if f := first[k]; f != nil {
			report(s, f)
			continue
		}
		first[k] = s
	}
}

func checkDuplicateID(c *collection, report setReporter) {
	c.duplicates(func(s *subject) string { return s.record.ID }, func(s, first *subject) {
		report(s, "id", "%s is the id of %s", s.record.ID, first.source.Path)
	})
}

func checkDuplicateSlug(c *collection, report setReporter) {
	c.duplicates(slugKey, func(s, first *subject) {
		report(s, "slug", "%s is the slug of %s", s.record.Slug, first.source.Path)
	})
}

func slugKey(s *subject) string {
	if s.record.Repo == "" || s.record.Slug == "" {
		return ""
	}
	return strings.ToLower(s.record.Repo) + "\x00" + s.record.Slug
}

func checkDuplicateAlias(c *collection, report setReporter) {
	// Names that lead to a record without its aliases.
	names := map[string]*subject{}
	ids := map[string]*subject{}
	for _, s := range c.subjects {
		repo := strings.ToLower(s.record.Repo) + "\x00"
		for _, name := range []string{s.record.Slug, value(s.record.ErrorCode)} {
			if name != "" && names[repo+name] == nil {
				names[repo+name] = s
			}
		}
		ids[s.record.ID] = s
	}
	taken := map[string]*subject{}
	for _, s := range c.subjects {
		repo := strings.ToLower(s.record.Repo) + "\x00"
		for i, alias := range s.record.Aliases {
			key := repo + alias
			other := taken[key]
			if other == nil || other == s {
				other = names[key]
			}
			if other == nil {
				other = ids[alias]
			}
			if other != nil && other != s {
				report(s, element("aliases", i), "%q leads to %s already", alias, other.source.Path)
			}
			if taken[key] == nil {
				taken[key] = s
			}
		}
	}
}

func (c *collection) byID() map[string]*subject {
	ids := make(map[string]*subject, len(c.subjects))
	for _, s := range c.subjects {
		ids[s.record.ID] = s
	}
	return ids
}

// A record that could not be read may be the one that is missing here, so the
// dangling checks wait until all are read.

func checkDanglingRelated(c *collection, report setReporter) {
	if c.unread {
		return
	}
	ids := c.byID()
	for _, s := range c.subjects {
		for i, id := range s.record.Related {
			if ids[id] == nil {
				report(s, element("related", i), "%q is no record of the set", id)
			}
		}
	}
}

func checkDanglingReplaced(c *collection, report setReporter) {
	if c.unread {
		return
	}
	ids := c.byID()
	for _, s := range c.subjects {
		by := s.record.ReplacedBy
		if by == nil {
			continue
		}
		if ids[*by] == nil {
			report(s, "replacedBy", "%q is no record of the set", *by)
			continue
		}
		seen := map[string]bool{s.record.ID: true}
		for next := ids[*by]; next != nil && next != s && next.record.ReplacedBy != nil; next = ids[*next.record.ReplacedBy] {
			if seen[next.record.ID] {
				break
			}
			seen[next.record.ID] = true
			if *next.record.ReplacedBy == s.record.ID {
				report(s, "replacedBy", "leads back to the record itself by way of %s", next.source.Path)
				break
			}
		}
	}
}

// checkAmbiguous pastes each example and looks who else in its repository finds
// it.
func checkAmbiguous(c *collection, report setReporter) {
	repos := map[string][]*subject{}
	var order []string
	for _, s := range c.subjects {
		if s.pattern == nil || s.record.Status != kb.StatusActive {
			continue
		}
		repo := strings.ToLower(s.record.Repo)
		if repos[repo] == nil {
			order = append(order, repo)
		}
		repos[repo] = append(repos[repo], s)
	}
	for _, repo := range order {
		if len(repos[repo]) > 1 {
			checkAmbiguousIn(repos[repo], report)
		}
	}
}

func checkAmbiguousIn(owners []*subject, report setReporter) {
	patterns := make([]*pattern.Pattern, len(owners))
	length := make([]int, len(owners))
	for i, s := range owners {
		patterns[i], length[i] = s.pattern, s.pattern.LiteralLen()
	}
	index := pattern.Build(patterns)
	for own, s := range owners {
		for i, example := range s.record.Examples.Match {
			place, ok := s.pattern.Match([]byte(example))
			if !ok {
				continue
			}
			index.Find([]byte(example), func(id int, m pattern.Match) bool {
				other := owners[id]
				// Less text of its own, a part of the message, or a wrapper
				// beside a cause: such a match has a place below this one.
				if id == own || length[id] < length[own] || m.End-m.Start < place.End-place.Start ||
					(s.record.Role == kb.RoleWrapper) != (other.record.Role == kb.RoleWrapper) {
					return true
				}
				report(s, element("examples.match", i), "is found by %s as well", other.source.Path)
				return false
			})
		}
	}
}
