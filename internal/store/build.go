package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"errorkb/internal/kb"
)

//go:embed schema.sql
var schema string

const (
	applicationID = 0x6b62 // "kb", in the header of the file
	schemaVersion = 2      // of schema.sql and of what load puts into its columns
)

// The options of the one connection that writes a database: updateOptions when it is
// that of an older set.
const (
	updateOptions = "_pragma=journal_mode(WAL)&_pragma=busy_timeout(5000)&_txlock=immediate"
	writerOptions = updateOptions + "&_pragma=foreign_keys(1)"
)

// maxRelated is the number of related records kept for each record: what a
// reader looks through at the foot of a page.
const maxRelated = 8

// step is called between the steps of a build; tests stop there.
var step = func(name string) {}

// dsn is path as SQLite's file URI.
func dsn(path string) string {
	return "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()
}

// buildFile makes the database of set aside, of the one at path when it can, and
// renames it to path. Whatever moment it ends at, what lies at path is whole or fails
// verifySum.
func buildFile(ctx context.Context, path string, set *kb.Set) error {
	aside := path + ".new"
	clean := func() error { return removeAll(aside, aside+"-wal", aside+"-shm", aside+sumSuffix) }
	if err := clean(); err != nil {
		return err
	}
	err := copyFile(ctx, path, aside)
	if err == nil {
		err = writeFile(ctx, aside, updateOptions, set, update)
	}
	if err != nil {
		// Whatever the reason: building needs nothing of the old one.
		if err := clean(); err != nil {
			return err
		}
		err = createFile(aside)
		if err == nil {
			err = writeFile(ctx, aside, writerOptions, set, load)
		}
	}
	if err == nil {
		err = writeSum(ctx, aside, filepath.Base(path))
	}
	if err != nil {
		clean() // best effort: the next build does it again
		return err
	}
	step("summed")
	if err := os.Rename(aside, path); err != nil {
		return err
	}
	step("renamed")
	if err := os.Rename(aside+sumSuffix, path+sumSuffix); err != nil {
		return err
	}
	// Logs by this name were left by another program and belong to no file.
	if err := removeAll(path+"-wal", path+"-shm"); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// createFile makes an empty file, readable by its owner only.
func createFile(name string) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// writeFile has the database in a file written over one connection.
func writeFile(ctx context.Context, name, options string, set *kb.Set, write func(context.Context, *sql.DB, *kb.Set) error) error {
	step("created")
	db, err := sql.Open("sqlite", dsn(name)+"?"+options)
	if err != nil {
		return err
	}
	if err := write(ctx, db, set); err != nil {
		db.Close()
		return err
	}
	step("loaded")
	// Closing the only connection moves the log into the file as well, and removes it,
	// but does not say why it cannot.
	if _, err := db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		db.Close()
		return fmt.Errorf("move the write-ahead log into the file: %w", err)
	}
	if err := db.Close(); err != nil {
		return err
	}
	if _, err := os.Stat(name + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write-ahead log of %s is still there after closing it", name)
	}
	return nil
}

// load creates the schema and puts the whole set in, in one transaction.
func load(ctx context.Context, db *sql.DB, set *kb.Set) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin load: %w", err)
	}
	defer tx.Rollback() // does nothing after Commit
	if _, err := tx.ExecContext(ctx, schema); err != nil {
		return fmt.Errorf("create schema: %w", err)
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, schemaVersion)); err != nil {
		return fmt.Errorf("stamp schema: %w", err)
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO dataset (one, version) VALUES (1, ?)", set.Version); err != nil {
		return fmt.Errorf("stamp data set: %w", err)
	}
	numbers := make(map[string]int, len(set.Records))
	for i, r := range set.Records {
		numbers[r.ID] = i + 1
	}
	l, err := newLoader(ctx, tx, numbers)
	if err != nil {
		return err
	}
	for i, r := range set.Records {
		if err := l.record(ctx, r, set.Sums[i]); err != nil {
			return err
		}
		if i == len(set.Records)/2 {
			step("half")
		}
	}
	related := kb.Related(set.Records, maxRelated)
	for _, r := range set.Records {
		if err := l.related(ctx, r, related[r.ID]); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, "PRAGMA optimize"); err != nil {
		return fmt.Errorf("analyse: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit load: %w", err)
	}
	return nil
}

// loader holds the prepared statements of one load.
type loader struct {
	numbers                            map[string]int // id → num
	insertRecord, insertDocument       *sql.Stmt
	insertTag, insertName, insertOther *sql.Stmt
}

func newLoader(ctx context.Context, tx *sql.Tx, numbers map[string]int) (*loader, error) {
	l := &loader{numbers: numbers}
	for _, s := range []struct {
		to  **sql.Stmt
		sql string
	}{
		{&l.insertRecord, `INSERT INTO record (num, id, repo, slug, class, code, background, severity, status, rank, title, newest, item, sum)
			VALUES (?, ?, ?, ?, NULLIF(?, ''), NULLIF(?, ''), NULLIF(?, ''), ?, ?, ?, ?, ?, ?, ?)`},
		{&l.insertDocument, "INSERT INTO document (num, json) VALUES (?, ?)"},
		{&l.insertTag, "INSERT OR IGNORE INTO tag (tag, num) VALUES (?, ?)"},
		{&l.insertName, "INSERT OR IGNORE INTO name (folded, kind, num, name) VALUES (?, ?, ?, ?)"},
		{&l.insertOther, "INSERT INTO related (num, position, other, why) VALUES (?, ?, ?, ?)"},
	} {
		stmt, err := tx.PrepareContext(ctx, s.sql)
		if err != nil {
			return nil, fmt.Errorf("prepare load: %w", err)
		}
		*s.to = stmt // closed with the transaction
	}
	return l, nil
}

func (l *loader) record(ctx context.Context, r *kb.Record, sum kb.Sum) error {
	if err := l.rows(ctx, l.numbers[r.ID], r, sum); err != nil {
		return fmt.Errorf("load record %s %s/%s: %w", r.ID, r.Repo, r.Slug, err)
	}
	return nil
}

func (l *loader) rows(ctx context.Context, num int, r *kb.Record, sum kb.Sum) error {
	var newest int64 // a time that does not parse counts as old, as in the version of the set
	if changed, err := time.Parse(time.RFC3339Nano, r.ContentChangedAt); err == nil {
		newest = -changed.UnixMicro()
	}
	item, err := json.Marshal(itemOf(r))
	if err != nil {
		return err
	}
	if _, err := l.insertRecord.ExecContext(ctx, num, r.ID, r.Repo, r.Slug, r.ErrorClass, r.ErrorCode, r.BackgroundTag,
		r.Severity, r.Status, severityRank(r.Severity), sortKey(r.Title()), newest, string(item), sum[:]); err != nil {
		return err
	}
	if _, err := l.insertDocument.ExecContext(ctx, num, string(r.Canonical())); err != nil {
		return err
	}
	for _, tag := range r.Tags {
		if _, err := l.insertTag.ExecContext(ctx, tag, num); err != nil {
			return err
		}
	}
	for _, n := range namesOf(r) {
		if _, err := l.insertName.ExecContext(ctx, fold(n.name), n.kind, num, n.name); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) related(ctx context.Context, r *kb.Record, relations []kb.Relation) error {
	for i, relation := range relations {
		other, ok := l.numbers[relation.ID]
		if !ok {
			return fmt.Errorf("relations of record %s: %q is not in the set", r.ID, relation.ID)
		}
		if _, err := l.insertOther.ExecContext(ctx, l.numbers[r.ID], i, other, relation.Why); err != nil {
			return fmt.Errorf("load relations of record %s: %w", r.ID, err)
		}
	}
	return nil
}

func itemOf(r *kb.Record) kb.Item {
	return kb.Item{
		ID: r.ID, Repo: r.Repo, Slug: r.Slug, Title: r.Title(),
		Severity: r.Severity, Role: r.Role, Status: r.Status, Review: r.Review,
		ErrorClass: value(r.ErrorClass), ErrorCode: value(r.ErrorCode),
		Tags: r.Tags, Background: value(r.BackgroundTag), Summary: kb.Summary(r.Documentation),
		ContentChangedAt: r.ContentChangedAt, FirstPublishedAt: r.FirstPublishedAt,
	}
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func severityRank(s kb.Severity) int {
	for i, known := range []kb.Severity{kb.SeverityFatal, kb.SeverityError, kb.SeverityWarning} {
		if s == known {
			return i
		}
	}
	return 3
}

// sortKey is what titles are sorted by: a reader looks for the first word,
// whatever its case and the quotes or braces in front of it.
func sortKey(title string) string {
	trimmed := strings.TrimLeftFunc(title, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if trimmed == "" {
		trimmed = title
	}
	return fold(trimmed)
}

func fold(s string) string { return strings.ToLower(s) }

// writeSum writes the checksum of the file at path beside it, under the name
// that the file will have, and makes both durable.
func writeSum(ctx context.Context, path, name string) error {
	sum, err := fileSum(ctx, path)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path+sumSuffix, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s  %s\n", sum, name)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	db, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(db.Sync(), db.Close())
}

// verifySum fails unless the file at path is, byte for byte, the one whose
// checksum lies beside it. That finds a build that was cut short, damage that
// SQLite's own checks cannot see, and changes by other programs.
func verifySum(ctx context.Context, path string) error {
	line, err := os.ReadFile(path + sumSuffix)
	if err != nil {
		return err
	}
	sum, err := fileSum(ctx, path)
	if err != nil {
		return err
	}
	if want := sum + "  " + filepath.Base(path) + "\n"; string(line) != want {
		return fmt.Errorf("checksum of %s does not match %s", path, path+sumSuffix)
	}
	return nil
}

func fileSum(ctx context.Context, path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	buf := make([]byte, 256<<10)
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		n, err := f.Read(buf)
		h.Write(buf[:n])
		if err == io.EOF {
			return hex.EncodeToString(h.Sum(nil)), nil
		}
		if err != nil {
			return "", err
		}
	}
}

// removeAll removes the files that are there, up to the first failure.
func removeAll(paths ...string) error {
	for _, path := range paths {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
