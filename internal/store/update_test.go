package store

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"errorkb/internal/kb"
)

// TestUpdateIsBuild changes a set at random, again and again. The database that follows
// it must hold and answer what one that is built of the set does.
func TestUpdateIsBuild(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	words := strings.Fields("disk lease quota storage driver socket worker channel")
	word := func() string { return words[random.IntN(len(words))] }
	list := slices.Concat(smallSet().Records, largeSet(30).Records)
	dir := t.TempDir()
	close(t, open(t, dir, kb.NewSetOf(list...)))
	updates := 0
	for round := range 40 {
		list = slices.Clone(list)
		for range 1 + random.IntN(4) {
			at := random.IntN(len(list))
			r := *list[at]
			switch random.IntN(6) {
			case 0:
				if len(list) > 10 {
					list = slices.Delete(list, at, at+1)
				}
				continue
			case 1:
				r.Tags = []string{word(), word() + "-more"}
			case 2:
				other := list[random.IntN(len(list))]
				if other.ID != r.ID {
					r.Related = []string{other.ID}
				}
			case 3: // two records change their places
				other := *list[(at+1)%len(list)]
				r.Repo, r.Slug, other.Repo, other.Slug = other.Repo, other.Slug, r.Repo, r.Slug
				list[(at+1)%len(list)] = &other
			case 4:
				r.ErrorCode, r.Aliases = ptr("E_"+word()), []string{word() + "-alias"}
				r.Severity = []kb.Severity{kb.SeverityFatal, kb.SeverityError, kb.SeverityInfo}[random.IntN(3)]
			default:
				id := fmt.Sprintf("c%015d", 10*round+random.IntN(10))
				slug := fmt.Sprintf("%s-%d", word(), 10*round+random.IntN(10))
				if slices.ContainsFunc(list, func(r *kb.Record) bool { return r.ID == id || r.Slug == slug }) {
					continue
				}
				list = append(list, sample(id, "acme/"+word(), slug, word()+" broke", nil))
				continue
			}
			list[at] = &r
		}
		// What the checks of records keep from being loaded.
		for i := range list {
			r := *list[i]
			known := func(id string) bool { return slices.ContainsFunc(list, func(r *kb.Record) bool { return r.ID == id }) }
			r.Related = slices.DeleteFunc(slices.Clone(r.Related), func(id string) bool { return !known(id) || id == r.ID })
			if r.ReplacedBy != nil && !known(*r.ReplacedBy) {
				r.ReplacedBy = nil
			}
			list[i] = &r
		}
		set := kb.NewSetOf(list...)
		before := numbers(t, dir)
		s := open(t, dir, set)
		after := numbers(t, dir)
		kept := 0
		for id, num := range before {
			if after[id] == num {
				kept++
			}
		}
		if kept > len(before)*3/4 {
			updates++
		}
		checkWhole(t, s, set)
		fresh := memory(t, set)
		if diff := cmp.Diff(answers(t, fresh, set), answers(t, s, set)); diff != "" {
			t.Fatalf("round %d (-built +updated):\n%s", round, diff)
		}
		if diff := cmp.Diff(rows(t, fresh.db), rows(t, s.db)); diff != "" {
			t.Fatalf("round %d, rows (-built +updated):\n%s", round, diff)
		}
		close(t, s)
	}
	if updates < 36 {
		t.Errorf("%d updates in 40 rounds", updates)
	}
}

// numbers are those of the records in the database of a directory. A build numbers
// them in their order, an update keeps numbers.
func numbers(t *testing.T, dir string) map[string]int {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(filepath.Join(dir, fileName))+"?mode=ro&immutable=1")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("SELECT id, num FROM record")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	all := map[string]int{}
	for rows.Next() {
		var id string
		var num int
		if err := rows.Scan(&id, &num); err != nil {
			t.Fatal(err)
		}
		all[id] = num
	}
	return all
}

// answers are what a store says, in words.
func answers(t *testing.T, s *Store, set *kb.Set) []string {
	t.Helper()
	var all []string
	say := func(what string, answer any, err error) {
		all = append(all, fmt.Sprintf("%s: %+v %v", what, answer, err))
	}
	filters := []kb.Filter{{}, {Tag: "disk"}, {Tag: "lease"}, {Repo: "acme/tool"}, {Class: "LeaseError"}}
	for _, f := range filters {
		for _, f.Sort = range []string{"", "changed", "severity"} {
			f.Limit = 7
			for range 10 {
				page, err := s.List(t.Context(), f)
				say("list", page, err)
				if f.Cursor = page.Next; f.Cursor == "" {
					break
				}
			}
			f.Cursor = ""
		}
		for _, kind := range []kb.GroupKind{kb.GroupRepo, kb.GroupSeverity, kb.GroupTag, kb.GroupClass, kb.GroupStatus, kb.GroupBackground, kb.GroupCode} {
			groups, err := s.Groups(t.Context(), kind, f)
			say("groups "+string(kind), groups, err)
		}
	}
	for _, r := range set.Records {
		related, err := s.Related(t.Context(), r.ID)
		say("related to "+r.ID, related, err)
		for _, n := range namesOf(r) {
			id, err := s.Resolve(t.Context(), n.name)
			say("name "+n.name, id, err)
		}
	}
	err := s.All(t.Context(), func(r *kb.Record) error {
		all = append(all, string(r.Canonical()))
		return nil
	})
	say("all", nil, err)
	return all
}

// rows are the rows of all tables, with the ids of records for their numbers.
func rows(t *testing.T, db *sql.DB) []string {
	t.Helper()
	const id = "(SELECT id FROM record AS named WHERE named.num = %s)"
	num, other := fmt.Sprintf(id, "one.num"), fmt.Sprintf(id, "one.other")
	var all []string
	for _, query := range []string{
		"SELECT version FROM dataset",
		"SELECT id, repo, slug, class, code, background, severity, status, rank, title, newest, item, hex(sum) FROM record ORDER BY 1",
		"SELECT " + num + ", json FROM document AS one ORDER BY 1",
		"SELECT " + num + ", tag FROM tag AS one ORDER BY 1, 2",
		"SELECT " + num + ", folded, kind, name FROM name AS one ORDER BY 1, 2, 3, 4",
		"SELECT " + num + ", position, " + other + ", why FROM related AS one ORDER BY 1, 2",
	} {
		found, err := db.Query(query)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		defer found.Close()
		columns, err := found.Columns()
		if err != nil {
			t.Fatal(err)
		}
		before := len(all)
		for found.Next() {
			values := make([]sql.NullString, len(columns))
			into := make([]any, len(columns))
			for i := range values {
				into[i] = &values[i]
			}
			if err := found.Scan(into...); err != nil {
				t.Fatal(err)
			}
			all = append(all, fmt.Sprint(values))
		}
		if err := found.Err(); err != nil || len(all) == before {
			t.Fatalf("%s: %d rows, %v", query, len(all)-before, err)
		}
	}
	return all
}
