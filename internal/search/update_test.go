package search

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"errorkb/internal/kb"
)

// TestUpdateIsBuild changes a set at random, again and again. The index that follows
// it must find, score, count and show what one that is built of the set does, words of
// records that are gone included: they must leave no trace in what a misspelt or
// unfinished word may mean.
func TestUpdateIsBuild(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("deadlock detected timeout connection certificate refused channel driver socket quota lifetime borrowed entity missing worker")
	set := testSet(t)
	dir := t.TempDir()
	close(t, open(t, dir, set))
	updates := 0
	for round := range 24 {
		list := slices.Clone(set.Records)
		for range 1 + random.IntN(3) {
			at := random.IntN(len(list))
			word := fmt.Sprintf("%s%d", words[random.IntN(len(words))], random.IntN(4))
			switch random.IntN(3) {
			case 0:
				if len(list) > 8 {
					list = slices.Delete(list, at, at+1)
				}
			case 1:
				r := *list[at]
				r.Documentation += " " + word
				r.Tags = append(slices.Clone(r.Tags), word)
				list[at] = &r
			default:
				n := 1000 + 10*round + random.IntN(10)
				if !slices.ContainsFunc(list, func(r *kb.Record) bool { return r.ID == fmt.Sprintf("%016x", 0xc0de0000+n) }) {
					list = append(list, made(n, "acme/more", fmt.Sprintf("slug-%d", n), word+" is broken", func(*kb.Record) {}))
				}
			}
		}
		before := set
		set = kb.NewSetOf(list...)
		changed := 0
		for i, r := range set.Records {
			if j := slices.Index(before.Sums, set.Sums[i]); j < 0 || before.Records[j].ID != r.ID {
				changed++
			}
		}
		indexed := 0
		x, err := Open(t.Context(), dir, set, func(_, total int) { indexed = total })
		if err != nil {
			t.Fatal(err)
		}
		fresh := open(t, t.TempDir(), set)
		if x.Rebuilt() && indexed == max(changed, 1) {
			updates++
		} else if x.Rebuilt() {
			t.Errorf("round %d: %d documents were indexed, %d changed", round, indexed, changed)
		}
		checkSame(t, fmt.Sprintf("round %d", round), x, fresh, words)
		close(t, x)
		close(t, fresh)
	}
	if updates < 18 {
		t.Errorf("%d updates in 24 rounds", updates)
	}
}

// checkSame compares what two indexes answer.
func checkSame(t *testing.T, name string, x, fresh *Index, words []string) {
	t.Helper()
	found := 0
	for i, word := range words {
		for _, text := range []string{
			word, word + "1", word[:len(word)-2], // an unfinished word
			word[:2] + word[3:],             // a misspelt one
			word[:1] + "x" + word[2:] + "2", // the same
			word + " " + words[(i+3)%len(words)], `"` + word + "0 is broken\"",
		} {
			q := kb.Query{Text: text, Limit: 30}
			got, want := find(t, x, q), find(t, fresh, q)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s: %q (-built +updated):\n%s", name, text, diff)
			}
			found += len(want.Hits)
		}
	}
	if found < 50 {
		t.Errorf("%s: only %d hits were compared", name, found)
	}
}

// What an update cannot start from is built anew.
func TestUpdateNeedsAWholeIndex(t *testing.T) {
	set := testSet(t)
	changed := *set.Records[0]
	changed.Documentation += " It is flabbergasted."
	next := kb.NewSetOf(append(slices.Clone(set.Records[1:]), &changed)...)
	for name, damage := range map[string]func(t *testing.T, dir string) error{
		"segment":   func(_ *testing.T, dir string) error { return flip(filepath.Join(dir, dirName, segmentName)) },
		"documents": func(_ *testing.T, dir string) error { return flip(filepath.Join(dir, dirName, docsName)) },
		"no list":   func(_ *testing.T, dir string) error { return os.Remove(filepath.Join(dir, dirName, docsName)) },
		"no stamp":  func(_ *testing.T, dir string) error { return os.Remove(filepath.Join(dir, dirName, stampName)) },
		"nothing":   func(_ *testing.T, dir string) error { return os.RemoveAll(filepath.Join(dir, dirName)) },
		"whole":     func(*testing.T, string) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			close(t, open(t, dir, set))
			if err := damage(t, dir); err != nil {
				t.Fatal(err)
			}
			indexed := 0
			x, err := Open(t.Context(), dir, next, func(_, total int) { indexed = total })
			if err != nil {
				t.Fatal(err)
			}
			defer close(t, x)
			want := len(next.Records)
			if name == "whole" {
				want = 1
			}
			if indexed != want {
				t.Errorf("%d documents were indexed, want %d", indexed, want)
			}
			if r := find(t, x, kb.Query{Text: "flabbergasted"}); r.Total != 1 || r.Hits[0].ID != changed.ID {
				t.Errorf("the changed record: %+v", r)
			}
		})
	}
}

// flip changes a byte in the middle of a file.
func flip(name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	data[len(data)/2] ^= 1
	return os.WriteFile(name, data, 0o600)
}
