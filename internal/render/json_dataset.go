package render

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"errorkb/internal/kb"
)

// eachItem calls yield for every row of a list, page by page.
func eachItem(ctx context.Context, src Source, filter kb.Filter, yield func(kb.Item) error) error {
	filter.Limit = kb.MaxLimit
	for {
		page, err := src.List(ctx, filter)
		if err != nil {
			return fmt.Errorf("list records: %w", err)
		}
		for _, item := range page.Items {
			if err := yield(item); err != nil {
				return err
			}
		}
		if page.Next == "" {
			return nil
		}
		filter.Cursor = page.Next
	}
}

// datasetLinesJSON is every record, one a line, in the order of the list.
func datasetLinesJSON(ctx context.Context, src Source) ([]byte, error) {
	var out bytes.Buffer
	err := eachItem(ctx, src, kb.Filter{}, func(item kb.Item) error {
		record, err := src.Record(ctx, item.ID)
		if err != nil {
			return fmt.Errorf("record %s: %w", item.ID, err)
		}
		line, err := recordLine(record)
		if err != nil {
			return err
		}
		out.Write(line)
		out.WriteByte('\n')
		return nil
	})
	return out.Bytes(), err
}

// modifiedJSON is one object, id → contentChangedAt, whose keys stand in the
// order of the changes, newest first. A client that keeps the newest time it
// has seen reads down to it and stops.
func modifiedJSON(ctx context.Context, src Source) ([]byte, error) {
	var out bytes.Buffer
	separator := "{"
	err := eachItem(ctx, src, kb.Filter{Sort: sortChanged}, func(item kb.Item) error {
		out.WriteString(separator)
		separator = ","
		out.Write(bytes.TrimSuffix(mustJSON(item.ID), []byte("\n")))
		out.WriteByte(':')
		out.Write(bytes.TrimSuffix(mustJSON(item.ContentChangedAt), []byte("\n")))
		return nil
	})
	if separator == "{" {
		out.WriteByte('{')
	}
	out.WriteString("}\n")
	return out.Bytes(), err
}

// sortChanged is the order of kb.Filter.Sort that begins with the newest
// change.
const sortChanged = "changed"

// datasetFile is a file that can be fetched whole, with what proves it whole.
type datasetFile struct {
	URL    string `json:"url"`
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

func newDatasetFile(url string, content []byte) datasetFile {
	sum := sha256.Sum256(content)
	return datasetFile{url, len(content), hex.EncodeToString(sum[:])}
}

// datasetJSON describes the data set: its version, how many records it has of
// what, the commits that were analysed, and the files with their checksums.
func (r *Renderer) datasetJSON(ctx context.Context) ([]byte, error) {
	type repo struct {
		Repo    string   `json:"repo"`
		Records int      `json:"records"`
		Commits []string `json:"commits"` // analysed, sorted
	}
	answer := struct {
		Version string                    `json:"datasetVersion"`
		Schema  int                       `json:"schemaVersion"`
		Records int                       `json:"records"`
		Counts  map[string]map[string]int `json:"counts"`
		Repos   []repo                    `json:"repos"`
		Files   []datasetFile             `json:"files"`
	}{Version: r.src.Version(), Schema: kb.SchemaVersion, Counts: map[string]map[string]int{}, Repos: []repo{}}

	for _, kind := range []kb.GroupKind{kb.GroupSeverity, kb.GroupStatus} {
		groups, err := r.src.Groups(ctx, kind, kb.Filter{})
		if err != nil {
			return nil, fmt.Errorf("count records by %s: %w", kind, err)
		}
		counts := map[string]int{}
		for _, group := range groups {
			counts[group.Name] = group.Count
		}
		answer.Counts[string(kind)] = counts
	}
	commits, err := r.commits(ctx)
	if err != nil {
		return nil, err
	}
	repos, err := r.src.Groups(ctx, kb.GroupRepo, kb.Filter{})
	if err != nil {
		return nil, fmt.Errorf("count records by repo: %w", err)
	}
	for _, group := range repos {
		answer.Records += group.Count
		answer.Repos = append(answer.Repos, repo{group.Name, group.Count, sortedKeys(commits[group.Name])})
	}
	for _, place := range []Place{PlaceAPIDatasetLines, PlaceAPIModified, PlaceAPISchema} {
		address := r.site.To(place)
		document, _, err := r.jsonDocument(ctx, address)
		if err != nil {
			return nil, err
		}
		answer.Files = append(answer.Files, newDatasetFile(address, document.Body))
	}
	return encodeJSON(answer)
}

// commits gathers the commits that were analysed, by repository.
func (r *Renderer) commits(ctx context.Context) (map[string]map[string]bool, error) {
	commits := map[string]map[string]bool{}
	err := eachItem(ctx, r.src, kb.Filter{}, func(item kb.Item) error {
		record, err := r.src.Record(ctx, item.ID)
		if err != nil {
			return fmt.Errorf("record %s: %w", item.ID, err)
		}
		if commits[record.Repo] == nil {
			commits[record.Repo] = map[string]bool{}
		}
		if record.AnalyzedSHA != "" {
			commits[record.Repo][record.AnalyzedSHA] = true
		}
		return nil
	})
	return commits, err
}
