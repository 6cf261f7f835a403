package main

import (
	"encoding/json"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"errorkb/cmd/internal/cli"
)

// Set when the program is released: go build -ldflags '-X main.version=v1.2.3
// -X main.commit=…'. Without that the build information of Go is used.
var (
	version = ""
	commit  = ""
)

// build names this program.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit"` // "" when it is not known
	Go      string `json:"go"`
}

func buildInfo() build {
	b := build{Version: version, Commit: commit, Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if b.Version == "" && ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		b.Version = info.Main.Version
	}
	if b.Version == "" {
		b.Version = "devel"
	}
	if b.Commit == "" && ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				b.Commit = s.Value
			}
		}
	}
	return b
}

func newVersion() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		GroupID: groupRun,
		Short:   "Show the version of the program and of the bundled records",
		Example: `  kb version
  kb version --json`,
		Args: cobra.NoArgs,
	}
	asJSON := addJSON(cmd, "the versions")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		set, err := cli.Bundled()
		if err != nil {
			return err
		}
		b := buildInfo()
		return answer(cmd, func(p *cli.Printer) error {
			if *asJSON {
				return json.NewEncoder(p).Encode(struct {
					build
					Dataset string `json:"datasetVersion"`
					Records int    `json:"records"`
				}{b, set.Version, len(set.Records)})
			}
			p.Printf("kb %s", b.Version)
			if b.Commit != "" {
				p.Printf(" (%.12s)", b.Commit)
			}
			p.Printf(", %s\nrecords %s (%s)\n", b.Go, set.Version, cli.Count(len(set.Records), "record"))
			return nil
		})
	}
	return cmd
}
