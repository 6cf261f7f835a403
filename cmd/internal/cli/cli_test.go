package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/spf13/cobra"

	"errorkb/internal/kb"
)

// sample is a tree of commands like ours.
func sample(run func(*cobra.Command) error) (*cobra.Command, *bytes.Buffer) {
	root := &cobra.Command{Use: "kb", Args: NoCommand, RunE: func(*cobra.Command, []string) error { return nil }}
	sub := &cobra.Command{Use: "sub", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd) }}
	sub.Flags().Int("max-size", 7, "largest size")
	root.AddCommand(sub)
	Prepare(root)
	var stderr bytes.Buffer
	root.SetErr(&stderr)
	root.SetOut(io.Discard)
	return root, &stderr
}

func TestStatus(t *testing.T) {
	for name, c := range map[string]struct {
		args   []string
		err    error
		status int
		stderr string
	}{
		"fine":            {[]string{"sub"}, nil, StatusOK, ""},
		"nothing found":   {[]string{"sub"}, ErrNo, StatusNo, ""},
		"failure":         {[]string{"sub"}, errors.New("it broke"), StatusNo, "kb: it broke\n"},
		"wrong use":       {[]string{"sub"}, fmt.Errorf("wrapped: %w", Usagef("bad %q", "x")), StatusUsage, "kb: wrapped: bad \"x\"\n"},
		"with advice":     {[]string{"sub"}, Hint(errors.New("it broke"), "mend it"), StatusNo, "kb: it broke\n  mend it\n"},
		"advice on usage": {[]string{"sub"}, Hint(Usagef("bad"), "do better"), StatusUsage, "kb: bad\n  do better\n"},
		"steering":        {[]string{"sub"}, errors.New("a\x1b[31mb"), StatusNo, "kb: a\\x1b[31mb\n"},
		"unknown command": {[]string{"subb"}, nil, StatusUsage, "kb: unknown command \"subb\"; did you mean sub?\n  see 'kb --help'\n"},
		"one too many":    {[]string{"sub", "x"}, nil, StatusUsage, "kb: kb sub takes no argument, and \"x\" is one\n  see 'kb sub --help'\n"},
		"unknown flag":    {[]string{"sub", "--x"}, nil, StatusUsage, "kb: unknown flag: --x\n  see 'kb sub --help'\n"},
		"bad value":       {[]string{"sub", "--max-size", "x"}, nil, StatusUsage, "kb: --max-size \"x\": want a whole number\n  see 'kb sub --help'\n"},
		"findings": {[]string{"sub"}, &FindingsError{Dir: "r", Findings: []kb.Finding{
			{File: "a.json", Line: 1, Column: 2, Field: "id", Code: "c", Severity: kb.FindingError, Message: "m", Advice: "do"},
			{File: "b.json", Severity: kb.FindingWarning, Message: "w"},
		}}, StatusNo, "kb: nothing loaded from r: 1 finding\n  r/a.json:1:2: [c] id: m; do\n"},
	} {
		t.Run(name, func(t *testing.T) {
			root, stderr := sample(func(*cobra.Command) error { return c.err })
			root.SetArgs(c.args)
			if status := Run(root); status != c.status || stderr.String() != c.stderr {
				t.Errorf("status %d, stderr %q; want %d, %q", status, stderr, c.status, c.stderr)
			}
		})
	}
}

func TestFindingsAreBounded(t *testing.T) {
	findings := make([]kb.Finding, 1000)
	for i := range findings {
		findings[i] = kb.Finding{File: "x.json", Code: "c", Severity: kb.FindingError, Message: "m"}
	}
	details := (&FindingsError{Dir: "r", Findings: findings}).Details()
	if got := strings.Count(details, "\n"); got != findingsShown+1 {
		t.Errorf("%d lines, want %d", got, findingsShown+1)
	}
	if !strings.HasSuffix(details, "and 980 more; see all with: kb lint --records r\n") {
		t.Errorf("details end with %q", details[len(details)-80:])
	}
}

func TestFlagsFromTheEnvironment(t *testing.T) {
	for name, c := range map[string]struct {
		args  []string
		value string
		want  int
		err   string
	}{
		"unset":        {nil, "", 7, ""},
		"set":          {nil, "9", 9, ""},
		"flag wins":    {[]string{"--max-size", "3"}, "9", 3, ""},
		"same as flag": {[]string{"--max-size", "7"}, "9", 7, ""},
		"bad":          {nil, "many", 0, `kb: environment variable KB_MAX_SIZE="many": want a whole number`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KB_MAX_SIZE", c.value)
			got := 0
			root, stderr := sample(func(cmd *cobra.Command) (err error) {
				got, err = cmd.Flags().GetInt("max-size")
				return err
			})
			root.SetArgs(append([]string{"sub"}, c.args...))
			status := Run(root)
			if (status == StatusUsage) != (c.err != "") || got != c.want || !strings.HasPrefix(stderr.String(), c.err) {
				t.Errorf("status %d, value %d, stderr %q; want %d, %q", status, got, stderr, c.want, c.err)
			}
		})
	}
}

func TestUsageNamesVariables(t *testing.T) {
	root, _ := sample(nil)
	sub, _, err := root.Find([]string{"sub"})
	if err != nil {
		t.Fatal(err)
	}
	usage := sub.Flags().FlagUsages()
	if strings.Count(usage, "[KB_MAX_SIZE]") != 1 {
		t.Errorf("usage does not name the variable once:\n%s", usage)
	}
}

func TestProgress(t *testing.T) {
	terminal, end, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	p := newProgress(end, "indexing", time.Hour) // the line that comes by itself stays away
	p.next = time.Time{}
	p.Step(1, 4)
	p.next = time.Time{}
	p.Step(2, 4)
	p.End()
	p.Step(3, 4)
	end.Close()
	got, _ := io.ReadAll(terminal) // the other end is closed: an error on Linux
	if !strings.Contains(string(got), "\r\x1b[Kindexing… 2 of 4 (50 %)\r\x1b[K") || strings.Contains(string(got), "3 of 4") {
		t.Errorf("on a terminal: %q", got)
	}
}

func TestProgressOfBytes(t *testing.T) {
	terminal, end, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	p := newProgress(end, "diagnosing", time.Hour)
	p.next = time.Time{}
	p.begun = time.Now().Add(-time.Hour)
	p.Bytes(3600<<20, 7200<<20)
	p.next = time.Time{}
	p.Bytes(3600<<20, 0)
	p.End()
	end.Close()
	got, _ := io.ReadAll(terminal) // the other end is closed: an error on Linux
	for _, want := range []string{"\r\x1b[Kdiagnosing… 3.52 GiB of 7.03 GiB (50 %), ", "\r\x1b[Kdiagnosing… 3.52 GiB, ", "MiB/s\r\x1b[K"} {
		if !strings.Contains(string(got), want) {
			t.Errorf("the terminal shows %q, not %q", got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1 KiB", 1536: "1.5 KiB", 1 << 20: "1 MiB", 1_047_000: "0.998 MiB", 123 << 20: "123 MiB", 10 << 30: "10 GiB",
	} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestProgressIsQuietInAPipe(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	p := newProgress(write, "indexing", 0)
	p.Step(2, 4)
	p.End()
	write.Close()
	if got, err := io.ReadAll(read); err != nil || len(got) != 0 {
		t.Errorf("into a pipe: %q, %v", got, err)
	}
}

func TestProgressOfQuickWorkDrawsNothing(t *testing.T) {
	terminal, end, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	p := newProgress(end, "indexing", time.Hour)
	p.Step(2, 4)
	p.End()
	end.Close()
	if got, _ := io.ReadAll(terminal); len(got) != 0 {
		t.Errorf("drew %q", got)
	}
}
