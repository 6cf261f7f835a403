package diagnose

import (
	"bytes"
	"slices"
)

// beside is what stands in front of a message and says whose it is.
type beside uint8

const (
	besideNothing beside = iota
	besideOwn            // the class of the record
	besideClass          // another class
	besideProgram        // what another program puts there
	besideRuntime        // a class of a language itself, where the record has none
)

// lookBeside tells what stands in front of a hit.
func (w *work) lookBeside(h *hit) beside {
	e := &w.engine.entries[h.entry]
	r := h.reading
	start, _, _ := r.lineOf(h.start)
	before := r.m.text[max(start, h.start-nearby):max(start, h.start)]
	if class := e.Class; class != "" {
		if k := bytes.LastIndex(before, []byte(class)); k >= 0 && len(before)-k <= len(class)+40 {
			end := k + len(class)
			if (k == 0 || !isWord(before[k-1])) && (end == len(before) || !isWord(before[end])) {
				return besideOwn
			}
		}
	}
	label := bytes.TrimRight(before, " ")
	if !bytes.HasSuffix(label, []byte(":")) {
		return besideNothing
	}
	label = label[:len(label)-1]
	if k := bytes.LastIndex(label, []byte(" (")); k > 0 && label[len(label)-1] == ')' {
		label = label[:k] // "RangeError (index):"
	}
	word := label[bytes.LastIndexByte(label, ' ')+1:]
	if w.isOtherCode(word, e) || bytes.HasSuffix(label, goPanic) {
		return besideProgram
	}
	word = word[bytes.LastIndexByte(word, '.')+1:]
	if e.Class == "" && ofRuntime[string(word)] {
		return besideRuntime
	}
	if e.Class != "" && (len(word) > 6 && isClass(word) || string(word) == "panic") {
		return besideClass
	}
	return besideNothing
}

// ofRuntime are classes that languages throw themselves. Libraries pass on the errors
// of a server in others.
var ofRuntime = setOf("TypeError ReferenceError RangeError SyntaxError ValueError IndexError KeyError NameError " +
	"AttributeError NoMethodError ArgumentError NullPointerException ClassCastException")

// goPanic is what Go puts in front of the errors of its own runtime.
var goPanic = []byte("runtime error")

// isOtherCode reports whether the label of a message is a numbered code, as in
// "ORA-00942:", that is of another program than a record.
func (w *work) isOtherCode(label []byte, e *Entry) bool {
	if !isCode(label) || bytes.IndexByte(label, '_') >= 0 || bytes.IndexAny(label, "0123456789") <= 0 || isState(label) {
		return false
	}
	if e.Code == string(label) || slices.Contains(e.Aliases, string(label)) {
		return false
	}
	return !slices.ContainsFunc(w.engine.codes.of(string(label)), func(i int32) bool {
		return w.engine.entries[i].Ref.Repo == e.Ref.Repo // code and words disagree
	})
}

// isState reports whether a code is an SQLSTATE of the server itself, which may
// stand before any of its messages: "P0001", "XX000".
func isState(t []byte) bool {
	if len(t) != 5 {
		return false
	}
	switch string(t[:2]) {
	case "F0", "HV", "HY", "P0", "XX":
		return true
	}
	return false
}
