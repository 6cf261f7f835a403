package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"errorkb/cmd/internal/cli"
)

// choice is a flag with a fixed list of values.
type choice struct {
	value   string
	allowed []string
}

// newChoice makes a choice; the first value is the default.
func newChoice(allowed ...string) *choice { return &choice{allowed[0], allowed} }

func (c *choice) String() string { return c.value }
func (c *choice) Type() string   { return strings.Join(c.allowed, "|") }
func (c *choice) Set(value string) error {
	if !slices.Contains(c.allowed, value) {
		return fmt.Errorf("want one of %s", strings.Join(c.allowed, ", "))
	}
	c.value = value
	return nil
}

// size is a flag of a number of bytes, written like 16MiB or 65536.
type size int64

var sizeUnits = []struct {
	name  string
	bytes int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

func (s *size) String() string {
	for _, unit := range sizeUnits {
		if int64(*s)%unit.bytes == 0 && *s != 0 {
			return fmt.Sprintf("%d%s", int64(*s)/unit.bytes, unit.name)
		}
	}
	return fmt.Sprint(int64(*s))
}

func (s *size) Type() string { return "SIZE" }
func (s *size) Set(value string) error {
	number, scale := value, int64(1)
	for _, unit := range sizeUnits {
		if head, ok := strings.CutSuffix(value, unit.name); ok {
			number, scale = head, unit.bytes
			break
		}
	}
	var n int64
	if _, err := fmt.Sscanf(number+"\n", "%d\n", &n); err != nil || n <= 0 || n > (1<<62)/scale {
		return errors.New("want a size above zero such as 16MiB, 512KiB or 65536")
	}
	*s = size(n * scale)
	return nil
}

// addRecords adds the flag that names other records than the bundled ones.
func addRecords(cmd *cobra.Command) *string {
	dir := cmd.Flags().String("records", "", "folder `DIR` of records to use instead of the bundled ones")
	cmd.MarkFlagDirname("records") // fails only for a flag that does not exist
	return dir
}

func addJSON(cmd *cobra.Command, what string) *bool {
	return cmd.Flags().Bool("json", false, "write "+what+" as JSON")
}

// answer runs write with a printer on standard output and reports what went
// wrong with either.
func answer(cmd *cobra.Command, write func(*cli.Printer) error) error {
	p := cli.NewPrinter(cmd.OutOrStdout(), cmd.Flag("color").Value.String())
	err := write(p)
	if closing := p.Close(); closing != nil {
		return closing
	}
	return err
}
