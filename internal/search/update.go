package search

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"errorkb/internal/kb"

	zap "github.com/blevesearch/zapx/v17"
)

// docsName lists the documents of an index, each as the id of its record and the sum
// of the record, one a line. It tells what an index has to change to become that of
// another set.
const docsName = "documents"

// Bleve's builder makes an index of one segment, a file of this name. An index is
// updated by merging that of the changed records with the old one without them, as
// the builder merges the parts of a large set: what comes of it has no trace of the
// documents that are gone, so that it finds and scores as one that is built.
var segmentName = filepath.Join("store", "000000000002.zap")

// errUpdate says that an index is rather built anew.
var errUpdate = errors.New("no update of this index")

// fillFromOld makes in aside the index of set, of the one at path and the records
// that have changed since. When most have, that is no gain and it gives errUpdate,
// and so it does when the old index is not whole or of another mapping.
func fillFromOld(ctx context.Context, path, aside string, set *kb.Set, progress func(done, total int)) error {
	if _, err := readStamp(ctx, path); err != nil {
		return errors.Join(errUpdate, err)
	}
	old, err := readDocuments(path)
	if err != nil {
		return errors.Join(errUpdate, err)
	}
	changed := &kb.Set{}
	var stale []string // documents of the old index
	for i, r := range set.Records {
		if sum, ok := old[r.ID]; ok && sum == set.Sums[i] {
			delete(old, r.ID)
			continue
		}
		changed.Records = append(changed.Records, r)
	}
	for id := range old {
		stale = append(stale, id)
	}
	if len(changed.Records) > len(set.Records)/2 {
		return fmt.Errorf("%d of %d records have changed: %w", len(changed.Records), len(set.Records), errUpdate)
	}
	if len(changed.Records) == 0 { // the builder needs a document
		changed.Records = set.Records[:1]
		stale = append(stale, set.Records[0].ID)
	}
	if err := build(ctx, aside, changed, progress); err != nil {
		return err
	}
	merged := filepath.Join(aside, "merged")
	if err := merge(ctx, filepath.Join(path, segmentName), filepath.Join(aside, segmentName), stale, merged); err != nil {
		return fmt.Errorf("update index: %w", err)
	}
	return os.Rename(merged, filepath.Join(aside, segmentName))
}

// merge writes a segment of an old one, without the documents that are stale, and of
// a new one.
func merge(ctx context.Context, oldPath, newPath string, stale []string, path string) (err error) {
	var plugin zap.ZapPlugin
	from, err := plugin.Open(oldPath)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	add, err := plugin.Open(newPath)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, add.Close()) }()
	drop, err := from.DocNumbers(stale)
	if err != nil {
		return err
	}
	if n := int(drop.GetCardinality()); n != len(stale) {
		return fmt.Errorf("%d of %d changed documents are in the old index", n, len(stale))
	}
	ended := make(chan struct{}, 1)
	defer context.AfterFunc(ctx, func() { ended <- struct{}{} })()
	_, _, err = plugin.Merge(listOf(from, add), listOf(drop, nil), path, ended, nil)
	return errors.Join(ctx.Err(), err)
}

// listOf spares the names of the types of Bleve's parts.
func listOf[T any](elements ...T) []T { return elements }

// writeDocuments writes the list of documents into an index.
func writeDocuments(dir string, set *kb.Set) error {
	var b strings.Builder
	for i, r := range set.Records {
		b.WriteString(r.ID + " " + hex.EncodeToString(set.Sums[i][:]) + "\n")
	}
	return os.WriteFile(filepath.Join(dir, docsName), []byte(b.String()), 0o600)
}

// readDocuments reads the list.
func readDocuments(dir string) (map[string]kb.Sum, error) {
	text, err := os.ReadFile(filepath.Join(dir, docsName))
	if err != nil {
		return nil, err
	}
	docs := map[string]kb.Sum{}
	for line := range strings.Lines(string(text)) {
		id, digits, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		var sum kb.Sum
		if n, err := hex.Decode(sum[:], []byte(digits)); err != nil || n != len(sum) {
			return nil, fmt.Errorf("list of documents: %q is no sum", digits)
		}
		docs[id] = sum
	}
	return docs, nil
}
