package render

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"

	"errorkb/internal/kb"
)

// The JSON answers. Each is made by one function, whoever asks: the server at
// an address with a query, and Document at an address without one, which is
// what the static site writes. Rules of the house: compact, one line, a final
// newline, no HTML escapes, lists never null, addresses below the base and not
// absolute, and nothing that changes while the data set does not.

// jsonType is the media type of every JSON answer but problems.
const jsonType = "application/json"

// encodeJSON writes v in the form that all JSON answers share.
func encodeJSON(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	return out.Bytes(), nil
}

// mustJSON is encodeJSON for values of plain strings and numbers, which cannot
// fail to encode.
func mustJSON(v any) []byte {
	out, err := encodeJSON(v)
	if err != nil {
		panic(err)
	}
	return out
}

// relatedJSON is one entry of relatedErrors.
type relatedJSON struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	URL   string `json:"url"`
	Why   string `json:"why"`
}

// RecordJSON is the answer about one record: all its fields, and what is
// derived from the data set. The evidence is that of the record, nil for none.
func RecordJSON(ctx context.Context, src Source, base Base, record *kb.Record, evidence *kb.Evidence) ([]byte, error) {
	related, err := src.Related(ctx, record.ID)
	if err != nil {
		return nil, fmt.Errorf("records related to %s: %w", record.ID, err)
	}
	list := make([]relatedJSON, 0, len(related))
	for _, item := range related {
		list = append(list, relatedJSON{item.ID, item.Title, base.Address(PlaceError, item.Repo, item.Slug), item.Why})
	}
	derived, err := encodeJSON(struct {
		URL      string        `json:"url"`
		Related  []relatedJSON `json:"relatedErrors"`
		Evidence *kb.Evidence  `json:"evidence"`
	}{base.Address(PlaceError, record.Repo, record.Slug), list, evidence})
	if err != nil {
		return nil, err
	}
	line, err := recordLine(record)
	if err != nil {
		return nil, err
	}
	// The two objects are joined as bytes: the record keeps its one canonical
	// encoding, key order included, and the derived fields follow.
	var out bytes.Buffer
	out.WriteString(`{"record":`)
	out.Write(bytes.TrimSuffix(line, []byte("}")))
	out.WriteByte(',')
	out.Write(bytes.TrimSuffix(bytes.TrimPrefix(derived, []byte("{")), []byte("\n")))
	out.WriteString(`,"datasetVersion":`)
	out.Write(bytes.TrimSuffix(mustJSON(src.Version()), []byte("\n")))
	out.WriteString("}\n")
	return out.Bytes(), nil
}

// recordLine is the canonical form of a record on one line, without a newline.
func recordLine(record *kb.Record) ([]byte, error) {
	var out bytes.Buffer
	if err := json.Compact(&out, record.Canonical()); err != nil {
		return nil, fmt.Errorf("compact record %s: %w", record.ID, err)
	}
	return out.Bytes(), nil
}

// itemJSON is one row of a list.
type itemJSON struct {
	ID               string      `json:"id"`
	Repo             string      `json:"repo"`
	Slug             string      `json:"slug"`
	Title            string      `json:"title"`
	Severity         kb.Severity `json:"severity"`
	URL              string      `json:"url"`
	ContentChangedAt string      `json:"contentChangedAt"`
}

func newItemJSON(base Base, item kb.Item) itemJSON {
	return itemJSON{
		ID: item.ID, Repo: item.Repo, Slug: item.Slug, Title: item.Title, Severity: item.Severity,
		URL: base.Address(PlaceError, item.Repo, item.Slug), ContentChangedAt: item.ContentChangedAt,
	}
}

// ListJSON is the answer with one page of a list. Next is the address of the
// page after it, "" at the end; the server repeats it in the Link header.
func ListJSON(base Base, version string, filter kb.Filter, page kb.Page) (body []byte, next string, err error) {
	items := make([]itemJSON, 0, len(page.Items))
	for _, item := range page.Items {
		items = append(items, newItemJSON(base, item))
	}
	if page.Next != "" {
		next = base.Address(PlaceAPIErrors) + "?" + listQuery(filter, page.Next)
	}
	body, err = encodeJSON(struct {
		Items   []itemJSON `json:"items"`
		Total   int        `json:"total"`
		Next    *string    `json:"next"`
		Version string     `json:"datasetVersion"`
	}{items, page.Total, orNull(next), version})
	return body, next, err
}

// listQuery is the query string of a list: the filters in the order of the
// contract, then how much and from where.
func listQuery(filter kb.Filter, cursor string) string {
	var q queryString
	q.add("repo", filter.Repo)
	q.add("tag", filter.Tag)
	q.add("severity", filter.Severity)
	q.add("class", filter.Class)
	q.add("code", filter.Code)
	q.add("status", filter.Status)
	q.add("sort", filter.Sort)
	q.number("limit", filter.Limit)
	q.add("cursor", cursor)
	return string(q)
}

// SearchJSON is the answer with one page of hits. Next is the address of the
// page after it, "" at the end.
func SearchJSON(base Base, version string, query kb.Query, result kb.SearchResult) (body []byte, next string, err error) {
	type part struct {
		Text   string `json:"text"`
		Marked bool   `json:"marked"`
	}
	type fragment struct {
		Field string `json:"field"`
		Parts []part `json:"parts"`
	}
	type hit struct {
		itemJSON
		Score     float64    `json:"score"`
		Fragments []fragment `json:"fragments"`
	}
	type count struct {
		Name  string `json:"name"`
		Count int    `json:"count"`
	}
	hits := make([]hit, 0, len(result.Hits))
	for _, h := range result.Hits {
		row := hit{itemJSON: newItemJSON(base, h.Item), Score: h.Score, Fragments: []fragment{}}
		for _, f := range h.Fragments {
			parts := make([]part, 0, len(f.Parts))
			for _, p := range f.Parts {
				parts = append(parts, part{p.Text, p.Marked})
			}
			row.Fragments = append(row.Fragments, fragment{f.Field, parts})
		}
		hits = append(hits, row)
	}
	facets := map[kb.GroupKind][]count{}
	for _, f := range result.Facets {
		counts := make([]count, 0, len(f.Groups))
		for _, g := range f.Groups {
			counts = append(counts, count{g.Name, g.Count})
		}
		facets[f.Kind] = counts
	}
	if end := query.Offset + len(result.Hits); len(result.Hits) > 0 && end < result.Total && end <= MaxSearchOffset {
		next = base.Address(PlaceAPISearch) + "?" + searchQuery(query, end)
	}
	body, err = encodeJSON(struct {
		Query     string                   `json:"query"`
		Cut       bool                     `json:"cut"`
		SomeWords bool                     `json:"someWords"`
		Total     int                      `json:"total"`
		Hits      []hit                    `json:"hits"`
		Facets    map[kb.GroupKind][]count `json:"facets"`
		Next      *string                  `json:"next"`
		Version   string                   `json:"datasetVersion"`
	}{result.Text, result.Cut, result.SomeWords, result.Total, hits, facets, orNull(next), version})
	return body, next, err
}

// MaxSearchOffset bounds how far hits can be paged: nobody reads that far, and
// the index works harder with every page.
const MaxSearchOffset = 1000

func searchQuery(query kb.Query, offset int) string {
	var q queryString
	q.add("q", query.Text)
	q.add("repo", query.Repo)
	q.add("tag", query.Tag)
	q.add("severity", query.Severity)
	q.add("class", query.Class)
	q.add("code", query.Code)
	q.add("status", query.Status)
	q.number("limit", query.Limit)
	q.number("offset", offset)
	return string(q)
}

// queryString is written in a fixed order, unlike url.Values, and leaves out
// what is not set.
type queryString string

func (q *queryString) add(name, value string) {
	if value == "" {
		return
	}
	if *q != "" {
		*q += "&"
	}
	*q += queryString(name + "=" + url.QueryEscape(value))
}

func (q *queryString) number(name string, value int) {
	if value != 0 {
		q.add(name, strconv.Itoa(value))
	}
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
