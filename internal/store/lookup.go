package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"errorkb/internal/kb"
)

// The kinds of name that lead to a record, strongest first: a current name
// beats an earlier one, and a name beats a code, which several may share.
const (
	nameID    = iota
	namePath  // owner/repo/slug
	nameSlug  // unique in its repository only
	nameAlias // earlier slugs, other codes and names
	nameCode
)

type name struct {
	kind int
	name string
}

func namesOf(r *kb.Record) []name {
	names := []name{
		{nameID, r.ID},
		{namePath, r.Repo + "/" + r.Slug},
		{nameSlug, r.Slug},
	}
	for _, alias := range r.Aliases {
		names = append(names, name{nameAlias, alias})
	}
	if code := value(r.ErrorCode); code != "" {
		names = append(names, name{nameCode, code})
	}
	return names
}

// Record returns the record with an id, or an error that wraps kb.ErrNotFound.
func (s *Store) Record(ctx context.Context, id string) (*kb.Record, error) {
	return s.one(ctx, fmt.Sprintf("record %.40q", id), "record.id = ?", id)
}

// BySlug returns the record with a slug in a repository, or an error that
// wraps kb.ErrNotFound.
func (s *Store) BySlug(ctx context.Context, repo, slug string) (*kb.Record, error) {
	return s.one(ctx, fmt.Sprintf("record %.80q in %.80q", slug, repo), "record.repo = ? AND record.slug = ?", repo, slug)
}

func (s *Store) one(ctx context.Context, what, where string, args ...any) (*kb.Record, error) {
	var text []byte
	err := s.db.QueryRowContext(ctx, "SELECT json FROM record JOIN document USING (num) WHERE "+where, args...).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("%s: %w", what, kb.ErrNotFound)
	}
	if err != nil {
		return nil, s.failed(ctx, what, err)
	}
	r := new(kb.Record)
	if err := json.Unmarshal(text, r); err != nil {
		return nil, s.failed(ctx, what, err)
	}
	return r, nil
}

// Resolve returns the id of the record that key names: an id, owner/repo/slug,
// a slug, an alias or an error code. The first kind that fits decides; within
// it, upper and lower case matter only where the name would otherwise fit
// several records. A key that still fits several, or none, gives an error that
// wraps kb.ErrNotFound and says so. A retired record is found by its own id;
// replacedBy is not followed.
func (s *Store) Resolve(ctx context.Context, key string) (string, error) {
	what := fmt.Sprintf("record %.80q", key)
	rows, err := s.db.QueryContext(ctx,
		`SELECT name.kind, name.name = ?, record.id FROM name JOIN record USING (num)
		WHERE name.folded = ? ORDER BY 1, 2 DESC, record.repo, record.slug, record.id`, key, fold(key))
	if err != nil {
		return "", s.failed(ctx, what, err)
	}
	defer rows.Close()
	var ids []string
	var bestKind int
	var bestExact bool
	for rows.Next() {
		var kind int
		var exact bool
		var id string
		if err := rows.Scan(&kind, &exact, &id); err != nil {
			return "", s.failed(ctx, what, err)
		}
		if len(ids) == 0 {
			bestKind, bestExact = kind, exact
		}
		if kind != bestKind || exact != bestExact {
			break
		}
		if len(ids) == 0 || ids[len(ids)-1] != id {
			ids = append(ids, id)
		}
	}
	if err := rows.Err(); err != nil {
		return "", s.failed(ctx, what, err)
	}
	switch len(ids) {
	case 0:
		return "", fmt.Errorf("%s: %w", what, kb.ErrNotFound)
	case 1:
		return ids[0], nil
	}
	const shown = 5
	list := strings.Join(ids[:min(shown, len(ids))], ", ")
	if len(ids) > shown {
		list += ", …"
	}
	return "", fmt.Errorf("%s: the name fits %d records (%s), ask for one of them: %w", what, len(ids), list, kb.ErrNotFound)
}

// Related lists the records related to the one with an id, the author's choice
// first. It is empty for an id that is not there.
func (s *Store) Related(ctx context.Context, id string) ([]kb.RelatedItem, error) {
	what := fmt.Sprintf("records related to %.40q", id)
	rows, err := s.db.QueryContext(ctx,
		`SELECT other.item, related.why FROM record
		JOIN related USING (num) JOIN record AS other ON other.num = related.other
		WHERE record.id = ? ORDER BY related.position`, id)
	if err != nil {
		return nil, s.failed(ctx, what, err)
	}
	defer rows.Close()
	var items []kb.RelatedItem
	for rows.Next() {
		var text []byte
		var item kb.RelatedItem
		if err := errors.Join(rows.Scan(&text, &item.Why)); err != nil {
			return nil, s.failed(ctx, what, err)
		}
		if err := json.Unmarshal(text, &item.Item); err != nil {
			return nil, s.failed(ctx, what, err)
		}
		items = append(items, item)
	}
	if err := rows.Err(); err != nil {
		return nil, s.failed(ctx, what, err)
	}
	return items, nil
}

// All calls yield with every record, in order of repository and slug, until
// it returns an error, which All returns as it is.
func (s *Store) All(ctx context.Context, yield func(*kb.Record) error) error {
	const what = "all records"
	rows, err := s.db.QueryContext(ctx, "SELECT json FROM record JOIN document USING (num) ORDER BY record.repo, record.slug, record.id")
	if err != nil {
		return s.failed(ctx, what, err)
	}
	defer rows.Close()
	for rows.Next() {
		var text sql.RawBytes
		if err := rows.Scan(&text); err != nil {
			return s.failed(ctx, what, err)
		}
		r := new(kb.Record)
		if err := json.Unmarshal(text, r); err != nil {
			return s.failed(ctx, what, err)
		}
		if err := yield(r); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return s.failed(ctx, what, err)
	}
	return nil
}
