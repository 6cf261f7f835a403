package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"errorkb/internal/diagnose"
	"errorkb/internal/pattern"
	"errorkb/internal/pattern/corpus"
)

// set is a number of messages and a log in which two lines of a hundred hold one.
type set struct {
	messages []string
	patterns []*pattern.Pattern
	entries  []diagnose.Entry
	log      []byte
	worn     []byte // the same log with all that is done to text
	bare     []byte // the same log without times
	quiet    []byte // a log that holds none of the messages
}

func newSet(n, size int, file string) (*set, error) {
	s := &set{}
	if file == "" {
		s.messages = corpus.Messages(n)
	} else {
		list, err := readMessages(file)
		if err != nil {
			return nil, err
		}
		s.messages = pick(list, n)
	}
	for i, m := range s.messages {
		expr := corpus.Expression(m)
		p, err := pattern.Compile(expr, "")
		if err != nil {
			return nil, fmt.Errorf("message %q: %w", m, err)
		}
		s.patterns = append(s.patterns, p)
		s.entries = append(s.entries, diagnose.Entry{
			Ref:     diagnose.Ref{ID: strconv.Itoa(i), Title: m, Role: "cause", Status: "active", Severity: "error"},
			Pattern: expr, Template: m,
		})
	}
	s.log = corpus.Log(size, s.messages)
	s.worn = corpus.Disguise(s.log[:len(s.log)/2])
	s.bare = bare(s.log[:len(s.log)/2])
	s.quiet = corpus.Log(size/4, nil)
	return s, nil
}

func readMessages(file string) ([]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n"), nil
}

// bare is a log without the time at the start of each line.
func bare(log []byte) []byte {
	out := make([]byte, 0, len(log))
	for line := range bytes.Lines(log) {
		_, rest, _ := bytes.Cut(line, []byte(" "))
		out = append(out, bytes.TrimLeft(rest, " ")...)
	}
	return out
}

// pick takes n messages evenly; beyond what there is it mixes them, the head of
// one and the tail of another.
func pick(list []string, n int) []string {
	if n <= len(list) {
		out := make([]string, n)
		for i := range out {
			out[i] = list[i*(len(list)/n)]
		}
		return out
	}
	out := append([]string(nil), list...)
	for i := 0; len(out) < n; i++ {
		x, y := list[i*7919%len(list)], list[(i*104729+i/len(list)*31+1)%len(list)]
		if len(x) < 24 || len(y) < 24 {
			continue
		}
		head, tail := strings.IndexByte(x[len(x)/2:], ' '), strings.LastIndexByte(y[:len(y)/2], ' ')
		if head > 0 && tail > 0 {
			out = append(out, x[:len(x)/2+head]+y[tail:])
		}
	}
	return out
}

// literals are the longest literals of the messages, one a line.
func (s *set) literals() []byte {
	var b bytes.Buffer
	for _, m := range s.messages {
		longest := ""
		for _, part := range strings.Split(m, corpus.GapMark) {
			if len(part) > len(longest) {
				longest = part
			}
		}
		b.WriteString(longest)
		b.WriteByte('\n')
	}
	return b.Bytes()
}
