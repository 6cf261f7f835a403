package lint

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"errorkb/internal/kb"
)

// placeChecks look at where a record says the error is raised.
var placeChecks = []*aCheck{
	{CheckInfo: CheckInfo{Code: "file-path", Name: "odd file path", Severity: kb.FindingWarning,
		Description: "filePath is a path below the root of the repository, with slashes, without . and .. and without a line number.",
		Advice:      "write it as git shows it"}, record: checkFilePath},
	{CheckInfo: CheckInfo{Code: "excerpt-range", Name: "excerpt and its lines disagree", Severity: kb.FindingWarning, Strict: true,
		Description: "sourceCode, sourceCodeStart and sourceCodeEnd come together, and the excerpt has as many lines as they say.",
		Advice:      "copy the excerpt again, or mend the numbers"}, record: checkExcerptRange},
	{CheckInfo: CheckInfo{Code: "excerpt-line", Name: "excerpt without its line", Severity: kb.FindingWarning, Strict: true,
		Description: "The excerpt contains lineNumber.",
		Advice:      "choose an excerpt around the line, or mend lineNumber"}, record: checkExcerptLine},
	{CheckInfo: CheckInfo{Code: "excerpt-throw", Name: "excerpt does not show the throw", Severity: kb.FindingWarning, Strict: true,
		Description: "The excerpt shows the statement that raises the error, at lineNumber: with the message, the code, the class or a throw in it.",
		Advice:      "choose the excerpt in which the error is raised, and set lineNumber to that statement"}, record: checkExcerptThrow},
	{CheckInfo: CheckInfo{Code: "prose-line", Name: "prose cites another line", Severity: kb.FindingWarning, Strict: true,
		Description: "Where the prose gives a line of filePath, it is lineNumber.",
		Advice:      "find out which one is right, or leave the line out of the prose"}, record: checkProseLine},
	{CheckInfo: CheckInfo{Code: "url-unsafe", Name: "unsafe address", Severity: kb.FindingError,
		Description: "githubUrl and links in Markdown lead to https (or http, mailto, or a place on the site): no script, data or file addresses, no passwords.",
		Advice:      "use an https address"}, record: checkURLUnsafe},
	{CheckInfo: CheckInfo{Code: "url-plain", Name: "address without encryption", Severity: kb.FindingWarning,
		Description: "Links use https, except to the reader's own machine.",
		Advice:      "use https"}, record: checkURLPlain},
	{CheckInfo: CheckInfo{Code: "url-unpinned", Name: "address not pinned to a commit", Severity: kb.FindingWarning, Strict: true,
		Description: "An address of source code names a full commit; a branch or tag moves and shows other lines later.",
		Advice:      "open the file on GitHub, press y, and copy the address"}, record: checkURLUnpinned},
	{CheckInfo: CheckInfo{Code: "url-mismatch", Name: "address of another place", Severity: kb.FindingWarning, Strict: true,
		Description: "githubUrl names the record's repository, file, commit and lines.",
		Advice:      "mend the address or the field"}, record: checkURLMismatch},
}

func checkFilePath(s *subject, report reporter) {
	p := s.record.FilePath
	switch {
	case p == "":
		report("filePath", "is empty")
	case path.Clean(p) != p || strings.HasPrefix(p, ".."):
		report("filePath", "%q is not in its shortest form below the root", p)
	case strings.Contains(p, `\`):
		report("filePath", "%q has backslashes", p)
	case lineSuffix.MatchString(p):
		report("filePath", "%q ends in a line number, which belongs to lineNumber", p)
	}
}

var lineSuffix = regexp.MustCompile(`(?::|#L)[0-9]+$`)

func checkExcerptRange(s *subject, report reporter) {
	r := s.record
	start, end := r.SourceCodeStart, r.SourceCodeEnd
	switch {
	case r.SourceCode == nil && (start != nil || end != nil):
		report("sourceCode", "is missing, and its lines are given")
	case r.SourceCode == nil:
	case start == nil || end == nil:
		report("sourceCodeStart", "the excerpt has no first and last line")
	case *end < *start:
		report("sourceCodeEnd", "%d is before sourceCodeStart %d", *end, *start)
	case lineCount(*r.SourceCode) != *end-*start+1:
		report("sourceCode", "has %d lines, and lines %d to %d are %d", lineCount(*r.SourceCode), *start, *end, *end-*start+1)
	}
}

func lineCount(code string) int {
	return 1 + strings.Count(strings.TrimSuffix(code, "\n"), "\n")
}

func checkExcerptLine(s *subject, report reporter) {
	r := s.record
	if r.SourceCode == nil || r.SourceCodeStart == nil || r.SourceCodeEnd == nil || r.LineNumber == nil {
		return
	}
	if n := *r.LineNumber; n < *r.SourceCodeStart || n > *r.SourceCodeEnd {
		report("lineNumber", "%d is outside the excerpt, lines %d to %d", n, *r.SourceCodeStart, *r.SourceCodeEnd)
	}
}

// raises matches a line of code that may raise an error, in many languages.
var raises = regexp.MustCompile(`\b(?:throw|raise|panic|reject|abort|die|fail|exit|bail|ensure|assert|croak|Err|errors?\.\w+|fmt\.Errorf|\w*(?:Error|Exception))\b`)

// The statement that raises may be broken over lines: its keyword stands near
// the message or near lineNumber.
const nearLines = 4

// checkExcerptThrow wants what is particular to this error (message, code,
// class, alias) in the excerpt and, for an exception, a throw beside it; or a
// throw at lineNumber.
func checkExcerptThrow(s *subject, report reporter) {
	r := s.record
	if r.SourceCode == nil || *r.SourceCode == "" {
		return
	}
	lines := strings.Split(*r.SourceCode, "\n")
	raised := func(i int) bool {
		return raises.MatchString(strings.Join(lines[max(0, i-nearLines):min(len(lines), i+nearLines+1)], "\n"))
	}
	marks := marksOf(r)
	for i, line := range lines {
		marked := slices.ContainsFunc(marks, func(mark string) bool { return strings.Contains(line, mark) })
		if !marked || comment.MatchString(line) {
			continue
		}
		if r.ErrorType != "exception" || raised(i) {
			return
		}
	}
	if r.LineNumber != nil && r.SourceCodeStart != nil {
		if i := *r.LineNumber - *r.SourceCodeStart; i >= 0 && i < len(lines) && raised(i) {
			return
		}
		report("sourceCode", "shows neither the message nor its code, and nothing is raised at line %d", *r.LineNumber)
		return
	}
	report("sourceCode", "shows neither the message nor its code being raised")
}

var comment = regexp.MustCompile(`^\s*(?://|#|\*|/\*|--)`)

// maxMarks bounds the texts by which a line of code is recognised; a message
// longer than that is recognised by its beginning.
const maxMarks = 64

// marksOf lists texts that only this error has and that its source would show:
// code, aliases, class, and runs of words of the message. Source may escape
// quotes and break a text over lines, so runs of three words are enough.
func marksOf(r *kb.Record) []string {
	var marks []string
	for _, name := range append([]string{value(r.ErrorCode)}, r.Aliases...) {
		if len(name) > 3 {
			marks = append(marks, name)
		}
	}
	if c := value(r.ErrorClass); c != "" && c != "Error" && c != "Exception" {
		marks = append(marks, c)
	}
	rest := r.ErrorMessage
	var pieces []string
	for _, p := range append(kb.Placeholders(r.ErrorMessage), "") {
		before, after, _ := strings.Cut(rest, p)
		if p == "" {
			before = rest
		}
		pieces = append(pieces, strings.FieldsFunc(before, func(c rune) bool { return strings.ContainsRune("\"'`\\\n", c) })...)
		rest = after
	}
	for _, piece := range pieces {
		words := strings.Fields(piece)
		for i := 0; i+3 <= len(words) && len(marks) < maxMarks; i++ {
			marks = append(marks, strings.Join(words[i:i+3], " "))
		}
		if len(words) < 3 && len(strings.TrimSpace(piece)) >= 8 && len(marks) < maxMarks {
			marks = append(marks, strings.TrimSpace(piece))
		}
	}
	return marks[:min(len(marks), maxMarks)]
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func blank(s *string) bool { return strings.TrimSpace(value(s)) == "" }

// checkProseLine looks for path:123, path#L123 and, in a sentence that names
// the file, "line 123"; ranges have to hold lineNumber.
func checkProseLine(s *subject, report reporter) {
	r := s.record
	base := path.Base(r.FilePath)
	if r.FilePath == "" || base == "." || base == "/" {
		return
	}
	cited := regexp.MustCompile(`([\w./@-]*)` + regexp.QuoteMeta(base) + `(?::|#L)([0-9]+)(?:-L?([0-9]+))?`)
	for _, sec := range s.prose {
		if !strings.Contains(sec.text, base) {
			continue
		}
		var places [][]string // text, first line, last line
		for _, m := range cited.FindAllStringSubmatch(sec.text, -1) {
			// src/other/index.ts is another file than src/index.ts.
			if strings.HasSuffix(r.FilePath, m[1]+base) {
				places = append(places, []string{m[0], m[2], m[3]})
			}
		}
		for _, sentence := range kb.Sentences(sec.text) {
			if strings.Contains(sentence, base) {
				places = append(places, lineWord.FindAllStringSubmatch(sentence, -1)...)
			}
		}
		for _, p := range places {
			first, err := strconv.Atoi(p[1])
			last := first
			if p[2] != "" {
				last, _ = strconv.Atoi(p[2])
			}
			switch {
			case err != nil:
				continue
			case r.LineNumber == nil:
				report(sec.field, "cites %s, and lineNumber is not given", p[0])
			case *r.LineNumber < first || *r.LineNumber > last:
				report(sec.field, "cites %s, and lineNumber is %d", p[0], *r.LineNumber)
			default:
				continue
			}
			break
		}
	}
}

var lineWord = regexp.MustCompile(`\b[Ll]ines? ([0-9]+)(?: ?(?:-|–|to|and) ?([0-9]+))?\b`)

// address is one URL of a record and the field it stands in.
type address struct{ field, url string }

// findAddresses lists them in the order of the fields.
func (s *subject) findAddresses() []address {
	var all []address
	if u := s.record.GithubURL; u != nil {
		all = append(all, address{"githubUrl", *u})
	}
	for _, sec := range s.prose {
		for _, u := range sec.links() {
			all = append(all, address{sec.field, u})
		}
	}
	return all
}

func checkURLUnsafe(s *subject, report reporter) {
	for _, a := range s.addresses {
		u, err := url.Parse(a.url)
		switch {
		case err != nil:
			report(a.field, "%q is no address", shorten(a.url, 80))
		case u.User != nil:
			report(a.field, "%q holds a user name or password", shorten(u.Redacted(), 80))
		case a.field == "githubUrl" && (u.Scheme != "https" || u.Host == ""):
			report(a.field, "%q is not an https address", shorten(a.url, 80))
		case u.Scheme == "" && u.Host != "":
			report(a.field, "%q leaves the scheme open", shorten(a.url, 80))
		case !safeScheme[u.Scheme]:
			report(a.field, "%q has the scheme %s", shorten(a.url, 80), u.Scheme)
		}
	}
}

var safeScheme = map[string]bool{"": true, "https": true, "http": true, "mailto": true}

func checkURLPlain(s *subject, report reporter) {
	for _, a := range s.addresses {
		u, err := url.Parse(a.url)
		if err != nil || u.Scheme != "http" || a.field == "githubUrl" {
			continue
		}
		if h := u.Hostname(); h == "localhost" || h == "127.0.0.1" || h == "::1" || strings.HasSuffix(h, ".localhost") || strings.HasSuffix(h, ".example") {
			continue
		}
		report(a.field, "%q is not encrypted", shorten(a.url, 80))
	}
}

// blobURL takes an address of source on GitHub apart: repository, revision,
// path, lines.
var blobURL = regexp.MustCompile(`^https://(?:www\.)?github\.com/([^/]+/[^/]+)/(?:blob|blame|raw|tree|edit)/([^/#?]+)/?([^#?]*)(?:\?[^#]*)?(?:#L([0-9]+)(?:-L?([0-9]+))?)?`)

var commitForm = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

func checkURLUnpinned(s *subject, report reporter) {
	for _, a := range s.addresses {
		m := blobURL.FindStringSubmatch(a.url)
		switch {
		case m != nil && !commitForm.MatchString(m[2]) && !shortCommit(m[2], s.record.AnalyzedSHA):
			report(a.field, "%q shows %s, which moves", shorten(a.url, 80), m[2])
		case m == nil && a.field == "githubUrl" && !hasCommit.MatchString(a.url):
			report(a.field, "%q names no commit", shorten(a.url, 80))
		}
	}
}

// shortCommit reports whether a revision is the commit analysed, abbreviated:
// the record itself says that it is one and no branch.
func shortCommit(revision, analyzed string) bool {
	return len(revision) >= 7 && (strings.HasPrefix(analyzed, revision) || len(analyzed) >= 7 && strings.HasPrefix(revision, analyzed))
}

var hasCommit = regexp.MustCompile(`[/=][0-9a-f]{40}(?:[0-9a-f]{24})?(?:[/#?&]|$)`)

func checkURLMismatch(s *subject, report reporter) {
	r := s.record
	m := blobURL.FindStringSubmatch(value(r.GithubURL))
	if m == nil {
		return
	}
	var wrong []string
	differs := func(what, is, want string) {
		if want != "" && is != want {
			wrong = append(wrong, fmt.Sprintf("its %s is %s, and the record's is %s", what, is, want))
		}
	}
	if !strings.EqualFold(m[1], r.Repo) {
		differs("repository", m[1], r.Repo)
	}
	if p, err := url.PathUnescape(m[3]); err == nil {
		differs("path", p, r.FilePath)
	}
	if commitForm.MatchString(m[2]) && !strings.HasPrefix(m[2], r.AnalyzedSHA) {
		differs("commit", m[2], r.AnalyzedSHA)
	}
	if m[4] != "" && r.LineNumber != nil {
		from, to := m[4], m[5]
		if to == "" {
			to = from
		}
		first, errA := strconv.Atoi(from)
		last, errB := strconv.Atoi(to)
		if errA == nil && errB == nil && (*r.LineNumber < first || *r.LineNumber > last) {
			wrong = append(wrong, fmt.Sprintf("it shows lines %s to %s without line %d", from, to, *r.LineNumber))
		}
	}
	if len(wrong) > 0 {
		report("githubUrl", "%s", strings.Join(wrong, "; "))
	}
}
