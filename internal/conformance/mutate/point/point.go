// Package point holds what a mutated copy of the runtime calls. All mutants are
// compiled into one program, and the name that it is started by tells which one
// is switched on: a program called "kb-mutant-17" is mutant 17. Workers are
// started by the same name, and so are the same mutant.
package point

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Prefix begins the name of a mutant; its number follows.
const Prefix = "kb-mutant-"

// active is the mutant that is switched on; 0 is none.
var active = func() int {
	name, err := os.Executable()
	if err != nil {
		return 0
	}
	return number(name)
}()

// number reads the number of a mutant from the path of its program, 0 when
// there is none.
func number(program string) int {
	digits, ok := strings.CutPrefix(strings.TrimSuffix(filepath.Base(program), ".exe"), Prefix)
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// On reports whether mutant n is switched on.
func On(n int) bool { return n == active }

// Text returns a text as it is, and changed in mutant n.
func Text[T ~string](n int, text T) T {
	if !On(n) {
		return text
	}
	return T(Changed(string(text)))
}

// Code returns a number as it is, and the next lower one in mutant n.
func Code[T ~int](n int, code T) T {
	if !On(n) {
		return code
	}
	return code - 1
}

// Changed leaves out the last character of a text or template that is no part
// of a verb, so that what is filled in stays the same. A text of verbs only
// gets a mark at its end.
func Changed(text string) string {
	from, to := -1, -1
	for i := 0; i < len(text); {
		if text[i] == '%' {
			i++
			for i < len(text) && !isLetter(text[i]) && text[i] != '%' {
				i++
			}
			i++
			continue
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		from, to = i, i+size
		i = to
	}
	if from < 0 {
		return text + "!"
	}
	return text[:from] + text[to:]
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
