// Package store keeps a set of records in SQLite: it looks records up, lists,
// filters and groups them.
//
// Open a store for a data directory, or OpenMemory for one that lives as long
// as the process. What lies in the directory is derived data: a database that
// is damaged, of another schema or of another data set is built anew from the
// records, never repaired or migrated.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"

	"errorkb/internal/kb"

	_ "modernc.org/sqlite" // registers the driver "sqlite"
)

// fileName is the database in a data directory; fileName+sumSuffix holds its
// checksum, in the form that sha256sum -c reads.
const (
	fileName  = "kb.sqlite"
	sumSuffix = ".sum"
)

// Store answers questions about one data set. It is safe for concurrent use,
// and never changes: a new set is a new Store. Close it when the last reader
// is done.
type Store struct {
	db      *sql.DB
	version string
	place   string // of the database, for messages
	file    os.FileInfo
	rebuilt bool
}

// building lets one build run at a time, so that two opens of one directory in
// this process do not write the same file.
var building sync.Mutex

// Open opens the database of set in dir, a data directory made by the caller,
// who also holds its Lock. The database is built first unless the one that is
// there is whole and of the same schema and data set. The new file replaces
// the old one by rename; a Store that has the old one open keeps it.
func Open(ctx context.Context, dir string, set *kb.Set) (*Store, error) {
	building.Lock()
	defer building.Unlock()

	path := filepath.Join(dir, fileName)
	if s, err := openFile(ctx, path, set.Version); err == nil {
		return s, nil
	} else if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err := buildFile(ctx, path, set); err != nil {
		return nil, explain(dir, err)
	}
	s, err := openFile(ctx, path, set.Version)
	if err != nil {
		return nil, explain(dir, err)
	}
	s.rebuilt = true
	return s, nil
}

// memories numbers the databases in memory, whose names must differ.
var memories atomic.Int64

// OpenMemory builds the database of set in memory.
func OpenMemory(ctx context.Context, set *kb.Set) (*Store, error) {
	// The memdb file system shares a database among the connections of a
	// process when its name begins with a slash, as long as one is open.
	name := fmt.Sprintf("file:/kb-%d?vfs=memdb", memories.Add(1))
	writer, err := sql.Open("sqlite", name+"&"+writerOptions)
	if err != nil {
		return nil, fmt.Errorf("open database in memory: %w", err)
	}
	defer writer.Close()
	if err := load(ctx, writer, set); err != nil {
		return nil, err
	}
	return openPool(ctx, name+"&_pragma=query_only(1)", set.Version, "memory")
}

// openFile opens the database at path if it is whole and holds the data set
// that version names.
func openFile(ctx context.Context, path, version string) (*Store, error) {
	if err := verifySum(ctx, path); err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	// immutable: nobody writes to the file, so readers need neither locks nor
	// the -wal and -shm files, whose names a file that is renamed over this
	// one would share.
	s, err := openPool(ctx, dsn(path)+"?mode=ro&immutable=1&_pragma=query_only(1)", version, path)
	if err != nil {
		return nil, err
	}
	s.file = info
	return s, nil
}

// openPool opens every connection of a Store at once and keeps them: one that
// were opened later could meet another file under the same name.
func openPool(ctx context.Context, name, version, place string) (*Store, error) {
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", place, err)
	}
	size := max(4, runtime.GOMAXPROCS(0))
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	s := &Store{db: db, version: version, place: place}
	if err := s.fill(ctx, size); err != nil {
		db.Close()
		return nil, fmt.Errorf("open %s: %w", place, err)
	}
	return s, nil
}

// fill opens size connections and checks that each sees the database of the
// schema and the data set that are wanted.
func (s *Store) fill(ctx context.Context, size int) error {
	conns := make([]*sql.Conn, 0, size)
	defer func() {
		for _, conn := range conns {
			conn.Close()
		}
	}()
	for range size {
		conn, err := s.db.Conn(ctx)
		if err != nil {
			return err
		}
		conns = append(conns, conn)
		if err := checkSchema(ctx, conn); err != nil {
			return err
		}
		var version string
		if err := conn.QueryRowContext(ctx, "SELECT version FROM dataset").Scan(&version); err != nil {
			return err
		}
		if version != s.version {
			return fmt.Errorf("data set %q, want %q", version, s.version)
		}
	}
	return nil
}

// checkSchema makes sure that a database has the schema of this program.
func checkSchema(ctx context.Context, conn interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}) error {
	var application, schema int
	if err := errors.Join(
		conn.QueryRowContext(ctx, "PRAGMA application_id").Scan(&application),
		conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&schema),
	); err != nil {
		return err
	}
	if application != applicationID || schema != schemaVersion {
		return fmt.Errorf("schema %#x version %d, want %#x version %d", application, schema, applicationID, schemaVersion)
	}
	return nil
}

// Version is the version of the data set.
func (s *Store) Version() string { return s.version }

// Rebuilt says whether Open had to write the database.
func (s *Store) Rebuilt() bool { return s.rebuilt }

// Close frees the database. Calls that still run end first.
func (s *Store) Close() error {
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("close %s: %w", s.place, err)
	}
	return nil
}

// failed adds what was asked for to an error of the database and, when the
// file is no longer what was opened, that and what to do.
func (s *Store) failed(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", what, ctx.Err())
	}
	if s.file != nil {
		if now, statErr := os.Stat(s.place); statErr != nil || !os.SameFile(now, s.file) || now.Size() != s.file.Size() || !now.ModTime().Equal(s.file.ModTime()) {
			return fmt.Errorf("%s: %s was changed or removed while it was open; reload or start again to build it anew: %w", what, s.place, err)
		}
	}
	return fmt.Errorf("%s: %w", what, err)
}
