package point

import "testing"

func TestNumber(t *testing.T) {
	for name, want := range map[string]int{
		"/x/kb-mutant-17": 17, "kb-mutant-0": 0, "kb": 0, "kb-mutant-": 0, "kb-mutant-x": 0, "kb-mutant--1": 0, "kb-mutant-3.exe": 3,
	} {
		if got := number(name); got != want {
			t.Errorf("number(%q) = %d, want %d", name, got, want)
		}
	}
}

func TestChanged(t *testing.T) {
	for text, want := range map[string]string{
		`a "%s" b.`:  `a "%s" b`,
		`a: %s`:      `a:%s`,
		`"%d"—%5.1f`: `"%d"%5.1f`,
		`%s`:         `%s!`,
		``:           `!`,
		`x%`:         `%`,
	} {
		if got := Changed(text); got != want {
			t.Errorf("Changed(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestSwitch(t *testing.T) {
	defer func(n int) { active = n }(active)
	active = 2
	if !On(2) || On(1) {
		t.Error("the wrong mutant is on")
	}
	if Text(1, "ab") != "ab" || Text(2, "ab") != "a" {
		t.Error("a text changes in its own mutant only")
	}
	if Code(1, -5) != -5 || Code(2, -5) != -6 {
		t.Error("a code changes in its own mutant only")
	}
}
