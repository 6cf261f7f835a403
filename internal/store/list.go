package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"errorkb/internal/kb"
)

// orders are the columns that a list is sorted by, all ascending. The id,
// unique, follows as the last one.
var orders = map[string]string{
	"title":    "title",
	"changed":  "newest, title",
	"severity": "rank, title",
}

// conditions turns the filter into an SQL condition on record.
func conditions(f kb.Filter) (where string, args []any) {
	var parts []string
	for _, c := range []struct{ column, value string }{
		{"record.repo", f.Repo},
		{"record.severity", f.Severity},
		{"record.class", f.Class},
		{"record.code", f.Code},
		{"record.status", f.Status},
		{"record.background", f.Background},
	} {
		if c.value != "" {
			parts = append(parts, c.column+" = ?")
			args = append(args, c.value)
		}
	}
	if f.Tag != "" {
		parts = append(parts, "record.num IN (SELECT tag.num FROM tag WHERE tag.tag = ?)")
		args = append(args, f.Tag)
	}
	if len(parts) == 0 {
		return "TRUE", nil
	}
	return strings.Join(parts, " AND "), args
}

// List returns one page of the records that the filter selects. An unknown
// sort or a negative number gives an error that wraps kb.ErrBadQuery; a cursor
// of another list, or together with an offset, one that wraps kb.ErrBadCursor.
func (s *Store) List(ctx context.Context, f kb.Filter) (kb.Page, error) {
	const what = "list of records"
	if f.Sort == "" {
		f.Sort = "title"
	}
	by, ok := orders[f.Sort]
	if !ok {
		return kb.Page{}, fmt.Errorf("%s: sort %.40q: %w", what, f.Sort, kb.ErrBadQuery)
	}
	if f.Limit < 0 || f.Offset < 0 {
		return kb.Page{}, fmt.Errorf("%s: limit %d, offset %d: %w", what, f.Limit, f.Offset, kb.ErrBadQuery)
	}
	if f.Limit == 0 {
		f.Limit = kb.DefaultLimit
	}
	f.Limit = min(f.Limit, kb.MaxLimit)

	where, args := conditions(f)
	var page kb.Page
	if err := s.db.QueryRowContext(ctx, "SELECT count(*) FROM record WHERE "+where, args...).Scan(&page.Total); err != nil {
		return kb.Page{}, s.failed(ctx, what, err)
	}
	if f.Cursor != "" {
		after, afterArgs, err := s.after(ctx, f, by)
		if err != nil {
			return kb.Page{}, err
		}
		where += " AND " + after
		args = append(args, afterArgs...)
	}
	// One row more than wanted tells whether there is a next page.
	rows, err := s.db.QueryContext(ctx,
		"SELECT item FROM record WHERE "+where+" ORDER BY "+by+", id LIMIT ? OFFSET ?",
		append(args, f.Limit+1, f.Offset)...)
	if err != nil {
		return kb.Page{}, s.failed(ctx, what, err)
	}
	defer rows.Close()
	for rows.Next() {
		var text sql.RawBytes
		var item kb.Item
		if err := rows.Scan(&text); err != nil {
			return kb.Page{}, s.failed(ctx, what, err)
		}
		if err := json.Unmarshal(text, &item); err != nil {
			return kb.Page{}, s.failed(ctx, what, err)
		}
		page.Items = append(page.Items, item)
	}
	if err := rows.Err(); err != nil {
		return kb.Page{}, s.failed(ctx, what, err)
	}
	if len(page.Items) > f.Limit {
		page.Items = page.Items[:f.Limit]
		page.Next = cursor(f, page.Items[f.Limit-1].ID)
	}
	return page, nil
}

// cursorTag is the length of the part of a cursor that binds it to its list.
const cursorTag = 8

// cursor names the place in a list behind the record with an id. It holds the
// id only, so it survives a new data set.
func cursor(f kb.Filter, id string) string {
	f.Limit, f.Offset, f.Cursor = 0, 0, ""
	tag := sha256.Sum256(fmt.Appendf(nil, "%#v %s", f, id)) // %#v quotes the fields
	return base64.RawURLEncoding.EncodeToString(append(tag[:cursorTag], id...))
}

// after is the condition that a record comes behind the cursor of the filter
// in the order of the columns by.
func (s *Store) after(ctx context.Context, f kb.Filter, by string) (where string, args []any, err error) {
	bad := func(why string) error {
		return fmt.Errorf("list of records: cursor %.40q %s: %w", f.Cursor, why, kb.ErrBadCursor)
	}
	if f.Offset != 0 {
		return "", nil, bad("and an offset exclude each other")
	}
	text, err := base64.RawURLEncoding.DecodeString(f.Cursor)
	if err != nil || len(text) <= cursorTag {
		return "", nil, bad("is no cursor")
	}
	id := string(text[cursorTag:])
	if cursor(f, id) != f.Cursor {
		return "", nil, bad("is of another list")
	}
	var there bool
	if err := s.db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM record WHERE id = ?)", id).Scan(&there); err != nil {
		return "", nil, s.failed(ctx, "place of a cursor", err)
	}
	if !there {
		return "", nil, bad("ends at a record that is gone")
	}
	return fmt.Sprintf("(%[1]s, id) > (SELECT %[1]s, id FROM record WHERE id = ?)", by), []any{id}, nil
}

// Groups counts the values of a kind among the records that the filter
// selects; its sort, limit, offset and cursor are not looked at. Most records
// first, then by name; records without a value are in no group. An unknown
// kind gives an error that wraps kb.ErrBadQuery.
func (s *Store) Groups(ctx context.Context, kind kb.GroupKind, f kb.Filter) ([]kb.Group, error) {
	what := fmt.Sprintf("groups by %.40q", kind)
	from, column := "record", ""
	switch kind {
	case kb.GroupRepo, kb.GroupBackground, kb.GroupSeverity, kb.GroupClass, kb.GroupCode, kb.GroupStatus:
		column = "record." + string(kind)
	case kb.GroupTag:
		from, column = "record JOIN tag USING (num)", "tag.tag"
	default:
		return nil, fmt.Errorf("%s: %w", what, kb.ErrBadQuery)
	}
	where, args := conditions(f)
	rows, err := s.db.QueryContext(ctx, "SELECT "+column+", count(*) FROM "+from+" WHERE "+where+
		" AND "+column+" IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1", args...)
	if err != nil {
		return nil, s.failed(ctx, what, err)
	}
	defer rows.Close()
	var groups []kb.Group
	for rows.Next() {
		var g kb.Group
		if err := rows.Scan(&g.Name, &g.Count); err != nil {
			return nil, s.failed(ctx, what, err)
		}
		groups = append(groups, g)
	}
	if err := rows.Err(); err != nil {
		return nil, s.failed(ctx, what, err)
	}
	return groups, nil
}
