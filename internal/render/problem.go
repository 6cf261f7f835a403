package render

import (
	"fmt"
	"net/http"
	"strconv"
	"unicode/utf8"
)

// ProblemType is a kind of failure that a client can be told about. Its page,
// at PlaceProblem, explains it; the API names that page in the "type" of a
// problem document. The slugs are a contract: they are never renamed.
type ProblemType struct {
	Slug   string // last part of the page's address
	Title  string // the same for every problem of the type
	Status int    // HTTP status
	// Explanation says what happened and why, Advice what to do about it.
	// Both are plain text, one paragraph each.
	Explanation string
	Advice      string
}

// The slugs of the problem types.
const (
	ProblemBadAddress      = "bad-address"
	ProblemBadParameter    = "bad-parameter"
	ProblemBadCursor       = "bad-cursor"
	ProblemBadBody         = "bad-body"
	ProblemNotFound        = "not-found"
	ProblemRecordNotFound  = "record-not-found"
	ProblemMethod          = "method-not-allowed"
	ProblemTimeout         = "request-timeout"
	ProblemTooLarge        = "text-too-large"
	ProblemMediaType       = "unsupported-media-type"
	ProblemTooManyRequests = "too-many-requests"
	ProblemInternal        = "internal-error"
	ProblemBusy            = "busy"
	ProblemSearch          = "search-unavailable"
	ProblemLiveOff         = "live-proof-off"
	ProblemLiveElsewhere   = "live-proof-elsewhere"
	ProblemLiveBusy        = "live-proof-busy"
	ProblemNoScenario      = "no-scenario"
)

var problemTypes = []ProblemType{
	{ProblemBadAddress, "The address is malformed", http.StatusBadRequest,
		"The path of the request holds bytes that no address here can have: a NUL or another control character, or bytes that are not UTF-8. It was refused before anything was looked up.",
		"Percent-encode the parts of the path as UTF-8. The addresses of records are made of letters, digits, hyphens, underscores, dots and slashes only; take them from the field \"url\" of an answer instead of building them."},
	{ProblemBadParameter, "A query parameter is not usable", http.StatusBadRequest,
		"The query string could not be read, names a parameter that this address does not have, gives one twice, or holds a value outside its range. Nothing was searched or listed, because an answer to a misread question would mislead.",
		"The detail names the parameter and quotes its value. The OpenAPI document lists the parameters of each address and their values."},
	{ProblemBadCursor, "The cursor is not valid", http.StatusBadRequest,
		"A cursor marks a place in one list. It is opaque, works only with the filters of the answer it came from, and can stop being valid when another data set is loaded.",
		"Follow the address in \"next\" or in the Link header as it is given. When it is refused, start again without a cursor."},
	{ProblemBadBody, "The body could not be read", http.StatusBadRequest,
		"The body of the request ended early, is not the JSON or form that its media type promises, or lacks the text to diagnose.",
		"Send the text itself as text/plain, a JSON object with the one member \"text\" as application/json, or the form field \"text\". The detail says what was wrong and where."},
	{ProblemLiveOff, "Live proofs are off", http.StatusForbidden,
		"A live proof starts programs on the machine of the server, so a server takes none unless it was started for them. This one was not. The evidence that is shown with a record was made in the same way, and stays.",
		"Run the proof on your own machine: kb prove with the id of the record and -v shows it step by step. Whoever runs the server for themselves starts it with kb serve --live-proof."},
	{ProblemLiveElsewhere, "Live proofs are for this machine only", http.StatusForbidden,
		"A live proof starts programs on the machine of the server, so it is taken from that machine only. The request came from another one, through a proxy, under a name that is not that of the machine itself, or from a page of another site.",
		"Open the site on the machine of the server by the address that kb serve prints, and use the button on the page of the record. Elsewhere, run kb prove with the id of the record and -v."},
	{ProblemNotFound, "There is nothing at this address", http.StatusNotFound,
		"No page, document or list has this address. Addresses of records stay for ever, so a link that once worked has probably been cut or changed on its way.",
		"Search for the message, or begin at the list of all errors."},
	{ProblemRecordNotFound, "No record has this id", http.StatusNotFound,
		"The last part of the address is neither the id of a record nor one of the earlier names that are still known.",
		"Ids have 16 lower-case hexadecimal digits. The list of all errors and /api/modified.json hold every id; a message of which the id is unknown can be pasted into the diagnosis."},
	{ProblemNoScenario, "The record has no scenario", http.StatusNotFound,
		"A record is proven by its scenario: the steps that make its error happen. This record names none, or the one that it names is not in the folder of records, so there is nothing to run.",
		"The report at /proof/ lists the records that have one. Whoever keeps the records adds a scenario; the manual of the proof says how."},
	{ProblemMethod, "The method is not allowed here", http.StatusMethodNotAllowed,
		"The address exists, but does not take this method. All addresses take GET and HEAD, but for two: the diagnosis takes POST, and so does the live proof of a record.",
		"The Allow header of the answer names the methods that the address takes."},
	{ProblemTimeout, "The request took too long to arrive", http.StatusRequestTimeout,
		"The body of the request did not arrive within the time that the server waits for it, so it stopped waiting.",
		"Send it again, or send the part of the text around the error: the last few hundred lines of a log nearly always hold it."},
	{ProblemLiveBusy, "Another live proof is running", http.StatusConflict,
		"Live proofs run one at a time, because each starts programs and measures what they do. One is running, and this one was not queued.",
		"Try again after the seconds in the Retry-After header. A run takes a second or two as a rule, and is ended after half a minute."},
	{ProblemTooLarge, "The text is too large", http.StatusRequestEntityTooLarge,
		"The text to diagnose is longer than this server takes over HTTP. The detail names the limit. Nothing of it was kept.",
		"Send the part around the error, or run the command kb diagnose on your machine: it streams its input and has no fixed limit."},
	{ProblemMediaType, "The media type is not supported", http.StatusUnsupportedMediaType,
		"The Content-Type of the request is not one that the diagnosis reads, or its body is compressed, which it does not undo.",
		"Send text/plain (with curl: --data-binary @file -H 'Content-Type: text/plain') or application/json with {\"text\": \"…\"}, uncompressed."},
	{ProblemTooManyRequests, "Too many requests", http.StatusTooManyRequests,
		"This server limits how many requests one client may send in a time, and this client has sent more.",
		"Wait for the seconds in the Retry-After header. Whoever needs every record fetches /api/dataset.jsonl once instead of many single records."},
	{ProblemInternal, "The server failed", http.StatusInternalServerError,
		"Something went wrong inside the server. It is not the fault of the request, and the log of the server has the reason.",
		"Try again later. When it stays, tell the operator the reference in the detail: it finds the entry in the log."},
	{ProblemBusy, "The server is busy", http.StatusServiceUnavailable,
		"As many texts as this server takes at once are being diagnosed or are waiting. It refuses more instead of making everybody wait.",
		"Try again after the seconds in the Retry-After header, or run the command kb diagnose on your machine."},
	{ProblemSearch, "The search is not available", http.StatusServiceUnavailable,
		"The search index did not answer. Pages, lists and the diagnosis do not need it and still work.",
		"Try again in a moment, or browse the list of all errors."},
}

// ProblemTypes lists every type of problem, by status. The slice is the
// caller's.
func ProblemTypes() []ProblemType {
	return append([]ProblemType(nil), problemTypes...)
}

// ProblemTypeOf finds a type by its slug.
func ProblemTypeOf(slug string) (ProblemType, bool) {
	for _, t := range problemTypes {
		if t.Slug == slug {
			return t, true
		}
	}
	return ProblemType{}, false
}

// Problem is a problem document of RFC 9457.
type Problem struct {
	Type   string `json:"type"` // address of the page of the type
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`          // a sentence about this very request
	Input  string `json:"input,omitempty"` // what was wrong with it, shortened

	slug string
}

// Slug is the slug of the problem's type.
func (p Problem) Slug() string { return p.slug }

// NewProblem makes a problem document. The slug is one of the constants; input
// is the offending part of the request, if there is one, and may hold anything.
func NewProblem(base Base, slug, detail, input string) Problem {
	t, found := ProblemTypeOf(slug)
	if !found {
		panic(fmt.Sprintf("render: unknown problem type %q", slug)) // a slip of the programmer, found by any test
	}
	return Problem{
		Type: base.Address(PlaceProblem, slug), Title: t.Title, Status: t.Status,
		Detail: detail, Input: Shorten(input), slug: slug,
	}
}

// JSON is the document as sent, with media type application/problem+json.
func (p Problem) JSON() []byte { return mustJSON(p) }

// shortInput is how much of an offending input is shown: enough to recognise
// it, too little to fill a log or to hold a pasted text.
const shortInput = 80

// Shorten cuts an offending input to what an error message can show. The cut is
// between characters and marked by an ellipsis.
func Shorten(input string) string {
	if len(input) <= shortInput {
		return input
	}
	end := shortInput
	for end > 0 && !utf8.RuneStart(input[end]) {
		end--
	}
	return input[:end] + "…"
}

// Quote shortens an offending input and quotes it for a sentence, with control
// characters and broken UTF-8 escaped.
func Quote(input string) string { return strconv.Quote(Shorten(input)) }
