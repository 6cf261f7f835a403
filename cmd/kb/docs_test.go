package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The manual has a section for every command, which names each of its flags
// and no other ones.
func TestManualNamesEveryFlag(t *testing.T) {
	data, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	for _, section := range strings.Split(string(data), "\n## ")[1:] {
		title, body, _ := strings.Cut(section, "\n")
		sections[title] = body
	}
	flagName := regexp.MustCompile(`--([a-z][a-z-]*)`)
	commands := 0
	for _, cmd := range newRoot().Commands() {
		if cmd.Name() == "help" || cmd.Name() == "completion" {
			continue
		}
		commands++
		body, ok := sections["kb "+cmd.Name()]
		if !ok {
			t.Errorf("no section for kb %s", cmd.Name())
			continue
		}
		known := []string{"help"}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			known = append(known, f.Name)
			if !strings.Contains(body, "--"+f.Name) && f.Name != "help" {
				t.Errorf("kb %s: the manual does not name --%s", cmd.Name(), f.Name)
			}
		})
		for _, match := range flagName.FindAllStringSubmatch(body, -1) {
			if !slices.Contains(known, match[1]) {
				t.Errorf("kb %s: the manual names --%s, which does not exist", cmd.Name(), match[1])
			}
		}
		checkHelp(t, cmd)
	}
	if commands < 9 {
		t.Errorf("only %d commands", commands)
	}
}

// checkHelp makes sure that a command explains itself.
func checkHelp(t *testing.T, cmd *cobra.Command) {
	t.Helper()
	if cmd.Short == "" || cmd.Example == "" || cmd.GroupID == "" {
		t.Errorf("kb %s lacks a description, an example or a group", cmd.Name())
	}
	for line := range strings.SplitSeq(cmd.Long+"\n"+cmd.Example, "\n") {
		if len(line) > 80 {
			t.Errorf("kb %s: help is wider than 80 columns: %s", cmd.Name(), line)
		}
	}
}
