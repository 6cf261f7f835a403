package render

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"errorkb/internal/kb"
)

// maker makes the body of a document.
type maker func(ctx context.Context) ([]byte, error)

// plainDocument is a document that is not a page: JSON, a feed, a map.
type plainDocument struct {
	place       Place
	contentType string
	make        maker
}

// plainDocuments lists the documents with a fixed address that are not pages.
func (r *Renderer) plainDocuments() []plainDocument {
	return []plainDocument{
		{PlaceAPIErrors, jsonType, r.firstListJSON},
		{PlaceAPIDataset, jsonType, r.datasetJSON},
		{PlaceAPIDatasetLines, "application/jsonl", func(ctx context.Context) ([]byte, error) { return datasetLinesJSON(ctx, r.src) }},
		{PlaceAPIModified, jsonType, func(ctx context.Context) ([]byte, error) { return modifiedJSON(ctx, r.src) }},
		{PlaceAPISchema, "application/schema+json", func(context.Context) ([]byte, error) { return r.schema, nil }},
		{PlaceAPIOpenAPI, jsonType, func(context.Context) ([]byte, error) { return openAPIJSON(r.site, r.schema) }},
		{PlaceFeed, "application/atom+xml; charset=utf-8", r.feed},
		{PlaceSitemap, "application/xml; charset=utf-8", r.sitemap},
		{PlaceRobots, "text/plain; charset=utf-8", func(context.Context) ([]byte, error) { return robots(r.site), nil }},
		{PlaceLLMs, "text/plain; charset=utf-8", r.llms},
		{PlaceOpenSearch, "application/opensearchdescription+xml; charset=utf-8", func(context.Context) ([]byte, error) { return openSearch(r.site) }},
	}
}

func (r *Renderer) firstListJSON(ctx context.Context) ([]byte, error) {
	page, err := r.src.List(ctx, kb.Filter{})
	if err != nil {
		return nil, fmt.Errorf("list records: %w", err)
	}
	body, _, err := ListJSON(r.site.Base, r.src.Version(), kb.Filter{}, page)
	return body, err
}

// jsonDocument makes the document at an address that belongs to no page, and
// says whether there is one.
func (r *Renderer) jsonDocument(ctx context.Context, address string) (Document, bool, error) {
	for _, plain := range r.plainDocuments() {
		if address != r.site.To(plain.place) {
			continue
		}
		body, err := plain.make(ctx)
		if err != nil {
			return Document{}, false, err
		}
		return Document{Status: http.StatusOK, ContentType: plain.contentType, Body: body}, true, nil
	}
	id, found := strings.CutPrefix(address, r.site.To(PlaceAPIError, ""))
	if !found || id == "" || strings.Contains(id, "/") {
		return Document{}, false, nil
	}
	record, err := r.src.Record(ctx, id)
	if errors.Is(err, kb.ErrNotFound) {
		return Document{}, false, nil
	}
	if err != nil {
		return Document{}, false, fmt.Errorf("record %q: %w", id, err)
	}
	body, err := RecordJSON(ctx, r.src, r.site.Base, record, r.proof.Of(record.ID))
	if err != nil {
		return Document{}, false, err
	}
	return Document{Status: http.StatusOK, ContentType: jsonType, Body: body}, true, nil
}

// jsonAddresses lists the addresses of jsonDocument in a fixed order.
func (r *Renderer) jsonAddresses(ctx context.Context) ([]string, error) {
	var all []string
	for _, plain := range r.plainDocuments() {
		all = append(all, r.site.To(plain.place))
	}
	err := eachItem(ctx, r.src, kb.Filter{}, func(item kb.Item) error {
		all = append(all, r.site.To(PlaceAPIError, item.ID))
		return nil
	})
	return all, err
}

func sortedKeys[V any](m map[string]V) []string {
	keys := slices.Sorted(maps.Keys(m))
	if keys == nil {
		keys = []string{}
	}
	return keys
}
