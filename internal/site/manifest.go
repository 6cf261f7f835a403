package site

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"errorkb/internal/kb"
)

// ManifestName is the file of the site that lists what a build wrote. It is
// published with the rest, so a fresh checkout can compare itself with the
// release that is on line.
const ManifestName = "build-manifest.json"

const manifestVersion = 1

// Manifest lists the files of a site and what was promised about its records.
// It holds no time, so two builds of the same records give the same bytes.
type Manifest struct {
	Version        int           `json:"version"`
	DatasetVersion string        `json:"datasetVersion"`
	Files          []File        `json:"files"`   // sorted by path, without the manifest itself
	Records        []Publication `json:"records"` // sorted by id
}

// File is one file of the site.
type File struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"` // bytes
	SHA256 string `json:"sha256"`
}

// Publication is what must never be taken back about a record.
type Publication struct {
	ID               string `json:"id"`
	FirstPublishedAt string `json:"firstPublishedAt"`
	ContentChangedAt string `json:"contentChangedAt"`
}

// ReadManifest decodes a manifest.
func ReadManifest(r io.Reader) (*Manifest, error) {
	decoder := json.NewDecoder(r)
	decoder.DisallowUnknownFields()
	var m Manifest
	if err := decoder.Decode(&m); err != nil {
		return nil, fmt.Errorf("decode the manifest of a site: %w", err)
	}
	if m.Version != manifestVersion {
		return nil, fmt.Errorf("the manifest of the site has version %d, this program knows %d", m.Version, manifestVersion)
	}
	return &m, nil
}

// readManifest reads the manifest of the folder, nil when there is none.
func readManifest(root *os.Root) (*Manifest, error) {
	data, err := root.ReadFile(ManifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the manifest of the last build: %w", err)
	}
	m, err := ReadManifest(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w; restore the file, or build into an empty folder", ManifestName, err)
	}
	return m, nil
}

// encode writes the manifest with one file or record a line, which keeps it
// readable and its differences small.
func (m *Manifest) encode() []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "{\n  \"version\": %d,\n  \"datasetVersion\": %s,\n", m.Version, quote(m.DatasetVersion))
	out.WriteString("  \"files\": [")
	encodeLines(&out, m.Files)
	out.WriteString("],\n  \"records\": [")
	encodeLines(&out, m.Records)
	out.WriteString("]\n}\n")
	return out.Bytes()
}

func encodeLines[T any](out *bytes.Buffer, values []T) {
	for i, value := range values {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString("\n    ")
		out.Write(quote(value))
	}
	if len(values) > 0 {
		out.WriteString("\n  ")
	}
}

// quote encodes a value that is always encodable.
func quote(value any) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return data
}

func (m *Manifest) paths() map[string]bool {
	paths := map[string]bool{}
	if m != nil {
		for _, f := range m.Files {
			paths[f.Path] = true
		}
	}
	return paths
}

// publications lists what the records promise, sorted by id.
func publications(set *kb.Set) []Publication {
	list := make([]Publication, 0, len(set.Records))
	for _, r := range set.Records {
		list = append(list, Publication{r.ID, r.FirstPublishedAt, r.ContentChangedAt})
	}
	slices.SortFunc(list, func(x, y Publication) int { return strings.Compare(x.ID, y.ID) })
	return list
}

// ReleaseError lists the promises of the last release that a build would break.
type ReleaseError struct{ Problems []string }

func (e *ReleaseError) Error() string {
	shown := e.Problems[:min(listed, len(e.Problems))]
	more := ""
	if n := len(e.Problems) - len(shown); n > 0 {
		more = fmt.Sprintf("\n  and %d more", n)
	}
	return "release refused, compared with the last one:\n  " + strings.Join(shown, "\n  ") + more
}

// checkRelease compares the records with the last release. A published id
// stays for ever, and dates only move forward: readers and feeds rely on both.
func checkRelease(last *Manifest, records []Publication) error {
	if last == nil {
		return nil
	}
	now := make(map[string]Publication, len(records))
	for _, r := range records {
		now[r.ID] = r
	}
	var problems []string
	for _, was := range last.Records {
		is, ok := now[was.ID]
		switch {
		case !ok:
			problems = append(problems, fmt.Sprintf("record %s vanished: keep it, with the status removed or withdrawn", was.ID))
			continue
		case is.FirstPublishedAt != was.FirstPublishedAt:
			problems = append(problems, fmt.Sprintf("record %s: firstPublishedAt changed from %s to %s: put the old time back",
				was.ID, was.FirstPublishedAt, is.FirstPublishedAt))
		}
		if before(is.ContentChangedAt, was.ContentChangedAt) {
			problems = append(problems, fmt.Sprintf("record %s: contentChangedAt went back from %s to %s: use a later time",
				was.ID, was.ContentChangedAt, is.ContentChangedAt))
		}
	}
	if len(problems) > 0 {
		return &ReleaseError{Problems: problems}
	}
	return nil
}

// before compares two RFC 3339 times, which may differ in zone and in the
// number of decimals. What is no time is compared as text.
func before(x, y string) bool {
	tx, errX := time.Parse(time.RFC3339, x)
	ty, errY := time.Parse(time.RFC3339, y)
	if errX != nil || errY != nil {
		return x < y
	}
	return tx.Before(ty)
}
