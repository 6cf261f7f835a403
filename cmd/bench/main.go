// Bench measures the diagnosis beside its rivals and prints tables in Markdown:
//
//	go run ./cmd/bench                      # 10³, 10⁴ and 10⁵ patterns
//	go run ./cmd/bench -sizes 1000000       # a million; needs 8 GB and minutes
//
// Templates and logs are made (internal/pattern/corpus), or read from -messages,
// one a line, with the byte 0x01 for a gap. Every side scans the same log for the
// same messages, in turn, on one processor; what counts is its CPU time, so other
// work on the machine matters little. Of each side the best of -rounds is shown.
//
// Rivals run when they are there: Hyperscan or Vectorscan (a C compiler and
// libhs; KB_BENCH_CC adds flags such as -I and -L), ripgrep, and a loop over
// Go's regexp. They get the longest literal of each message and verify nothing.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

func main() {
	sizes := flag.String("sizes", "1000,10000,100000", "numbers of patterns")
	megabytes := flag.Int("log", 100, "size of the log in MB")
	rounds := flag.Int("rounds", 3, "rounds of each side")
	file := flag.String("messages", "", "file of messages instead of made ones; .gz is unpacked")
	only := flag.String("only", "", "what to measure: build, open, scan, paste, worst; everything by default")
	profile := flag.String("profile", "", "write a CPU profile of our scans to this file")
	flag.Parse()
	b := bench{rounds: *rounds, log: *megabytes << 20, only: *only, profile: *profile}
	if err := b.run(*sizes, *file); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench is what is to be measured, and the tables.
type bench struct {
	rounds  int
	log     int
	only    string
	profile string
	rows    map[string][]string
	order   []string
	columns []string
}

func (b *bench) run(sizes, file string) error {
	b.rows = map[string][]string{}
	for _, s := range strings.Split(sizes, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || n < 1 {
			return fmt.Errorf("size %q is no number of patterns", s)
		}
		measured, err := newSet(n, b.log, file)
		if err != nil {
			return err
		}
		b.columns = append(b.columns, strconv.Itoa(n))
		for _, part := range []struct {
			name    string
			measure func(*set) error
		}{{"build", b.build}, {"open", b.open}, {"scan", b.scan}, {"paste", b.paste}, {"worst", b.worst}} {
			if b.only != "" && !strings.Contains(b.only, part.name) {
				continue
			}
			fmt.Fprintf(os.Stderr, "%s, %d patterns\n", part.name, n)
			if err := part.measure(measured); err != nil {
				return fmt.Errorf("%s with %d patterns: %w", part.name, n, err)
			}
		}
		b.fill()
		runtime.GC()
	}
	fmt.Printf("| | %s |\n|---%s|\n", strings.Join(b.columns, " | "), strings.Repeat("|---", len(b.columns)))
	for _, name := range b.order {
		fmt.Printf("| %s | %s |\n", name, strings.Join(b.rows[name], " | "))
	}
	return nil
}

// put adds a cell to the row of the size that is being measured.
func (b *bench) put(row, format string, args ...any) {
	if _, ok := b.rows[row]; !ok {
		b.order = append(b.order, row)
		for range len(b.columns) - 1 {
			b.rows[row] = append(b.rows[row], "–")
		}
	}
	b.rows[row] = append(b.rows[row], fmt.Sprintf(format, args...))
}

// fill makes all rows equally long.
func (b *bench) fill() {
	for row, cells := range b.rows {
		for len(cells) < len(b.columns) {
			cells = append(cells, "–")
		}
		b.rows[row] = cells
	}
}
