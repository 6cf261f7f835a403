package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"time"

	"errorkb/internal/diagnose"
	"errorkb/internal/pattern/corpus"
)

func main() {
	n := flag.Int("n", 100000, "")
	file := flag.String("messages", "", "")
	rounds := flag.Int("rounds", 20, "")
	pn := flag.Int("pastes", 2000, "")
	prof := flag.String("prof", "", "")
	dump := flag.String("dump", "", "answers")
	flag.Parse()
	runtime.GOMAXPROCS(1)
	var messages []string
	if *file == "" {
		messages = corpus.Messages(*n)
	} else {
		f, _ := os.Open(*file)
		r, _ := gzip.NewReader(f)
		s := bufio.NewScanner(r)
		s.Buffer(nil, 1<<20)
		var all []string
		for s.Scan() {
			all = append(all, s.Text())
		}
		for i := range *n {
			messages = append(messages, all[i*(len(all)/(*n))])
		}
	}
	var entries []diagnose.Entry
	for i, m := range messages {
		entries = append(entries, diagnose.Entry{
			Ref:     diagnose.Ref{ID: strconv.Itoa(i), Title: m, Role: "cause", Status: "active", Severity: "error"},
			Pattern: corpus.Expression(m), Template: m,
		})
	}
	engine, err := diagnose.New("", entries)
	if err != nil {
		panic(err)
	}
	pastes := corpus.Pastes(*pn, 1<<10, messages)
	ctx := context.Background()
	if *dump != "" {
		h := fnv.New64a()
		f, _ := os.Create(*dump)
		for _, p := range pastes {
			a := engine.Diagnose(ctx, p, diagnose.Options{})
			b := a.AppendJSON(nil)
			h.Write(b)
			f.Write(b)
			f.Write([]byte("\n"))
		}
		f.Close()
		fmt.Println(h.Sum64())
		return
	}
	if *prof != "" {
		f, _ := os.Create(*prof)
		pprof.StartCPUProfile(f)
		defer pprof.StopCPUProfile()
	}
	times := make([]time.Duration, len(pastes))
	for round := range *rounds {
		for i, p := range pastes {
			start := time.Now()
			engine.Diagnose(ctx, p, diagnose.Options{})
			if t := time.Since(start); round == 0 || t < times[i] {
				times[i] = t
			}
		}
	}
	slices.Sort(times)
	fmt.Println("p50", times[len(times)/2], "p90", times[len(times)*9/10], "p99", times[len(times)*99/100])
}
