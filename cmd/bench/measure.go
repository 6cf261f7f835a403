package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"regexp"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"errorkb/internal/diagnose"
	"errorkb/internal/pattern"
	"errorkb/internal/pattern/corpus"
)

// mbs is a speed in MB/s.
func mbs(size int, seconds float64) float64 { return float64(size) / 1e6 / seconds }

// one runs f on one processor and returns its CPU seconds.
func one(f func()) float64 {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	runtime.GC()
	start := cpuTime()
	f()
	return (cpuTime() - start).Seconds()
}

// scan measures how fast a log goes through, beside the rivals.
func (b *bench) scan(s *set) error {
	index := pattern.Build(s.patterns)
	engine, err := diagnose.New("", s.entries)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	rivals := startRivals(dir, s)
	defer rivals.stop()
	best := map[string]float64{}
	note := func(name string, size int, seconds float64) {
		best[name] = max(best[name], mbs(size, seconds))
	}
	ctx := context.Background()
	if b.profile != "" {
		f, err := os.Create(b.profile)
		if err != nil {
			return err
		}
		defer f.Close()
	}
	for round := range b.rounds {
		if b.profile != "" && round == b.rounds-1 {
			f, err := os.Create(b.profile)
			if err != nil {
				return err
			}
			defer f.Close()
			if err := pprof.StartCPUProfile(f); err != nil {
				return err
			}
			defer pprof.StopCPUProfile()
		}
		note("find", len(s.log), one(func() {
			index.Find(s.log, func(int, pattern.Match) bool { return true })
		}))
		for name, log := range map[string][]byte{"plain": s.log, "worn": s.worn, "bare": s.bare, "quiet": s.quiet} {
			note(name, len(log), one(func() { engine.Diagnose(ctx, log, diagnose.Options{}) }))
		}
		start := time.Now()
		engine.Diagnose(ctx, s.log, diagnose.Options{})
		note("both", len(s.log), time.Since(start).Seconds())
		start = time.Now()
		one(func() { engine.Diagnose(ctx, s.log, diagnose.Options{}) })
		note("single", len(s.log), time.Since(start).Seconds())
		if seconds := rivals.hyperscan(); seconds > 0 {
			note("hyperscan", len(s.log), seconds)
		}
		if seconds := rivals.ripgrep(); seconds > 0 {
			note("ripgrep", rivals.short, seconds)
		}
	}
	found := 0
	for _, d := range engine.Diagnose(ctx, s.log, diagnose.Options{MaxDiagnoses: math.MaxInt}).Diagnoses {
		found += d.Count
	}
	b.put("find, MB/s", "%.0f", best["find"])
	b.put("**diagnose, MB/s**", "**%.0f**", best["plain"])
	b.put("diagnose, log full of escapes, MB/s", "%.0f (%.2f × plain)", best["worn"], best["worn"]/best["plain"])
	b.put("diagnose, log without times, MB/s", "%.0f", best["bare"])
	b.put("diagnose, log with nothing known in it, MB/s", "%.0f", best["quiet"])
	b.put(fmt.Sprintf("diagnose, %d processors, wall time", runtime.GOMAXPROCS(0)), "%.2f ×", best["both"]/best["single"])
	b.put("diagnose, errors found per MB", "%.0f", float64(found)/float64(len(s.log)>>20))
	if h := best["hyperscan"]; h > 0 {
		b.put("Hyperscan, bare literals, MB/s", "%.0f", h)
		b.put("**diagnose / Hyperscan**", "**%.2f ×**", best["plain"]/h)
		b.put("Hyperscan, compile, µs a pattern", "%.0f", rivals.compile*1e6/float64(len(s.patterns)))
	} else if rivals.why != "" {
		b.put("Hyperscan, bare literals, MB/s", "%s", rivals.why)
	}
	if r := best["ripgrep"]; r > 0 {
		b.put("ripgrep -F -f, MB/s", "%.1f", r)
	}
	b.put("loop over regexp, MB/s", "%s", loop(s))
	return nil
}

// loop is each line against each expression, on as much log as takes a moment.
func loop(s *set) string {
	if len(s.messages) > 10_000 {
		return "–"
	}
	list := make([]*regexp.Regexp, len(s.messages))
	for i, m := range s.messages {
		list[i] = regexp.MustCompile(corpus.Expression(m))
	}
	text := s.log[:min(len(s.log), 100_000_000/len(list)/2)]
	seconds := one(func() {
		for line := range bytes.Lines(text) {
			for _, re := range list {
				re.FindSubmatchIndex(line)
			}
		}
	})
	return fmt.Sprintf("%.3f", mbs(len(text), seconds))
}

// build measures what it takes to make an index and to open one.
func (b *bench) build(s *set) error {
	var index *pattern.Index
	best := math.Inf(1)
	for range b.rounds {
		best = min(best, one(func() { index = pattern.Build(s.patterns) }))
	}
	n := float64(len(s.patterns))
	b.put("build, µs a pattern", "%.2f", best*1e6/n)
	b.put("index, bytes a pattern", "%.0f", float64(index.Size())/n)
	data := index.AppendBinary(nil, "")
	paste := s.log[:1<<10]
	opened := math.Inf(1)
	for range b.rounds {
		var err error
		opened = min(opened, one(func() {
			var ix *pattern.Index
			if ix, err = pattern.Open(data); err == nil {
				ix.Find(paste, func(int, pattern.Match) bool { return true })
			}
		}))
		if err != nil {
			return err
		}
	}
	b.put("open and first paste, in memory, ms", "%.2f", opened*1e3)
	var engine *diagnose.Engine
	var err error
	made := one(func() { engine, err = diagnose.New("", s.entries) })
	if err != nil || engine.Len() != len(s.entries) {
		return fmt.Errorf("engine of %d entries: %w", len(s.entries), err)
	}
	b.put("engine (compile, build, words), µs a pattern", "%.1f", made*1e6/n)
	return nil
}

// paste measures the answer to a kilobyte of log that holds an error.
func (b *bench) paste(s *set) error {
	engine, err := diagnose.New("", s.entries)
	if err != nil {
		return err
	}
	ctx := context.Background()
	pastes := corpus.Pastes(2000, 1<<10, s.messages)
	// Of each paste the best round counts: the others measure the machine.
	times := make([]time.Duration, len(pastes))
	known := 0
	spent := one(func() {
		for round := range 2 + 2*b.rounds {
			for i, p := range pastes {
				start := time.Now()
				a := engine.Diagnose(ctx, p, diagnose.Options{})
				if t := time.Since(start); round == 0 || t < times[i] {
					times[i] = t
				}
				if round == 0 && a.Verdict != diagnose.VerdictUnknown {
					known++
				}
			}
		}
	})
	slices.Sort(times)
	at := func(share float64) float64 {
		return float64(times[int(share*float64(len(times)))].Nanoseconds()) / 1e3
	}
	b.put("1 KB paste, p50, µs", "%.0f", at(0.5))
	b.put("1 KB paste, p99, µs", "%.0f", at(0.99))
	b.put("1 KB paste, CPU, mean, µs", "%.0f", spent*1e6/float64(len(pastes)*(2+2*b.rounds)))
	b.put("pastes whose error is found", "%.1f %%", 100*float64(known)/float64(len(pastes)))
	return nil
}

// worst measures texts that are made to be slow, 5 MB each.
func (b *bench) worst(s *set) error {
	engine, err := diagnose.New("", s.entries)
	if err != nil {
		return err
	}
	const size = 5 << 20
	first := strings.ReplaceAll(s.messages[0], corpus.GapMark, "x")
	for _, c := range []struct{ name, unit string }{
		{"one letter", "a"}, {"one quote that never closes", `"abc def `}, {"short lines", "error: it failed\n"}, {"one message, no line end", first + " "},
		{"back slashes", `\`},
	} {
		text := []byte(strings.Repeat(c.unit, size/len(c.unit)))
		seconds := one(func() { engine.Diagnose(context.Background(), text, diagnose.Options{}) })
		b.put("worst case: "+c.name+", MB/s", "%.0f", mbs(size, seconds))
	}
	return nil
}
