package render

import (
	"context"
	"fmt"
	"html"
	"strings"

	"errorkb/internal/diagnose"
	"errorkb/internal/kb"
)

// PasteForm is the box that a text is pasted into.
type PasteForm struct {
	Action  string
	Text    string
	Samples []Sample
}

// Sample is a message that a visitor can try.
type Sample struct{ Label, Text string }

// box is the content of the text area. HTML drops a line feed at its start, so
// one is put there to be dropped.
func (f PasteForm) box() Prose { return Prose("\n" + html.EscapeString(f.Text)) }

func newPasteForm(site Site, text string, samples []string) PasteForm {
	f := PasteForm{Action: site.To(PlaceDiagnose), Text: text}
	for _, s := range samples {
		f.Samples = append(f.Samples, Sample{cutWords(visible(s), 64), holdable(s)})
	}
	return f
}

// DiagnosisView is the page of the paste box and its answer.
type DiagnosisView struct {
	Layout Layout
	Form   PasteForm
	Note   string // about the text in the box
	Answer *AnswerView
}

// AnswerView is an answer in words.
type AnswerView struct {
	Verdict  string // class: "known", "likely", "unknown"
	Headline string
	Sentence string
	Size     string // of the text
	Partial  bool
	Matches  []MatchView
	Runners  []RunnerView
	Unknown  *UnknownView
	API      string
	Version  string
}

// MatchView is one record found in the text.
type MatchView struct {
	ID         string // anchor
	Title      string
	URL        string
	Badges     []Badge
	How        string // how the message was recognised
	Confidence string
	Times      string
	Undone     string
	Excerpts   []Excerpt
	More       string // occurrences that are not shown
	Values     []ValueView
	Solutions  []SolutionView
}

// About is what the page says of a record that the answer does not hold.
type About struct {
	Captures []kb.Capture
	Proven   bool
}

// ValueView is the value of a capture.
type ValueView struct {
	Number  int
	Class   string
	Name    string
	Value   string
	Meaning Prose
}

// RunnerView is a record that was considered and not chosen.
type RunnerView struct {
	Title, URL, Why string
}

// UnknownView is what can be said about a text without a known error.
type UnknownView struct {
	Template string
	Line     *Excerpt
	Why      string
	Search   string // address
	Words    string // what a search could look for
	Near     []NearView
}

// NearView is a known record that resembles the text.
type NearView struct {
	Title, URL     string
	Similarity     string
	Missing, Extra []string
}

// maxShownText is the size up to which the box holds the pasted text again.
const maxShownText = 64 << 10

// NewDiagnosisView makes the page. A nil answer gives the page that waits for a
// text. About tells of records by their id; it may lack any.
func NewDiagnosisView(site Site, text []byte, answer *diagnose.Answer, about map[string]About) DiagnosisView {
	v := DiagnosisView{
		Layout: site.layout(PlaceDiagnose, "Diagnose", "Paste an error message, a stack trace or a whole log and get its cause, its values and the fix."),
		Form:   newPasteForm(site, "", nil),
	}
	v.Layout.Canonical = site.To(PlaceDiagnose)
	if answer == nil {
		return v
	}
	v.Layout.Hidden = true
	if len(text) <= maxShownText {
		v.Form.Text = holdable(string(text))
	} else {
		v.Note = "The text of " + size(len(text)) + " is not repeated in the box."
	}
	v.Answer = newAnswerView(site, text, answer, about)
	return v
}

func size(n int) string {
	switch {
	case n < 10_000:
		return plural(n, "byte", "bytes")
	case n < 1<<20:
		return thousands(n>>10) + " KiB"
	default:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
}

func newAnswerView(site Site, text []byte, a *diagnose.Answer, about map[string]About) *AnswerView {
	v := &AnswerView{
		Verdict: known(string(a.Verdict), []string{"known", "likely", "unknown"}),
		Size:    size(a.Input.Bytes) + " in " + plural(a.Input.Lines, "line", "lines"),
		Partial: a.Partial,
		API:     site.To(PlaceAPIDiagnose),
		Version: a.DatasetVersion,
	}
	switch n := len(a.Diagnoses); {
	case a.Verdict == diagnose.VerdictKnown && n == 1:
		v.Headline, v.Sentence = "Known error", "The text holds one documented error."
	case a.Verdict == diagnose.VerdictKnown:
		v.Headline, v.Sentence = "Known error", fmt.Sprintf("The text holds %d documented errors. The first is the cause to look at; the others follow it or stand beside it.", n)
	case a.Verdict == diagnose.VerdictLikely:
		v.Headline, v.Sentence = "Probably this error", "The text resembles a documented error, but not in every word. Compare before you act on it."
	case a.Input.Bytes == 0:
		v.Headline, v.Sentence = "Nothing to diagnose", "The text was empty. Paste a message, a stack trace or a whole log."
	default:
		v.Headline, v.Sentence = "Not a known error", "No documented error stands in this text with enough certainty to name it."
	}
	for i, d := range a.Diagnoses {
		v.Matches = append(v.Matches, newMatchView(i, text, d, about[d.Record.ID]))
	}
	for _, r := range a.RunnersUp {
		why := "confidence " + percent(r.Confidence)
		if r.Why != "" {
			why += ": " + visible(r.Why)
		}
		v.Runners = append(v.Runners, RunnerView{visible(r.Record.Title), r.Record.URL, why})
	}
	if a.Unknown != nil && a.Input.Bytes > 0 {
		v.Unknown = newUnknownView(site, text, a.Unknown)
	}
	return v
}

var kindWords = map[diagnose.Kind]string{
	diagnose.KindExact:      "The message stands in the text word for word.",
	diagnose.KindNormalized: "The message stands in the text once what logs and terminals add is taken off.",
	diagnose.KindTruncated:  "A part of the message is cut off; what is there fits this error.",
	diagnose.KindHistoric:   "The text holds an earlier wording of this message.",
	diagnose.KindCode:       "Only the code or class of this error stands in the text.",
}

func newMatchView(i int, text []byte, d diagnose.Diagnosis, about About) MatchView {
	v := MatchView{
		ID: fmt.Sprintf("match-%d", i+1), Title: visible(d.Record.Title), URL: d.Record.URL,
		How: kindWords[d.Kind], Confidence: percent(d.Confidence),
		Badges: []Badge{
			{"severity-" + known(d.Record.Severity, severities), "Severity", visible(d.Record.Severity), ""},
			{"role", "Role", visible(d.Record.Role), ""},
			{"repo", "Project", visible(d.Record.Repo), ""},
		},
	}
	if d.Record.Status != string(kb.StatusActive) {
		v.Badges = append(v.Badges, Badge{"status", "Status", visible(d.Record.Status), ""})
	}
	if about.Proven {
		v.Badges = append(v.Badges, Badge{"proven", "Evidence", "Proven", ""})
	}
	if d.Count > 1 {
		v.Times = "Found " + thousands(d.Count) + " times."
	}
	numbers := map[string]int{}
	meanings := map[string]Prose{}
	for i, c := range about.Captures {
		numbers[c.Name], meanings[c.Name] = i+1, inlineProse(c.Description)
	}
	if len(d.Evidence) > 0 {
		v.Undone = undone(d.Evidence[0].Undone)
		for _, c := range d.Evidence[0].Captures {
			if numbers[c.Name] == 0 {
				numbers[c.Name] = len(numbers) + 1
			}
			n := numbers[c.Name]
			v.Values = append(v.Values, ValueView{n, capClass(n), visible(c.Name), visible(cutBytes(c.Value, 400)), meanings[c.Name]})
		}
	}
	for _, e := range d.Evidence[:min(len(d.Evidence), excerptsShown)] {
		v.Excerpts = append(v.Excerpts, newExcerpt(text, e, numbers))
	}
	if more := max(d.Count, len(d.Evidence)) - len(v.Excerpts); more > 0 && len(v.Excerpts) > 0 {
		v.More = plural(more, "further occurrence is", "further occurrences are") + " not shown."
	}
	for _, s := range d.Solutions {
		v.Solutions = append(v.Solutions, SolutionView{Text: inlineProse(s)})
	}
	return v
}

// undoneWords says what a layer was; a layer that is not listed is named.
var undoneWords = map[string]string{
	"ansi":            "terminal colours",
	"carriage-return": "overwritten lines",
	"typography":      "typographic quotes and dashes",
	"entity":          "HTML entities",
	"escape":          "escapes of JSON or a shell",
	"quote":           "quote marks of mail or Markdown",
	"prefix":          "prefixes of log lines",
	"space":           "unusual spaces",
	"wrap":            "hard line wraps",
}

func undone(layers []string) string {
	var list []string
	for _, l := range layers {
		word, ok := undoneWords[l]
		if !ok {
			word = words(l)
		}
		list = append(list, word)
	}
	if len(list) == 0 {
		return ""
	}
	return "Taken off before reading: " + enumerate(list) + "."
}

func percent(f float64) string { return fmt.Sprintf("%d %%", int(f*100+0.5)) }

func newUnknownView(site Site, text []byte, u *diagnose.Unknown) *UnknownView {
	v := &UnknownView{Template: visible(cutBytes(u.Template, 1000)), Search: site.To(PlaceSearch)}
	v.Words = visible(cutWords(literalWords(u.Template), 120))
	if u.Line != nil {
		excerpt := newExcerpt(text, diagnose.Evidence{Start: u.Line.Start, End: u.Line.End, Line: u.Line.Line}, nil)
		v.Line, v.Why = &excerpt, sentence(capitalise(visible(u.Line.Why)))
	}
	for _, n := range u.Near {
		v.Near = append(v.Near, NearView{visible(n.Record.Title), n.Record.URL, percent(n.Similarity), shownWords(n.Missing), shownWords(n.Extra)})
	}
	return v
}

func shownWords(list []string) []string {
	var out []string
	for _, w := range list[:min(len(list), 12)] {
		out = append(out, visible(cutBytes(w, 60)))
	}
	return out
}

// literalWords leaves the words of a template that are not gaps.
func literalWords(template string) string {
	var kept []string
	for _, w := range strings.FieldsFunc(template, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`", r) }) {
		if !strings.ContainsAny(w, "{}<>…*$") {
			kept = append(kept, strings.Trim(w, ".,:;()[]"))
		}
	}
	return strings.TrimSuffix(strings.Join(strings.Fields(strings.Join(kept, " ")), " "), "…")
}

// DiagnosePage makes the page that answers a pasted text. Only the parts of the
// text around what was found go on the page.
func (r *Renderer) DiagnosePage(ctx context.Context, text []byte, answer *diagnose.Answer) (Document, error) {
	about := map[string]About{}
	for _, d := range answer.Diagnoses {
		// The engine may be a moment ahead of or behind the records; a record that
		// is missing costs only what the page says besides.
		if record, err := r.src.Record(ctx, d.Record.ID); err == nil {
			about[d.Record.ID] = About{record.Captures, r.proof.Of(record.ID).IsProven()}
		}
	}
	return ok(ctx, DiagnosisPage(NewDiagnosisView(r.site, text, answer, about)))
}
