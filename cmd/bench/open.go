package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"errorkb/cmd/internal/enginefile"
	"errorkb/internal/diagnose"
	"errorkb/internal/pattern/corpus"
)

// open measures how soon a diagnosis out of a file has answered a kilobyte of log,
// with the file in memory and, where the system lets go of it, on the disk. It is wall
// time, the best of some: what waits for the disk takes no processor.
func (b *bench) open(s *set) error {
	engine, err := diagnose.New("", s.entries)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "diagnosis")
	if err := enginefile.Write(name, engine); err != nil {
		return err
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	b.put("file of the engine, bytes a pattern", "%.0f", float64(info.Size())/float64(len(s.entries)))
	paste := corpus.Pastes(1, 1<<10, s.messages)[0]
	answer := func() (float64, error) {
		runtime.GC()
		start := time.Now()
		opened, unmap, err := enginefile.Open(name, "", s.entries)
		if err != nil {
			return 0, err
		}
		a := opened.Diagnose(context.Background(), paste, diagnose.Options{})
		seconds := time.Since(start).Seconds()
		if a.Verdict == diagnose.VerdictUnknown {
			return 0, errors.New("the error in the paste is not found")
		}
		return seconds, unmap()
	}
	for _, state := range []struct {
		name    string
		prepare func(string) error
	}{{"in memory", func(string) error { return nil }}, {"on disk", forget}} {
		best := math.Inf(1)
		for range 5 * b.rounds {
			if err := state.prepare(name); errors.Is(err, errors.ErrUnsupported) {
				break
			} else if err != nil {
				return err
			}
			seconds, err := answer()
			if err != nil {
				return fmt.Errorf("file %s: %w", state.name, err)
			}
			best = min(best, seconds)
		}
		if !math.IsInf(best, 1) {
			b.put("open the engine and first paste, file "+state.name+", ms", "%.2f", best*1e3)
		}
	}
	return nil
}
