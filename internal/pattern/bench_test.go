package pattern

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// The benchmarks measure with templates and logs of our own, or, when KB_SHARED
// is set, with the real messages there. Run them with
//
//	go test ./internal/pattern -run xxx -bench . -benchtime 1s
//
// KB_BENCH_MILLION=1 adds a million patterns.

var benchSizes = []int{1000, 10_000, 100_000, 1_000_000}

type benchSet struct {
	messages []string
	patterns []*Pattern
	index    *Index
	log      []byte
}

var (
	benchMu   sync.Mutex
	benchSets = map[int]*benchSet{}
)

func benchMessages(b *testing.B, n int) []string {
	if os.Getenv("KB_SHARED") != "" {
		zr, err := gzip.NewReader(bytes.NewReader(shared(b, "eval/messages.txt.gz")))
		if err != nil {
			b.Fatal(err)
		}
		data, err := io.ReadAll(zr)
		if err != nil {
			b.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(data)), "\n")
		if n <= len(lines) {
			step := len(lines) / n
			out := make([]string, n)
			for i := range out {
				out[i] = lines[i*step]
			}
			return out
		}
		// Beyond the real ones, mix them: the head of one, the tail of another.
		out := append([]string(nil), lines...)
		for i := 0; len(out) < n; i++ {
			x, y := lines[i*7919%len(lines)], lines[(i*104729+i/len(lines)*31+1)%len(lines)]
			if len(x) < 24 || len(y) < 24 {
				continue
			}
			cx, cy := strings.IndexByte(x[len(x)/2:], ' '), strings.LastIndexByte(y[:len(y)/2], ' ')
			if cx > 0 && cy > 0 {
				out = append(out, x[:len(x)/2+cx]+y[cy:])
			}
		}
		return out
	}
	return messages(n)
}

func benchSetOf(b *testing.B, n int) *benchSet {
	benchMu.Lock()
	defer benchMu.Unlock()
	if s := benchSets[n]; s != nil {
		return s
	}
	if n >= 1_000_000 && os.Getenv("KB_BENCH_MILLION") == "" {
		b.Skip("KB_BENCH_MILLION is not set")
	}
	s := &benchSet{messages: benchMessages(b, n)}
	s.patterns = compileAll(mapSlice(s.messages, exprFor))
	s.index = Build(s.patterns)
	s.log = logText(16<<20, s.messages)
	benchSets[n] = s
	return s
}

func eachSize(b *testing.B, f func(b *testing.B, s *benchSet)) {
	for _, n := range benchSizes {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			s := benchSetOf(b, n)
			b.ResetTimer()
			f(b, s)
		})
	}
}

func BenchmarkFind(b *testing.B) {
	eachSize(b, func(b *testing.B, s *benchSet) {
		b.SetBytes(int64(len(s.log)))
		b.ReportAllocs()
		matches := 0
		for b.Loop() {
			matches = 0
			s.index.Find(s.log, func(int, Match) bool {
				matches++
				return true
			})
		}
		b.ReportMetric(float64(matches)/float64(len(s.log)>>20), "matches/MB")
	})
}

func BenchmarkPaste(b *testing.B) {
	eachSize(b, func(b *testing.B, s *benchSet) {
		const size = 1 << 10
		b.SetBytes(size)
		for i := 0; b.Loop(); i++ {
			at := i * size % (len(s.log) - size)
			s.index.Find(s.log[at:at+size], func(int, Match) bool { return true })
		}
	})
}

func BenchmarkBuild(b *testing.B) {
	eachSize(b, func(b *testing.B, s *benchSet) {
		size := 0
		for b.Loop() {
			size = Build(s.patterns).Size()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(s.patterns)), "ns/pattern")
		b.ReportMetric(float64(size)/float64(len(s.patterns)), "bytes/pattern")
	})
}

func BenchmarkCompile(b *testing.B) {
	s := benchSetOf(b, 10_000)
	exprs := mapSlice(s.messages, exprFor)
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; b.Loop(); i++ {
		if _, err := Compile(exprs[i%len(exprs)], ""); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	eachSize(b, func(b *testing.B, s *benchSet) {
		data := s.index.AppendBinary(nil, "")
		b.ResetTimer()
		for b.Loop() {
			ix, err := Open(data)
			if err != nil {
				b.Fatal(err)
			}
			ix.Find(s.log[:1<<10], func(int, Match) bool { return true })
		}
	})
}

// BenchmarkMatch lays single patterns on a line that holds them, and regexp does.
func BenchmarkMatch(b *testing.B) {
	line := []byte("2026-03-01T08:15:02.113Z ERROR cannot open module 'src/index.ts' after the cursor moved: file is locked")
	for _, c := range []struct{ name, expr string }{
		{"plain", `after the cursor moved`},
		{"gap", `cannot open module '(?P<m>.+?)' after the cursor`},
		{"ends", `(?P<a>.+?) module '(?P<m>.+?)' after the cursor moved: (?P<why>.+?)`},
	} {
		p := compileAll([]string{c.expr})[0]
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := p.Match(line); !ok {
					b.Fatal("not found")
				}
			}
		})
		re := regexp.MustCompile(c.expr)
		b.Run(c.name+"/regexp", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				re.FindSubmatchIndex(line)
			}
		})
	}
}

// BenchmarkRegexpLoop is what one would write first: each line against each
// expression.
func BenchmarkRegexpLoop(b *testing.B) {
	s := benchSetOf(b, 1000)
	res := make([]*regexp.Regexp, len(s.messages))
	for i, m := range s.messages {
		res[i] = regexp.MustCompile(exprFor(m))
	}
	lines := bytes.Split(s.log[:20<<10], []byte("\n"))
	b.Run(fmt.Sprint(len(res)), func(b *testing.B) {
		b.SetBytes(20 << 10)
		for b.Loop() {
			for _, line := range lines {
				for _, re := range res {
					re.FindSubmatchIndex(line)
				}
			}
		}
	})
}
