// Package fault makes the errors that a caller of the runtime can see.
//
// Each such error is made by New, from a constant template that stands beside
// the code that raises it, so that a reader of the source (a person or the
// proof) finds every place that can raise an error:
//
//	// FAC-06
//	const msgNoExecute = `Environment driver "%s" does not support command execution.`
//
//	return fault.New(msgNoExecute, driver.Key())
//	return fault.New(msgTimeout, method, ms).WithCode(wire.CodeTimeout).WithClass(fault.ClassCall)
//
// An error that a worker sent is rebuilt by Received, which keeps its text and
// code. To look at an error, take it apart with As.
package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	goruntime "runtime"
	"strings"
)

// Classes of errors, as a caller of the documented project sees them. An error
// without a class is a plain Error there.
const (
	ClassCall          = "JsonRpcCallError"
	ClassParse         = "JsonRpcParseError"
	ClassResume        = "ReusableSandboxResumeError"
	ClassOrphan        = "SandboxOrphanCleanupWriteError"
	ClassLeaseConflict = "EnvironmentLeaseConflictError"
	ClassRun           = "EnvironmentRunError"
	ClassLiveness      = "SandboxLivenessTimeoutError"
)

// Place is where an error was raised.
type Place struct {
	File   string `json:"file"`   // below internal/runtime, slash-separated
	Line   int    `json:"line"`   // from 1
	Symbol string `json:"symbol"` // function or method, as in "(*Service).Execute"
}

// IsZero reports whether the place is unknown.
func (p Place) IsZero() bool { return p.File == "" }

func (p Place) String() string { return fmt.Sprintf("%s:%d %s", p.File, p.Line, p.Symbol) }

// Error is an error as a caller sees it. Its text is Message and nothing else.
type Error struct {
	Message  string
	Template string // what Message was rendered from; "" for a received error
	Code     int    // JSON-RPC code (negative) or HTTP status; 0 when the error has none
	Key      string // symbolic code, as in "environment_lease_conflict"; "" when it has none
	Class    string // one of the Class constants; "" for a plain error
	Data     json.RawMessage
	Place    Place
	Origin   Place // where a worker raised it, when the worker said so; Place is then where it arrived
	cause    error
}

// New renders a message from a constant template and records the place of its
// caller.
func New(template string, args ...any) *Error {
	return &Error{Message: fmt.Sprintf(template, args...), Template: template, Place: caller(3)}
}

// Received rebuilds an error that another process sent. Message, code and data
// stay as they came.
func Received(message string, code int, data json.RawMessage, origin Place) *Error {
	return &Error{Message: message, Code: code, Class: ClassCall, Data: data, Place: caller(3), Origin: origin}
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the error that led to this one, nil when there is none.
func (e *Error) Unwrap() error { return e.cause }

// WithCode sets the numeric code and returns e.
func (e *Error) WithCode(code int) *Error { e.Code = code; return e }

// WithKey sets the symbolic code and returns e.
func (e *Error) WithKey(key string) *Error { e.Key = key; return e }

// WithClass sets the class and returns e.
func (e *Error) WithClass(class string) *Error { e.Class = class; return e }

// WithCause keeps the error that led to this one and returns e.
func (e *Error) WithCause(err error) *Error { e.cause = err; return e }

// WithData attaches facts for machines, encoded as JSON, and returns e. What
// cannot be encoded is left out.
func (e *Error) WithData(data any) *Error {
	if raw, err := json.Marshal(data); err == nil {
		e.Data = raw
	}
	return e
}

// As returns the outermost Error in the chain of err, nil when there is none.
func As(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return nil
}

// Is reports whether an error in the chain of err was made from template.
func Is(err error, template string) bool {
	for e := As(err); e != nil; e = As(e.cause) {
		if e.Template == template {
			return true
		}
	}
	return false
}

// Raised returns where the innermost cause of err was raised: in the worker
// when the worker told, else here.
func Raised(err error) Place {
	e := As(err)
	if e == nil {
		return Place{}
	}
	if !e.Origin.IsZero() {
		return e.Origin
	}
	return e.Place
}

const root = "internal/runtime/"

// caller describes the function skip frames up.
func caller(skip int) Place {
	var pcs [1]uintptr
	if goruntime.Callers(skip, pcs[:]) == 0 {
		return Place{}
	}
	frame, _ := goruntime.CallersFrames(pcs[:]).Next()
	file := frame.File
	if i := strings.LastIndex(file, root); i >= 0 {
		file = file[i+len(root):]
	}
	return Place{File: file, Line: frame.Line, Symbol: symbol(frame.Function)}
}

// symbol shortens the name of a function to what stands in its package, and
// names a closure after the function around it.
func symbol(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	if i := strings.IndexByte(name, '.'); i >= 0 {
		name = name[i+1:]
	}
	if i := strings.Index(name, ".func"); i >= 0 {
		name = name[:i]
	}
	return name
}
