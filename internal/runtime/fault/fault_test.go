package fault

import (
	"errors"
	"fmt"
	"testing"
)

const msgSample = `Cannot call "%s" twice`

type sample struct{}

func (*sample) raise() *Error { return New(msgSample, "x").WithCode(7).WithClass(ClassCall) }

func TestNew(t *testing.T) {
	err := new(sample).raise()
	if err.Error() != `Cannot call "x" twice` || err.Template != msgSample || err.Code != 7 || err.Class != ClassCall {
		t.Errorf("got %+v", err)
	}
	if err.Place.File != "fault/fault_test.go" || err.Place.Symbol != "(*sample).raise" || err.Place.Line != 13 {
		t.Errorf("place is %s", err.Place)
	}
	inside := func() *Error { return New(msgSample, "y") }()
	if inside.Place.Symbol != "TestNew" {
		t.Errorf("a closure is named %q", inside.Place.Symbol)
	}
}

func TestChain(t *testing.T) {
	inner := errors.New("socket closed")
	err := fmt.Errorf("outside: %w", New("outer %d", 1).WithCause(New(msgSample, "x").WithCause(inner)))
	if !errors.Is(err, inner) {
		t.Error("the cause is lost")
	}
	if !Is(err, msgSample) || !Is(err, "outer %d") || Is(err, "other") || Is(inner, msgSample) {
		t.Error("Is does not follow the chain")
	}
	if As(inner) != nil || As(err).Message != "outer 1" {
		t.Error("As does not find the outermost error")
	}
	got := Received("text", -32002, nil, Place{File: "daytona/plugin.go", Line: 3})
	if Raised(got).File != "daytona/plugin.go" || Raised(inner) != (Place{}) || Raised(err).Symbol != "TestChain" {
		t.Errorf("raised at %s", Raised(got))
	}
}
