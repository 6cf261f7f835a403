package kb

import "errors"

// ErrBadQuery is wrapped when a list or a search is asked for what there is
// not: an unknown sort, a negative limit or offset.
var ErrBadQuery = errors.New("query is not valid")

// Query asks for the records whose text holds the words of Text. Empty filter
// fields select everything; set ones must all hold.
type Query struct {
	Text string // as a person typed it; never syntax

	Repo, Tag, Background         string
	Severity, Class, Code, Status string

	Limit  int // hits wanted; 0 means DefaultHits, at most MaxHits
	Offset int // hits to skip
}

// Bounds of a search.
const (
	MaxQuery    = 256 // characters of Query.Text that are looked at
	DefaultHits = 20
	MaxHits     = 100
)

// SearchResult answers a Query. A text without a word gives no hits.
type SearchResult struct {
	Text      string // what was searched for: Query.Text, trimmed and cut to MaxQuery
	Cut       bool   // Query.Text was longer than MaxQuery
	SomeWords bool   // no record holds all the words; the hits hold some of them
	Total     int    // hits over all pages
	Hits      []Hit  // best first, equals in order of id
	Facets    []Facet
}

// Hit is one record that was found, and why.
type Hit struct {
	Item
	Score float64 // higher is better; comparable within one result only

	// Fragments show where the words stand. The first is always the whole
	// title, marked or not; the others are excerpts that hold a marked part.
	Fragments []Fragment
}

// Names of the fields that a Fragment can come from, in the order of the
// error page.
const (
	FieldTitle     = "title"
	FieldCode      = "code" // error code, class and aliases
	FieldMeaning   = "documentation"
	FieldPlace     = "place" // file and symbol
	FieldSolutions = "solutions"
	FieldWhen      = "when" // trigger scenarios and common situations
	FieldPrevent   = "prevention"
	FieldTags      = "tags"
)

// Fragment is plain text of one field, cut into marked and other parts. It
// holds no markup; whoever shows it escapes it.
type Fragment struct {
	Field string
	Parts []Part
}

// Part is a piece of a Fragment. Marked pieces are what the query found.
type Part struct {
	Text   string
	Marked bool
}

// Facet counts the values of one kind among all hits of a result, most hits
// first, then by name.
type Facet struct {
	Kind   GroupKind
	Groups []Group
}
