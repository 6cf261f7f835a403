package render

import (
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Site is what every view needs to know of the site it stands in.
type Site struct {
	Base      Base
	URL       string            // "https://host" without slash, "" when it is not known
	Name      string            // name in header and titles
	ReportURL string            // where a mistake is reported; "" for none
	Assets    map[string]string // logical name of an asset → its file name below /assets/
	Version   string            // data-set version
	Proof     bool              // there is a proof to show
}

// Policy is what browsers may do with our pages: load our own style, script
// and pictures, and send forms to us. Nothing inline, nothing from elsewhere.
const Policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Layout is the frame of a page: head, header, footer.
type Layout struct {
	Site        Site
	Title       string // of the window
	Description string
	Canonical   string // address of the page, "" for answers that have none
	JSON        string // address of the same content as JSON, "" for none
	Hidden      bool   // search engines shall not list the page
	OwnSearch   bool   // the page holds the search box itself
	Applied     string // query that the page answers; the script compares it with the address
	Nav         []NavLink
}

// NavLink is a link of the header.
type NavLink struct {
	Label, URL string
	Current    bool
}

// layout makes the frame of a page at a place.
func (s Site) layout(current Place, title, description string) Layout {
	title = visible(title)
	l := Layout{Site: s, Title: title, Description: cutWords(visible(description), 200)}
	if title != s.Name {
		l.Title = title + " · " + s.Name
	}
	for _, n := range []struct {
		there bool
		label string
		place Place
	}{{true, "Diagnose", PlaceDiagnose}, {true, "Errors", PlaceErrors}, {s.Proof, "Proof", PlaceProof}} {
		if n.there {
			l.Nav = append(l.Nav, NavLink{n.label, s.To(n.place), n.place == current})
		}
	}
	return l
}

// To is the address of a place.
func (s Site) To(place Place, args ...string) string { return s.Base.Address(place, args...) }

// Absolute puts the site's URL in front of an address, where it is known.
func (s Site) Absolute(address string) string { return s.URL + address }

// Asset is the address of a file of web/static.
func (s Site) Asset(name string) string {
	if hashed, ok := s.Assets[name]; ok {
		name = hashed
	}
	return s.To(PlaceAsset, name)
}

// Report is the address where a mistake in a record is reported, "" for none.
func (s Site) Report(title string) string {
	u, err := url.Parse(s.ReportURL)
	if err != nil || s.ReportURL == "" {
		return ""
	}
	q := u.Query()
	q.Set("title", title)
	u.RawQuery = q.Encode()
	return u.String()
}

// Date is a point in time as people and machines read it.
type Date struct {
	Text    string // "21 August 2026"
	Machine string // RFC 3339
}

// newDate reads an RFC 3339 time. Something else is shown as it stands.
func newDate(rfc3339 string) Date {
	t, err := time.Parse(time.RFC3339, rfc3339)
	if err != nil {
		return Date{Text: visible(rfc3339)}
	}
	return Date{t.UTC().Format("2 January 2006"), t.UTC().Format(time.RFC3339)}
}

// cutWords cuts text behind a word so that at most max characters stay, the
// ellipsis included. A single longer word is cut where it must be.
func cutWords(text string, max int) string {
	runes := []rune(text)
	if len(runes) <= max {
		return text
	}
	head := string(runes[:max-1])
	if i := strings.LastIndexAny(head, " \t\n"); i > 0 && runes[max-1] != ' ' {
		head = head[:i]
	}
	return strings.TrimRight(head, " \t\n,;:–-(") + "…"
}

// plural is a number with its noun: "1 error", "1,234 errors".
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + many
}

// thousands writes a number with a comma at every third digit.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// enumerate joins words as prose does: "a", "a and b", "a, b and c".
func enumerate(words []string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}
