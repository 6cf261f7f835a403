package diagnose_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"errorkb/internal/diagnose"
	"errorkb/internal/diagnose/entry"
	"errorkb/internal/kb"
	"errorkb/internal/pattern/corpus"
	"errorkb/records"
)

// fileEntries are the bundled records, and messages enough for every part of an
// engine to hold something.
func fileEntries(t *testing.T) []diagnose.Entry {
	t.Helper()
	sources, findings := kb.ReadDir(records.FS)
	if kb.HasErrors(findings) {
		t.Fatalf("bundled records: %v", findings)
	}
	var out []diagnose.Entry
	for _, r := range kb.NewSet(sources).Records {
		out = append(out, entry.Of(r, "/errors/"+r.Slug+"/"))
	}
	for i, m := range corpus.Messages(300) {
		e := diagnose.Entry{Ref: diagnose.Ref{ID: strconv.Itoa(i), Title: m, Role: "cause", Status: "active"}}
		switch i % 3 {
		case 0:
			e.Pattern = corpus.Expression(m)
		case 1:
			e.Template = strings.ReplaceAll(m, corpus.GapMark, "${value}")
			e.Code = "E" + strconv.Itoa(1000+i)
		case 2:
			e.Template = "${x}"
			e.History = []diagnose.Wording{{Pattern: corpus.Expression(m)}, {Template: "old " + m}}
		}
		out = append(out, e)
	}
	return out
}

// aligned is a copy of data that begins at a multiple of eight, as a mapped file does.
func aligned(data []byte) []byte { return append(make([]byte, 0, len(data)+64), data...) }

func TestFileGivesTheSameAnswers(t *testing.T) {
	entries := fileEntries(t)
	built, err := diagnose.New("7", entries)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := diagnose.Open(aligned(built.AppendBinary(nil, "a")), "a", "7", entries)
	if err != nil {
		t.Fatal(err)
	}
	if again := opened.AppendBinary(nil, "a"); !bytes.Equal(again, built.AppendBinary(nil, "a")) {
		t.Error("an opened engine is written in another way")
	}
	var texts [][]byte
	names, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatalf("texts %q: %v", names, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	messages := corpus.Messages(300)
	for i, m := range messages {
		m = strings.ReplaceAll(m, corpus.GapMark, "x1")
		texts = append(texts, []byte(m), []byte("error: "+m[:2*len(m)/3]), []byte(m[len(m)/3:]), []byte("E"+strconv.Itoa(1000+i)+" it failed"),
			[]byte(strings.ReplaceAll(m, "the", "a")))
	}
	texts = append(texts, corpus.Log(300<<10, messages))
	verdicts := map[diagnose.Verdict]int{}
	for _, text := range texts {
		want := built.Diagnose(context.Background(), text, diagnose.Options{})
		got := opened.Diagnose(context.Background(), text, diagnose.Options{})
		if a, b := string(want.AppendJSON(nil)), string(got.AppendJSON(nil)); a != b {
			t.Fatalf("%.200q: built\n%s\nopened\n%s", text, a, b)
		}
		verdicts[want.Verdict]++
	}
	if verdicts[diagnose.VerdictKnown] == 0 || verdicts[diagnose.VerdictUnknown] == 0 {
		t.Errorf("verdicts %v: want some of each", verdicts)
	}
}

func TestFileIsChecked(t *testing.T) {
	entries := fileEntries(t)
	built, err := diagnose.New("7", entries)
	if err != nil {
		t.Fatal(err)
	}
	data := aligned(built.AppendBinary(nil, "a"))
	open := func(data []byte, stamp string, entries []diagnose.Entry) error {
		_, err := diagnose.Open(data, stamp, "7", entries)
		return err
	}
	if err := open(data, "b", entries); !errors.Is(err, diagnose.ErrStamp) {
		t.Errorf("other stamp: %v", err)
	}
	if err := open(data, "a", entries[1:]); !errors.Is(err, diagnose.ErrDamaged) {
		t.Errorf("other entries: %v", err)
	}
	if err := open(nil, "a", entries); !errors.Is(err, diagnose.ErrStamp) {
		t.Errorf("empty file: %v", err)
	}
	for _, n := range []int{8, 16, 17, 40, 100, len(data) / 2, len(data) - 1} {
		if err := open(data[:n], "a", entries); err == nil {
			t.Errorf("the first %d of %d bytes are taken for the whole", n, len(data))
		}
	}
	step := len(data)/500 + 1
	for i := 0; i < len(data)-8; i += step { // the last bytes may be padding
		data[i] ^= 0x10
		if err := open(data, "a", entries); !errors.Is(err, diagnose.ErrDamaged) && !errors.Is(err, diagnose.ErrStamp) {
			t.Errorf("byte %d of %d changed: %v", i, len(data), err)
		}
		data[i] ^= 0x10
	}
	if err := open(data, "a", entries); err != nil {
		t.Errorf("whole again: %v", err)
	}
}
