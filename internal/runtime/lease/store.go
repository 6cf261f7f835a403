package lease

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"errorkb/internal/runtime/clock"
	"errorkb/internal/runtime/fault"
)

// Store holds leases in memory and, when it has a directory, each in a file of
// its own there. It is safe for use by several goroutines of one process.
type Store struct {
	// BeforeWrite, when set, is asked before each write; its error makes the
	// write fail. It lets a test break the store.
	BeforeWrite func(l Lease) error

	dir   string
	clock clock.Clock

	mu     sync.Mutex
	leases map[string]Lease
	last   int
}

// Texts of errors of the store.
const (
	msgUnexpected = `Unexpected %s value: %s`                                                                                            // LST-01
	msgConflict   = `Execution workspace %s is already leased by an active run%s; refusing to acquire a concurrent single-flight lease.` // LST-05
	msgCompany    = `The selected environment belongs to another company.`                                                               // LST-06
)

// ErrNotFound is the error for a lease that is not stored.
var ErrNotFound = errors.New("lease not found")

// Keys of errors.
const (
	KeyConflict = "environment_lease_conflict"
	KeyCompany  = "environment_company_mismatch"
)

// Open reads the leases of a directory, which is made when it is missing.
// Without a directory the store lives in memory.
func Open(dir string, c clock.Clock) (*Store, error) {
	s := &Store{dir: dir, clock: c, leases: map[string]Lease{}}
	if c == nil {
		s.clock = clock.Real()
	}
	if dir == "" {
		return s, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("lease store: %w", err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("lease store: %w", err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("lease store: %w", err)
		}
		var l Lease
		if err := json.Unmarshal(data, &l); err != nil {
			return nil, fmt.Errorf("lease store: %s: %w", name, err)
		}
		s.leases[l.ID] = l
		var n int
		if _, err := fmt.Sscanf(l.ID, "lease-%d", &n); err == nil {
			s.last = max(s.last, n)
		}
	}
	return s, nil
}

// Insert stores a new lease under an id of its own. environmentCompany is the
// company that the environment is bound to, "" when it is open to all.
func (s *Store) Insert(l Lease, environmentCompany string) (Lease, error) {
	if environmentCompany != "" && l.CompanyID != environmentCompany {
		return Lease{}, fault.New(msgCompany).WithCode(403).WithKey(KeyCompany)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.Policy == Ephemeral && l.Status == Active && l.ExecutionWorkspaceID != "" {
		for _, other := range s.sorted() {
			if other.Status == Active && other.Policy == Ephemeral && other.ExecutionWorkspaceID == l.ExecutionWorkspaceID &&
				other.HeartbeatRunID != l.HeartbeatRunID {
				run := ""
				if other.HeartbeatRunID != "" {
					run = " (run " + other.HeartbeatRunID + ")"
				}
				return Lease{}, fault.New(msgConflict, l.ExecutionWorkspaceID, run).WithClass(fault.ClassLeaseConflict).WithKey(KeyConflict)
			}
		}
	}
	l = l.clone()
	s.last++
	l.ID = fmt.Sprintf("lease-%d", s.last)
	l.AcquiredAt = s.clock.Now().UTC()
	l.LastUsedAt = l.AcquiredAt
	return l.clone(), s.write(l)
}

// Update changes a stored lease and returns it as it is then.
func (s *Store) Update(id string, change func(*Lease)) (Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.leases[id]
	if !ok {
		return Lease{}, fmt.Errorf("%q: %w", id, ErrNotFound)
	}
	l = l.clone()
	change(&l)
	l.ID = id
	if err := s.write(l); err != nil {
		return Lease{}, err
	}
	return l.clone(), nil
}

// Get returns a lease as it is stored now.
func (s *Store) Get(id string) (Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.leases[id]
	if !ok {
		return Lease{}, fmt.Errorf("%q: %w", id, ErrNotFound)
	}
	return l.clone(), check(l)
}

// List returns the leases that matches accepts, in the order of their ids.
func (s *Store) List(matches func(Lease) bool) ([]Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Lease
	for _, l := range s.sorted() {
		if err := check(l); err != nil {
			return nil, err
		}
		if matches(l) {
			list = append(list, l.clone())
		}
	}
	return list, nil
}

func (s *Store) sorted() []Lease {
	list := make([]Lease, 0, len(s.leases))
	for _, l := range s.leases {
		list = append(list, l)
	}
	slices.SortFunc(list, func(a, b Lease) int {
		return cmp.Or(cmp.Compare(len(a.ID), len(b.ID)), strings.Compare(a.ID, b.ID))
	})
	return list
}

// check refuses a row that somebody else wrote with values that are not known.
func check(l Lease) error {
	switch l.Status {
	case Active, Released, Expired, Failed, Retained, PendingCleanup:
	default:
		return fault.New(msgUnexpected, "status", l.Status)
	}
	switch l.Policy {
	case Ephemeral, ReuseByEnvironment, ReuseByExecutionWorkspace, RetainOnFailure:
	default:
		return fault.New(msgUnexpected, "leasePolicy", l.Policy)
	}
	return nil
}

// write stores a lease, in the file first, so that what is answered is there
// after a restart too.
func (s *Store) write(l Lease) error {
	if s.BeforeWrite != nil {
		if err := s.BeforeWrite(l.clone()); err != nil {
			return err
		}
	}
	if s.dir != "" {
		var b bytes.Buffer
		encoder := json.NewEncoder(&b)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(l); err != nil {
			return fmt.Errorf("lease %q: %w", l.ID, err)
		}
		if err := replace(filepath.Join(s.dir, l.ID+".json"), b.Bytes()); err != nil {
			return fmt.Errorf("lease %q: %w", l.ID, err)
		}
	}
	s.leases[l.ID] = l
	return nil
}

// replace writes a file completely or not at all.
func replace(name string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".writing-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
