package search

import (
	"encoding/json"
	"fmt"
	"strconv"

	"errorkb/internal/kb"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/registry"
)

// mappingVersion is raised when the fields or the analysis change, which makes
// every index built before be built anew.
const mappingVersion = 1

// The fields of the index, by the way their text is cut into terms.
const (
	// Names written without case and marks: code, class, aliases, slug, id and
	// the whole message, each one term.
	fieldExact = "exact"

	// Stems of the parts of words, and names kept whole.
	fieldTitle    = "title"
	fieldWordings = "wordings" // earlier messages and examples
	fieldCodes    = "codes"
	fieldPlace    = "place"
	fieldSolution = "solutions"
	fieldTags     = "tags"
	fieldProse    = "prose"

	// Two neighbouring stems of the title, one term.
	fieldPairs = "pairs"

	// Parts as they are written and names kept whole, of everything: for
	// words that are not written to the end and for misspelt ones.
	fieldWords = "words"

	// What a hit shows, as JSON; not searched.
	fieldStored = "stored"
)

// facetFields are the fields that filter and that facets count, under the
// names of their groups, one term a value.
var facetFields = []kb.GroupKind{
	kb.GroupRepo, kb.GroupSeverity, kb.GroupTag, kb.GroupClass, kb.GroupStatus, kb.GroupBackground, kb.GroupCode,
}

// facetPrefix keeps the names of facet fields apart from the others.
const facetPrefix = "facet."

// The analysers of our own.
const (
	analyseExact = "kb_exact"
	analyseText  = "kb_text"
	analysePairs = "kb_pairs"
	analyseWords = "kb_words"
	analyseValue = "kb_value"
)

// terms makes an analyser of a function that cuts a text into terms.
type terms func(text string) []string

func (f terms) Analyze(text []byte) analysis.TokenStream {
	list := f(string(text))
	stream := make(analysis.TokenStream, len(list))
	for i, term := range list {
		stream[i] = &analysis.Token{Term: []byte(term), Position: i + 1, End: len(text)}
	}
	return stream
}

func init() {
	for name, analyse := range map[string]terms{
		analyseExact: func(text string) []string { return []string{squash(text)} },
		analyseText:  textTerms,
		analysePairs: pairTerms,
		analyseWords: wordTerms,
		analyseValue: func(text string) []string { return []string{text} },
	} {
		if err := registry.RegisterAnalyzer(name, func(map[string]any, *registry.Cache) (analysis.Analyzer, error) {
			return analyse, nil
		}); err != nil {
			panic(err) // the name is taken: a mistake of this package
		}
	}
}

func textTerms(text string) []string {
	var out []string
	for _, w := range split(text) {
		for _, p := range w.parts {
			out = append(out, p.stem())
		}
		for _, s := range w.wholes {
			out = append(out, s.term)
		}
	}
	return out
}

func wordTerms(text string) []string {
	var out []string
	for _, w := range split(text) {
		for _, p := range w.parts {
			out = append(out, p.plain)
		}
		for _, s := range w.wholes {
			out = append(out, s.term)
		}
	}
	return out
}

func pairTerms(text string) []string {
	var out []string
	before := ""
	for _, w := range split(text) {
		for _, p := range w.parts {
			stem := p.stem()
			if before != "" {
				out = append(out, before+" "+stem)
			}
			before = stem
		}
	}
	return out
}

// indexMapping describes the fields to Bleve.
func indexMapping() mapping.IndexMapping {
	doc := bleve.NewDocumentStaticMapping()
	add := func(name, analyser string, change func(*mapping.FieldMapping)) {
		f := bleve.NewTextFieldMapping()
		f.Analyzer = analyser
		f.Store, f.IncludeInAll, f.IncludeTermVectors, f.DocValues = false, false, false, false
		if change != nil {
			change(f)
		}
		doc.AddFieldMappingsAt(name, f)
	}
	add(fieldExact, analyseExact, nil)
	for _, name := range []string{fieldTitle, fieldWordings, fieldCodes, fieldPlace, fieldSolution, fieldTags, fieldProse} {
		add(name, analyseText, nil)
	}
	add(fieldPairs, analysePairs, nil)
	add(fieldWords, analyseWords, nil)
	add(fieldStored, analyseValue, func(f *mapping.FieldMapping) { f.Index, f.Store = false, true })
	facets := bleve.NewDocumentStaticMapping()
	for _, kind := range facetFields {
		f := bleve.NewTextFieldMapping()
		f.Analyzer = analyseValue
		f.Store, f.IncludeInAll, f.IncludeTermVectors, f.DocValues = false, false, false, true
		facets.AddFieldMappingsAt(string(kind), f)
	}
	doc.AddSubDocumentMapping("facet", facets)
	m := bleve.NewIndexMapping()
	m.DefaultMapping = doc
	m.DefaultAnalyzer = analyseText
	m.StoreDynamic, m.IndexDynamic, m.DocValuesDynamic = false, false, false
	return m
}

// stored is what a hit needs to be shown, without asking anybody else.
type stored struct {
	Item  kb.Item
	Texts []fieldText // in the order of the page, without the title
}

// fieldText is one text of a field, plain.
type fieldText struct{ Field, Text string }

// document turns a record into the fields of the index.
func document(r *kb.Record) (map[string]any, error) {
	str := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	code, class, symbol, background := str(r.ErrorCode), str(r.ErrorClass), str(r.Symbol), str(r.BackgroundTag)

	codes := nonEmpty(append([]string{code, class}, r.Aliases...)...)
	place := nonEmpty(r.FilePath, symbol)
	places := nonEmpty(r.FilePath, symbol, r.Repo)
	var wordings []string
	for _, h := range r.MessageHistory {
		wordings = append(wordings, h.ErrorMessage)
	}
	wordings = append(wordings, r.Examples.Match...)
	meaning, when := plainText(r.Documentation), nonEmpty(plainText(r.TriggerScenarios), plainText(r.CommonSituations))
	solutions, prevention := plainTexts(r.Solutions), plainTexts(r.PreventionTips)
	tags := nonEmpty(append(append([]string{}, r.Tags...), background)...)
	prose := nonEmpty(append(append([]string{meaning}, when...), prevention...)...)
	status := ""
	if r.HTTPStatus != nil {
		status = "HTTP " + strconv.Itoa(*r.HTTPStatus)
	}

	s := stored{Item: kb.Item{
		ID: r.ID, Repo: r.Repo, Slug: r.Slug, Title: r.Title(),
		Severity: r.Severity, Role: r.Role, Status: r.Status, Review: r.Review,
		ErrorClass: class, ErrorCode: code, Tags: r.Tags, Background: background, Summary: kb.Summary(r.Documentation),
		ContentChangedAt: r.ContentChangedAt, FirstPublishedAt: r.FirstPublishedAt,
	}}
	for _, part := range []struct {
		field string
		texts []string
	}{
		{kb.FieldCode, codes},
		{kb.FieldMeaning, nonEmpty(meaning)},
		{kb.FieldPlace, place},
		{kb.FieldSolutions, solutions},
		{kb.FieldPrevent, prevention},
		{kb.FieldWhen, when},
		{kb.FieldTags, tags},
	} {
		for _, text := range part.texts {
			s.Texts = append(s.Texts, fieldText{part.field, text})
		}
	}
	show, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("record %s: %w", r.ID, err)
	}

	words := []string{r.Title(), status}
	for _, texts := range [][]string{wordings, codes, places, solutions, tags, prose} {
		words = append(words, texts...)
	}
	return map[string]any{
		fieldExact:    nonEmpty(append([]string{r.ID, r.Slug, r.Title()}, codes...)...),
		fieldTitle:    r.Title(),
		fieldPairs:    r.Title(),
		fieldWordings: wordings,
		fieldCodes:    nonEmpty(append(codes, status)...),
		fieldPlace:    places,
		fieldSolution: solutions,
		fieldTags:     tags,
		fieldProse:    prose,
		fieldWords:    nonEmpty(words...),
		fieldStored:   string(show),
		"facet": map[string]any{
			string(kb.GroupRepo):       r.Repo,
			string(kb.GroupSeverity):   string(r.Severity),
			string(kb.GroupTag):        r.Tags,
			string(kb.GroupClass):      nonEmpty(class),
			string(kb.GroupStatus):     string(r.Status),
			string(kb.GroupBackground): nonEmpty(background),
			string(kb.GroupCode):       nonEmpty(code),
		},
	}, nil
}

func nonEmpty(texts ...string) []string {
	var out []string
	for _, text := range texts {
		if text != "" {
			out = append(out, text)
		}
	}
	return out
}
