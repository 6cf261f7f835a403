package render

import (
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"

	"errorkb/internal/kb"
)

// ErrorView is the page of one record. Its fields stand in the order of the
// page; an empty one leaves its section out.
type ErrorView struct {
	Layout   Layout
	Repo     Link
	Badges   []Badge
	Title    string
	Byline   Byline
	Banners  []Banner
	Contents []Anchor // side navigation: the sections that are there, in order

	Message    []MessagePart
	RawMessage string // what the copy button copies
	Captures   []CaptureView
	Seen       []Prose // the message as people see it, marked
	History    []HistoryView
	Facts      []Fact

	Meaning Prose

	Source *SourceView

	Proof *ProofView
	Live  *LiveForm // stands in the section of the proof

	Solutions []SolutionView

	Fix []FixPart

	Defence *DefenceView

	Trigger    Prose
	Situations Prose

	Flow []FlowView

	Related []RelatedView

	Topics []Link // tags and background
	Footer ErrorFooter
}

// Link is an address and what to call it.
type Link struct{ Label, URL string }

// Anchor is an entry of the side navigation.
type Anchor struct{ ID, Label string }

// Badge is a short fact above the title.
type Badge struct {
	Kind  string // class of the badge: "severity-error", "code" …
	Label string // what it is, for those who cannot see where it stands
	Text  string
	URL   string
}

// Byline says at the top how far the page can be trusted and how old it is.
type Byline struct {
	Review  string
	Changed Date
}

// Banner is a remark on the record as a whole.
type Banner struct {
	Kind  string // "status" or "review"
	Title string
	Text  Prose
	Link  Link // of the record that replaces this one; empty for none
}

// Fact is a property of the error with its explanation.
type Fact struct {
	Name, Value, Note string
	Code              bool // the value is code
	Wide              bool // the value can be long
}

// HistoryView is an earlier wording.
type HistoryView struct{ Message, Until string }

// SourceView is the place that raises the error.
type SourceView struct {
	Place  string // file:line
	Symbol string
	URL    string // pinned to a commit, "" for none
	Commit string
	Code   *Code // excerpt
}

// SolutionView is one way out.
type SolutionView struct {
	ID     string // "" where nothing leads to it
	Text   Prose
	Proven string // id of the remedy that shows that it works, "" for none
}

// RelatedView is a related record.
type RelatedView struct {
	Row   Row
	Title string // whole message
	Why   string
}

// ErrorFooter tells where the page comes from.
type ErrorFooter struct {
	Repo, Commit, CommitURL           string
	Analyzed, FirstPublished, Changed Date
	JSONURL, ReportURL, File, Version string
	ID                                string
}

// NewErrorView makes the page of a record. The successor is the record that
// replaces it, nil for none.
func NewErrorView(site Site, r *kb.Record, related []kb.RelatedItem, successor *kb.Record) ErrorView {
	address := site.To(PlaceError, r.Repo, r.Slug)
	v := ErrorView{
		Layout:     site.layout(PlaceError, cutWords(visible(r.ErrorMessage), 90), kb.Summary(r.Documentation)),
		Repo:       Link{visible(r.Repo), site.To(PlaceRepo, r.Repo)},
		Badges:     badges(site, r),
		Title:      visible(r.ErrorMessage),
		Byline:     Byline{reviewNames[r.Review], newDate(r.ContentChangedAt)},
		Banners:    banners(site, r, successor),
		RawMessage: holdable(r.ErrorMessage),
		Seen:       seen(r),
		Facts:      facts(r),
		Meaning:    prose(r.Documentation),
		Source:     sourceView(r),
		Fix:        fixParts(r),
		Defence:    defenceView(r),
		Trigger:    prose(r.TriggerScenarios),
		Situations: prose(r.CommonSituations),
		Footer:     errorFooter(site, r),
	}
	v.Layout.Canonical = address
	v.Layout.JSON = site.To(PlaceAPIError, r.ID)
	v.Message, v.Captures = markPlaceholders(r.ErrorMessage, r.Captures)
	for _, h := range r.MessageHistory {
		v.History = append(v.History, HistoryView{visible(h.ErrorMessage), visible(h.Until)})
	}
	for i, s := range r.Solutions {
		v.Solutions = append(v.Solutions, SolutionView{ID: "solution-" + strconv.Itoa(i+1), Text: inlineProse(s)})
	}
	for _, item := range related {
		v.Related = append(v.Related, RelatedView{newRow(site, item.Item), visible(item.Title), item.Why})
	}
	if r.BackgroundTag != nil {
		v.Topics = append(v.Topics, Link{"Concept: " + words(*r.BackgroundTag), site.To(PlaceBackground, *r.BackgroundTag)})
	}
	for _, tag := range r.Tags {
		v.Topics = append(v.Topics, Link{visible(tag), site.To(PlaceTag, tag)})
	}
	v.Contents = v.contents()
	return v
}

// contents lists the sections that have content.
func (v *ErrorView) contents() []Anchor {
	var list []Anchor
	for _, s := range []struct {
		there     bool
		id, label string
	}{
		{true, "message", "Error message"},
		{v.Meaning != "", "meaning", "What it means"},
		{v.Source != nil, "source", "Source"},
		{v.Proof != nil || v.Live != nil, "proof", "Proof"},
		{len(v.Solutions) > 0, "solutions", "Solutions"},
		{len(v.Fix) > 0, "fix", "Example fix"},
		{v.Defence != nil, "defence", "Defensive patterns"},
		{v.HasWhen(), "when", "When it happens"},
		{len(v.Flow) > 0, "flow", "Where in the flow"},
		{len(v.Related) > 0, "related", "Related errors"},
	} {
		if s.there {
			list = append(list, Anchor{s.id, s.label})
		}
	}
	return list
}

// HasWhen reports whether the section "When it happens" has content.
func (v ErrorView) HasWhen() bool { return v.Trigger != "" || v.Situations != "" }

func badges(site Site, r *kb.Record) []Badge {
	list := []Badge{{"severity-" + known(string(r.Severity), severities), "Severity", visible(string(r.Severity)), ""}}
	if r.ErrorClass != nil {
		list = append(list, Badge{"class", "Class", visible(*r.ErrorClass), ""})
	}
	if r.ErrorCode != nil {
		list = append(list, Badge{"code", "Code", visible(*r.ErrorCode), ""})
	}
	if r.HTTPStatus != nil {
		list = append(list, Badge{"http", "HTTP status", "HTTP " + strconv.Itoa(*r.HTTPStatus), ""})
	}
	return list
}

func banners(site Site, r *kb.Record, successor *kb.Record) []Banner {
	var list []Banner
	if text, ok := statusWords[r.Status]; ok {
		b := Banner{Kind: "status", Title: text[0], Text: inlineProse(text[1])}
		if r.StatusReason != nil {
			b.Text = inlineProse(sentence(*r.StatusReason))
		}
		if successor != nil {
			b.Link = Link{visible(successor.ErrorMessage), site.To(PlaceError, successor.Repo, successor.Slug)}
		}
		list = append(list, b)
	}
	if text, ok := reviewWords[r.Review]; ok {
		list = append(list, Banner{Kind: "review", Title: text[0], Text: inlineProse(text[1])})
	}
	return list
}

func facts(r *kb.Record) []Fact {
	var list []Fact
	if r.ErrorCode != nil {
		list = append(list, Fact{Name: "Code", Value: visible(*r.ErrorCode), Note: "visible to the caller at run time", Code: true})
	}
	if r.ErrorClass != nil {
		list = append(list, Fact{Name: "Class", Value: visible(*r.ErrorClass), Code: true})
	}
	if r.HTTPStatus != nil {
		list = append(list, Fact{Name: "HTTP status", Value: strconv.Itoa(*r.HTTPStatus)})
	}
	list = append(list, Fact{Name: "Raised as", Value: visible(r.ErrorType)})
	for _, f := range []Fact{
		{Name: "Role", Value: visible(string(r.Role)), Note: roleWords[r.Role]},
		{Name: "Retry", Value: words(string(r.Retry)), Note: retryWords[r.Retry]},
	} {
		if f.Value != "" {
			list = append(list, f)
		}
	}
	if len(r.Aliases) > 0 {
		list = append(list, Fact{Name: "Also known as", Value: visible(strings.Join(r.Aliases, ", ")), Note: "another name or an earlier one", Code: true, Wide: true})
	}
	return list
}

func sourceView(r *kb.Record) *SourceView {
	if r.FilePath == "" {
		return nil
	}
	v := &SourceView{Place: visible(r.FilePath), Commit: shortCommit(r.AnalyzedSHA)}
	if r.LineNumber != nil {
		v.Place += ":" + strconv.Itoa(*r.LineNumber)
	}
	if r.Symbol != nil {
		v.Symbol = visible(*r.Symbol)
	}
	if r.GithubURL != nil && safeLink(*r.GithubURL) {
		v.URL = *r.GithubURL
	}
	if r.SourceCode != nil && *r.SourceCode != "" {
		code := newCode(*r.SourceCode, languageOf(r.FilePath))
		first, marked := 1, -1
		if r.SourceCodeStart != nil {
			first = *r.SourceCodeStart
		}
		if r.LineNumber != nil {
			marked = *r.LineNumber
		}
		code = code.numbered(first, marked)
		v.Code = &code
	}
	return v
}

func errorFooter(site Site, r *kb.Record) ErrorFooter {
	f := ErrorFooter{
		Repo:           visible(r.Repo),
		Commit:         shortCommit(r.AnalyzedSHA),
		Analyzed:       newDate(r.AnalyzedAt),
		FirstPublished: newDate(r.FirstPublishedAt),
		Changed:        newDate(r.ContentChangedAt),
		JSONURL:        site.To(PlaceAPIError, r.ID),
		ReportURL:      site.Report("Mistake in record " + r.ID + " (" + r.Slug + ")"),
		File:           visible("records/" + r.Repo + "/" + r.Slug + ".json"),
		Version:        site.Version,
		ID:             r.ID,
	}
	if commitShape.MatchString(r.AnalyzedSHA) {
		f.CommitURL = "https://github.com/" + path.Join(escapeSegments(r.Repo), "commit", r.AnalyzedSHA)
	}
	return f
}

var commitShape = regexp.MustCompile(`^[0-9a-f]{7,64}$`)

func shortCommit(sha string) string {
	if commitShape.MatchString(sha) && len(sha) > 10 {
		return sha[:10]
	}
	return visible(sha)
}

func escapeSegments(repo string) string {
	segments := strings.Split(repo, "/")
	for i := range segments {
		segments[i] = url.PathEscape(segments[i])
	}
	return strings.Join(segments, "/")
}
