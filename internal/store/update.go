package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"errorkb/internal/kb"
)

// errUpdate says that a database is rather built anew.
var errUpdate = errors.New("no update of this database")

// copyFile copies the database at path, which must be whole.
func copyFile(ctx context.Context, path, aside string) error {
	if err := verifySum(ctx, path); err != nil {
		return err
	}
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close() // it was only read
	to, err := os.OpenFile(aside, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}

// kept is what a database knows of a record.
type kept struct {
	num int
	sum kb.Sum
}

// update makes a database that of set, in one transaction: records whose sum is the
// same stay as they are, and keep their number. When most are others, that is no gain
// and it gives errUpdate, and so it does when the schema is another one.
//
// The connection must not look after foreign keys: a record that changes is taken out
// and put in again. They are checked at the end.
func update(ctx context.Context, db *sql.DB, set *kb.Set) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin update: %w", err)
	}
	defer tx.Rollback() // does nothing after Commit
	old, err := readKept(ctx, tx)
	if err != nil {
		return err
	}
	numbers := make(map[string]int, len(set.Records))
	var fresh []int // places in the set
	stale := []int{}
	next := 1
	for _, k := range old {
		next = max(next, k.num+1)
	}
	for i, r := range set.Records {
		k, known := old[r.ID]
		delete(old, r.ID)
		switch {
		case !known:
			k.num, next = next, next+1
			fresh = append(fresh, i)
		case k.sum != set.Sums[i]:
			stale = append(stale, k.num)
			fresh = append(fresh, i)
		}
		numbers[r.ID] = k.num
	}
	if len(fresh) > len(set.Records)/2 {
		return fmt.Errorf("%d of %d records have changed: %w", len(fresh), len(set.Records), errUpdate)
	}
	for _, k := range old {
		stale = append(stale, k.num)
	}
	list, err := json.Marshal(stale)
	if err != nil {
		return err
	}
	for _, table := range []string{"document", "tag", "name", "related", "record"} {
		if _, err := tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE num IN (SELECT value FROM json_each(?))", string(list)); err != nil {
			return fmt.Errorf("take out of %s: %w", table, err)
		}
	}
	stamped, err := tx.ExecContext(ctx, "UPDATE dataset SET version = ?", set.Version)
	if err != nil {
		return fmt.Errorf("stamp data set: %w", err)
	}
	if n, err := stamped.RowsAffected(); n != 1 {
		return errors.Join(errUpdate, err)
	}
	l, err := newLoader(ctx, tx, numbers)
	if err != nil {
		return err
	}
	for _, i := range fresh {
		if err := l.record(ctx, set.Records[i], set.Sums[i]); err != nil {
			return err
		}
	}
	if err := l.updateRelated(ctx, tx, set); err != nil {
		return err
	}
	var table string
	switch err := tx.QueryRowContext(ctx, "SELECT \"table\" FROM pragma_foreign_key_check LIMIT 1").Scan(&table); {
	case err == nil:
		return fmt.Errorf("%s holds a number that is no record's", table)
	case !errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("check numbers: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit update: %w", err)
	}
	return nil
}

// readKept reads what the database knows, by id.
func readKept(ctx context.Context, tx *sql.Tx) (map[string]kept, error) {
	if err := checkSchema(ctx, tx); err != nil {
		return nil, errors.Join(errUpdate, err)
	}
	rows, err := tx.QueryContext(ctx, "SELECT id, num, sum FROM record")
	if err != nil {
		return nil, fmt.Errorf("read sums: %w", err)
	}
	defer rows.Close()
	all := map[string]kept{}
	for rows.Next() {
		var id string
		var k kept
		var sum sql.RawBytes
		if err := rows.Scan(&id, &k.num, &sum); err != nil {
			return nil, fmt.Errorf("read sums: %w", err)
		}
		copy(k.sum[:], sum)
		all[id] = k
	}
	return all, rows.Err()
}

// relation is a row of the table of relations.
type relation struct {
	other int
	why   string
}

// updateRelated writes the relations that differ.
func (l *loader) updateRelated(ctx context.Context, tx *sql.Tx, set *kb.Set) error {
	rows, err := tx.QueryContext(ctx, "SELECT num, other, why FROM related ORDER BY num, position")
	if err != nil {
		return fmt.Errorf("read relations: %w", err)
	}
	defer rows.Close()
	old := map[int][]relation{}
	for rows.Next() {
		var num int
		var r relation
		if err := rows.Scan(&num, &r.other, &r.why); err != nil {
			return fmt.Errorf("read relations: %w", err)
		}
		old[num] = append(old[num], r)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read relations: %w", err)
	}
	all := kb.Related(set.Records, maxRelated)
	for _, r := range set.Records {
		num := l.numbers[r.ID]
		if slices.EqualFunc(old[num], all[r.ID], func(a relation, b kb.Relation) bool { return a.other == l.numbers[b.ID] && a.why == b.Why }) {
			continue
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM related WHERE num = ?", num); err != nil {
			return fmt.Errorf("take out relations of record %s: %w", r.ID, err)
		}
		if err := l.related(ctx, r, all[r.ID]); err != nil {
			return err
		}
	}
	return nil
}
