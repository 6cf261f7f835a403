package fault

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

func TestOf(t *testing.T) {
	first, second := errors.New("first"), &fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist}
	cases := []struct{ got, want error }{
		{Of("about"), errors.New("about")},
		{Of("about", first), fmt.Errorf("about: %w", first)},
		{Of("", first), fmt.Errorf("%w", first)},
		{Of("about", first, second), fmt.Errorf("about: %w: %w", first, second)},
		{Of("outer", Of("inner", second)), fmt.Errorf("outer: %w", fmt.Errorf("inner: %w", second))},
	}
	for _, c := range cases {
		if c.got.Error() != c.want.Error() {
			t.Errorf("text %q, want %q", c.got, c.want)
		}
		for _, target := range []error{first, second, fs.ErrNotExist} {
			if got, want := errors.Is(c.got, target), errors.Is(c.want, target); got != want {
				t.Errorf("%q is %q: %v, want %v", c.got, target, got, want)
			}
		}
		if got, want := errors.Unwrap(c.got), errors.Unwrap(c.want); got != want && (got == nil || want == nil || got.Error() != want.Error()) {
			t.Errorf("%q unwrapped: %v, want %v", c.got, got, want)
		}
		var got, want *fs.PathError
		if errors.As(c.got, &got) != errors.As(c.want, &want) || got != want {
			t.Errorf("%q as a path error: %v, want %v", c.got, got, want)
		}
	}
}
