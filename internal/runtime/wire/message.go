// Package wire is what the host and its workers say to each other: one JSON-RPC
// 2.0 object per line, in both directions.
//
// Parse reads a line, Reader cuts a stream into lines, and Writer sends
// messages. The parameters and results of the methods are plain types here
// too, shared by the host and by package sdk.
//
// The protocol is implemented here and not taken from a library. A
// malformed frame has to reach our own handling, with a text of its own for
// each defect; requests carry members beside the standard ones; messages,
// codes and data have to cross unchanged in both directions over one pair of
// pipes. jrpc2, the best kept of the candidates, takes an unknown member of a
// request for an invalid request and words its own errors; the others end the
// connection over a malformed line.
package wire

import (
	"bytes"
	"encoding/json"
	"unicode/utf16"
	"unicode/utf8"

	"errorkb/internal/runtime/fault"
)

// Error codes of the protocol.
const (
	CodeParse             = -32700
	CodeInvalidRequest    = -32600
	CodeMethodNotFound    = -32601
	CodeInvalidParams     = -32602
	CodeInternal          = -32603
	CodeWorkerUnavailable = -32000
	CodeCapabilityDenied  = -32001
	CodeWorkerError       = -32002 // untyped error of plugin code
	CodeTimeout           = -32003
	CodeNotImplemented    = -32004
	CodeScopeDenied       = -32005
	CodeCrossTenant       = -32006
	CodeUnknown           = -32099
)

// Version is the only protocol version that is understood.
const Version = "2.0"

// Message is a request, a notification or a response.
type Message struct {
	ID           json.RawMessage // nil when absent
	Method       string
	Params       json.RawMessage
	Result       json.RawMessage // nil when absent; "null" is a result
	Error        *Error
	Invocation   *Invocation // on requests of the host that concern one company
	InvocationID string      // on messages of the worker that belong to an invocation
}

// Error is the error of a response.
type Error struct {
	Code     int             `json:"code"`
	Message  string          `json:"message"`
	Data     json.RawMessage `json:"data,omitempty"`
	RaisedAt *fault.Place    `json:"raisedAt,omitempty"` // only from a worker that was asked to tell
}

// Invocation names one call of the host and the company it is made for.
type Invocation struct {
	ID          string `json:"id"`
	Scope       Scope  `json:"scope"`
	Traceparent string `json:"traceparent,omitempty"`
}

// Scope is whom an invocation is made for.
type Scope struct {
	CompanyID string `json:"companyId"`
}

type envelope struct {
	Version      json.RawMessage `json:"jsonrpc"`
	ID           json.RawMessage `json:"id,omitempty"`
	Method       string          `json:"method,omitempty"`
	Params       json.RawMessage `json:"params,omitempty"`
	Result       json.RawMessage `json:"result,omitempty"`
	Error        *Error          `json:"error,omitempty"`
	Invocation   *Invocation     `json:"paperclipInvocation,omitempty"`
	InvocationID string          `json:"paperclipInvocationId,omitempty"`
}

var quotedVersion = json.RawMessage(`"` + Version + `"`)

// MarshalJSON adds the version.
func (m *Message) MarshalJSON() ([]byte, error) {
	return encode(envelope{quotedVersion, m.ID, m.Method, m.Params, m.Result, m.Error, m.Invocation, m.InvocationID})
}

// IsRequest reports whether the sender waits for an answer.
func (m *Message) IsRequest() bool { return m.Method != "" && m.ID != nil }

// IsNotification reports whether the message needs no answer.
func (m *Message) IsNotification() bool { return m.Method != "" && m.ID == nil }

// IsResponse reports whether the message answers a request.
func (m *Message) IsResponse() bool {
	return m.Method == "" && m.ID != nil && (m.Error != nil || m.Result != nil)
}

// Texts of errors in reading a line.
const (
	msgEmpty       = `Empty message`                                                    // PRO-01
	msgInvalidJSON = `Invalid JSON: %s`                                                 // PRO-02
	msgNotObject   = `Message must be a JSON object`                                    // PRO-03
	msgVersion     = `Invalid or missing jsonrpc version (expected "2.0", got %s)`      // PRO-04
	msgEnvelope    = `Invalid Request: a member of the message has the wrong type (%s)` // ours
)

// quotedLength is how much of a broken line its error quotes, in UTF-16 units.
const quotedLength = 200

// Parse reads one line. Its errors have the class JsonRpcParseError.
func Parse(line []byte) (*Message, error) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return nil, fault.New(msgEmpty).WithClass(fault.ClassParse)
	}
	if m, ok := parseFrame(line); ok {
		return m, nil
	}
	if !utf8.Valid(line) {
		line = bytes.ToValidUTF8(line, []byte("\uFFFD"))
	}
	if !json.Valid(line) {
		return nil, fault.New(msgInvalidJSON, first(line, quotedLength)).WithClass(fault.ClassParse)
	}
	if line[0] != '{' && line[0] != '[' {
		return nil, fault.New(msgNotObject).WithClass(fault.ClassParse)
	}
	// An array passes for an object, as it does in the documented project, and
	// is then found to have no version.
	var e envelope
	var err error
	if line[0] == '{' {
		err = json.Unmarshal(line, &e)
	}
	if !bytes.Equal(e.Version, quotedVersion) {
		got := "undefined"
		if e.Version != nil {
			var compact bytes.Buffer
			if json.Compact(&compact, e.Version) == nil {
				got = compact.String()
			}
		}
		return nil, fault.New(msgVersion, got).WithClass(fault.ClassParse)
	}
	if err != nil {
		return nil, fault.New(msgEnvelope, err).WithClass(fault.ClassParse).WithCause(err)
	}
	return &Message{e.ID, e.Method, e.Params, e.Result, e.Error, e.Invocation, e.InvocationID}, nil
}

// first returns the beginning of text, at most limit UTF-16 units long.
func first(text []byte, limit int) string {
	units := 0
	for i, r := range string(text) {
		units += max(utf16.RuneLen(r), 1)
		if units > limit {
			return string(text[:i])
		}
	}
	return string(text)
}

// encode is json.Marshal without the escaping meant for HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
