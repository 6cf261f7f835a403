package conformance

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"errorkb/internal/kb"
)

const sample = `package lease

import (
	"errors"
	text "fmt"

	"errorkb/internal/runtime/fault"
)

const (
	msgGone = ` + "`Lease \"%s\" is gone`" + ` // X-01
	msgLong = "first " + ("and " + second)
	second  = "second"
)

var errHidden = errors.New("hidden")

type box[T any] struct{}

func (b *box[T]) open(id string) error {
	go func() { _ = text.Errorf("wrapped %q: %w", id, errHidden) }()
	return fault.New(msgGone, id).
		WithCode(3)
}

func (box[T]) close(message string) error { return errors.New(message) }

func New() error { return nil } // not a maker of errors

func other() error { New(); return fault.New(msgLong) }
`

func TestReadSource(t *testing.T) {
	s, err := readSource(fstest.MapFS{
		"lease/lease.go":      {Data: []byte(sample)},
		"lease/lease_test.go": {Data: []byte("package lease\nimport \"errors\"\nvar _ = errors.New(\"of a test\")\n")},
		"lease/notes.txt":     {Data: []byte("errors.New")},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range s.raises {
		got = append(got, fmt.Sprintf("%d %s: %s", r.Line, r.Symbol, r.template))
	}
	want := []string{
		`16 : hidden`,
		`21 (*box).open: wrapped %q: %w`,
		`22 (*box).open: Lease "%s" is gone`,
		`26 box.close: `,
		`30 other: first and second`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	at := s.excerpt(s.raises[2].Place)
	if at.Start != 20 || len(at.Lines) != 5 || !strings.HasPrefix(at.Lines[0], "func (b *box[T]) open") || at.Lines[4] != "}" {
		t.Errorf("the excerpt is %+v", at)
	}
	if _, err := readSource(fstest.MapFS{"a.go": {Data: []byte("package a\n")}}); err == nil {
		t.Error("a source that raises nothing is accepted")
	}
	if _, err := readSource(fstest.MapFS{"a.go": {Data: []byte("package")}}); err == nil {
		t.Error("a source that cannot be parsed is accepted")
	}

	name := "gone"
	record := &kb.Record{ID: "0123456789abcdef", ErrorMessage: "Lease \"${lease.id}\" is gone", Scenario: &name}
	exempt := map[string]string{
		"lease/lease.go : hidden": "inner", "lease/lease.go (*box).open: wrapped %q: %w": "inner",
		"lease/lease.go box.close: <message>": "inner", "lease/lease.go other: first and second": "inner",
	}
	check := func(records []*kb.Record, change func(map[string]string), want string) {
		t.Helper()
		exempted := map[string]string{}
		for k, v := range exempt {
			exempted[k] = v
		}
		change(exempted)
		_, problems := s.cover(records, exempted)
		if got := strings.Join(problems, "\n"); want == "" && got != "" || !strings.Contains(got, want) || want != "" && len(problems) != 1 {
			t.Errorf("problems are %q, want %q", problems, want)
		}
	}
	keep := func(map[string]string) {}
	check([]*kb.Record{record}, keep, "")
	check([]*kb.Record{record}, func(m map[string]string) { delete(m, "lease/lease.go : hidden") }, "`hidden` has neither a record nor an exemption")
	check([]*kb.Record{record}, func(m map[string]string) { m["lease/lease.go (*box).open: Lease \"%s\" is gone"] = "x" }, "not needed any more: record 0123456789abcdef")
	check([]*kb.Record{record}, func(m map[string]string) { m["lease/old.go f: old"] = "x" }, "not needed any more: nothing raises it")
	unraised := *record
	unraised.ErrorMessage, unraised.ID = "Never", "1111111111111111"
	check([]*kb.Record{record, &unraised}, keep, "no place of the runtime raises its message")
}

// sly makes errors, and texts of errors, in ways that a reader could overlook.
const sly = `package sly

import (
	"errors"
	. "fmt"

	f "errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/wire"
)

const msgStderr = "nothing was run"

type custom struct{}

func (custom) Error() string { return "custom" }

var make = errors.New

func literal() error { return &f.Error{Message: "made past New"} }

func fresh() error { return new(f.Error) }

func received() error { return f.Received("not received", 1, nil, f.Place{}) }

func protocol() *wire.Error { return &wire.Error{Code: 1, Message: "in the protocol"} }

func helper(code int, text string) error { return f.New("%s", text).WithCode(code) }

func useHelper() error {
	local := func(text string) error { return errors.New(text) }
	_ = local("through a closure")
	_ = helper(1, "%d")
	return helper(1, "through a helper")
}

func result() wire.ExecuteResult {
	r := wire.ValidateResult{Errors: []string{"in a list"}}
	r.Errors = append(r.Errors, f.New("found already").Message)
	return wire.ExecuteResult{Stderr: "sly: " + msgStderr, Stdout: "no error"}
}
`

func TestSlySource(t *testing.T) {
	s, err := readSource(fstest.MapFS{"sly/sly.go": {Data: []byte(sly)}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range s.raises {
		got = append(got, r.Symbol+": "+r.text())
	}
	for _, want := range []string{
		"received: not received", "protocol: in the protocol", "helper: %s", "useHelper: <text>",
		"useHelper: through a closure", "useHelper: through a helper",
		`result: <[]string{…}>`, "result: found already", "result: sly: nothing was run",
	} {
		i := slices.Index(got, want)
		if i < 0 {
			t.Errorf("no place %q", want)
			continue
		}
		got = slices.Delete(got, i, i+1)
	}
	if len(got) > 0 {
		t.Errorf("also found %q", got)
	}
	want := []string{
		"sly/sly.go:15: custom.Error makes its type an error; errors are made by package fault",
		"sly/sly.go:17: errors.New is used as a value",
		"sly/sly.go:19: an error is made past fault.New",
		"sly/sly.go:21: an error is made past fault.New",
		"sly/sly.go:5: fmt is imported with a dot",
	}
	if !slices.Equal(s.hidden, want) {
		t.Errorf("hidden\n%s\nwant\n%s", strings.Join(s.hidden, "\n"), strings.Join(want, "\n"))
	}
	if _, problems := s.cover(nil, nil); !slices.Contains(problems, want[0]) {
		t.Errorf("the problems are %q", problems)
	}
}

func TestSameMessage(t *testing.T) {
	for _, c := range []struct {
		template, message string
		same              bool
	}{
		{`Driver "%s" is gone.`, `Driver "${driver.key}" is gone.`, true},
		{`Driver %q is gone.`, `Driver "${driver.key}" is gone.`, true},
		{`exited (code=%s)%s`, `exited (code=${code})`, true},
		{`worker is %s`, `worker is not running`, false},
		{`worker is not running`, `worker is ${status}`, false},
		{`after %dms`, `after ${timeout}ms`, true},
		{`100%% of %s`, `100% of ${what}`, true},
		{`%s`, `Connection failed`, false},
		{`Connection failed%s`, `Connection failed`, false},
	} {
		if got := sameMessage(c.template, skeletonOfMessage(c.message)); got != c.same {
			t.Errorf("%q and %q: %v, want %v", c.template, c.message, got, c.same)
		}
	}
}
