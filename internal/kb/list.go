package kb

import "errors"

// ErrNotFound is wrapped by every look-up that finds no record.
var ErrNotFound = errors.New("record not found")

// Filter selects records of a list. Empty fields select everything; set ones
// must all hold.
type Filter struct {
	Repo, Tag, Background         string
	Severity, Class, Code, Status string
	Sort                          string // "title" (default), "changed", "severity"
	Limit                         int    // page size; 0 means DefaultLimit
	Offset                        int    // rows to skip; for pages that are counted
	Cursor                        string // opaque; from Page.Next; excludes Offset
}

// Page sizes of a list.
const (
	DefaultLimit = 50
	MaxLimit     = 200
)

// ErrBadCursor is wrapped when Filter.Cursor was not given out by this list.
var ErrBadCursor = errors.New("cursor is not valid")

// Item is one row of a list: what is needed to show and link a record.
type Item struct {
	ID, Repo, Slug   string
	Title            string // whole message
	Severity         Severity
	Role             Role
	Status           Status
	Review           Review
	ErrorClass       string // "" when null
	ErrorCode        string // "" when null
	Tags             []string
	Background       string // "" when null
	Summary          string // first sentence of Documentation, plain text
	ContentChangedAt string
	FirstPublishedAt string
}

// Page is a part of a list.
type Page struct {
	Items []Item
	Total int    // rows that the filter selects, over all pages
	Next  string // cursor of the next page, "" at the end
}

// GroupKind names what records are grouped by.
type GroupKind string

// The kinds of group.
const (
	GroupRepo       GroupKind = "repo"
	GroupTag        GroupKind = "tag"
	GroupBackground GroupKind = "background"
	GroupSeverity   GroupKind = "severity"
	GroupClass      GroupKind = "class"
	GroupCode       GroupKind = "code"
	GroupStatus     GroupKind = "status"
)

// Group is one value of a GroupKind and the number of its records.
type Group struct {
	Name  string
	Count int
}

// RelatedItem is a record related to another one, and why.
type RelatedItem struct {
	Item
	Why string // a short phrase: "named by the author", "same operation …"
}
