// Package eval measures the diagnosis on pasted texts whose right answer is
// known. Run does it for every case, against the case's own catalogue and
// against all catalogues at once.
package eval

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"

	"errorkb/internal/diagnose"
)

// Case is a text and what is in it.
type Case struct {
	Name      string     `json:"name"`
	Catalogue string     `json:"catalogue"`
	Input     string     `json:"input"`
	Expected  []Expected `json:"expected"`
	Tolerated []string   `json:"tolerated"`
	Tier      string     `json:"tier"` // core, stretch or negative
	Classes   []string   `json:"classes"`
	Why       string     `json:"why"`
}

// Expected is one message that is in the text.
type Expected struct {
	ID        string            `json:"id"`
	Variables map[string]string `json:"variables"`
	Also      []string          `json:"also"` // ids that are equally right
}

// Message is one line of a catalogue.
type Message struct {
	ID       string `json:"id"`
	Source   string `json:"source"`
	Template string `json:"template"`
	Pattern  string `json:"pattern"`
}

// LoadCases reads a file of cases, one JSON object a line. A file without any
// is an error.
func LoadCases(path string) ([]Case, error) {
	return loadLines[Case](path)
}

// LoadCatalogues reads every *.jsonl of a folder, by name without the ending.
// A folder without any is an error.
func LoadCatalogues(dir string) (map[string][]Message, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("catalogues in %q: %w", dir, err)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no catalogue (*.jsonl) in %q", dir)
	}
	out := map[string][]Message{}
	for _, path := range paths {
		messages, err := loadLines[Message](path)
		if err != nil {
			return nil, err
		}
		out[strings.TrimSuffix(filepath.Base(path), ".jsonl")] = messages
	}
	return out, nil
}

func loadLines[T any](path string) ([]T, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out []T
	scanner := bufio.NewScanner(bytes.NewReader(data))
	scanner.Buffer(nil, len(data)+1)
	for n := 1; scanner.Scan(); n++ {
		if len(bytes.TrimSpace(scanner.Bytes())) == 0 {
			continue
		}
		var v T
		if err := json.Unmarshal(scanner.Bytes(), &v); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		out = append(out, v)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no line of JSON in it", path)
	}
	return out, nil
}

// names are the names of the catalogues in order.
func names(catalogues map[string][]Message) []string {
	out := make([]string, 0, len(catalogues))
	for name := range catalogues {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

// separator stands between the name of a catalogue and an id in the ids of the
// engine, so that ids of two catalogues do not meet.
const separator = "\x00"

// entries are the records of the named catalogues.
func entries(catalogues map[string][]Message, names []string) []diagnose.Entry {
	var out []diagnose.Entry
	for _, name := range names {
		for _, m := range catalogues[name] {
			out = append(out, EntryOf(name, m))
		}
	}
	return out
}

var (
	repeated   = regexp.MustCompile(`~\d+$`)
	codeShape  = regexp.MustCompile(`^(?:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[A-Z]{1,4}\d{3,6}|E[A-Z0-9]{3,15}|[A-Z]{2,6}-\d+|[a-z]+-\d{1,5})$`)
	classShape = regexp.MustCompile(`^_?[A-Z]\w*(?:Error|Exception|Warning)$`)
	numberOf   = regexp.MustCompile(` #(\d+)$`)
)

// EntryOf makes an entry of a line of a catalogue. Code and class are read from
// the id, where its maker put them.
func EntryOf(catalogue string, m Message) diagnose.Entry {
	e := diagnose.Entry{
		Ref:      diagnose.Ref{ID: catalogue + separator + m.ID, Repo: catalogue, Slug: m.ID, Title: m.Template},
		Template: m.Template,
		// A value may be empty; the mechanical translation does not know that.
		Pattern: strings.ReplaceAll(m.Pattern, ".+?", ".*?"),
	}
	id := repeated.ReplaceAllString(m.ID, "")
	for _, part := range append([]string{id}, strings.FieldsFunc(id, func(r rune) bool { return r == ':' || r == '~' })...) {
		switch {
		case codeShape.MatchString(part) && e.Code == "":
			e.Code = part
		case classShape.MatchString(part) && e.Class == "":
			e.Class = part
		}
	}
	if n := numberOf.FindStringSubmatch(m.Source); n != nil && !slices.Contains(e.Aliases, n[1]) {
		e.Aliases = append(e.Aliases, n[1])
	}
	return e
}
