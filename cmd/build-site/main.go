// Build-site writes the knowledge base as a folder of plain files, which any
// file server can show.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"errorkb/cmd/internal/cli"
	"errorkb/internal/render"
	"errorkb/internal/site"
	"errorkb/internal/store"
	"errorkb/web"
)

func main() { os.Exit(cli.Run(newRoot())) }

func newRoot() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "build-site",
		Short: "Write the knowledge base as a folder of plain files",
		Long: `Build-site writes every page and every JSON answer that needs no query into a
folder, the same bytes as kb serve gives at the same addresses. Only what
changed is written, files of other origin are left alone, and a build that is
interrupted leaves the old site whole.

It refuses a release in which a record vanished or a date went back, compared
with the manifest of the last build in the folder, or with the one that
--previous names.

Run in its source tree it compiles the diagnosis to WebAssembly, with which the
site answers pastes by itself; elsewhere --wasm names the compiled program.`,
		Example: `  build-site
  build-site --out public --records records --base-path /kb --site-url https://example.org
  curl -sO https://example.org/kb/build-manifest.json
  build-site --previous build-manifest.json`,
		Args: cobra.NoArgs,
	}
	flags := cmd.Flags()
	out := flags.String("out", "public", "folder `DIR` to write the site into")
	records := flags.String("records", "", "folder `DIR` of records to use instead of the bundled ones")
	previous := flags.String("previous", "", "`FILE`, the manifest of the last release, instead of the one in the folder")
	wasm := flags.String("wasm", "", "`FILE`, the diagnosis for the browser, with wasm_exec.js beside it; \"none\" leaves it out")
	quiet := flags.Bool("quiet", false, "write nothing when all is well")
	siteFlags := cli.AddSiteFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx, stop := cli.UntilSignal(cmd.Context())
		defer stop()
		set, err := cli.Records(ctx, *records, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		last, err := lastRelease(*previous)
		if err != nil {
			return err
		}
		options := siteFlags.Options()
		if options.Proof, err = cli.Proof(*records, set); err != nil {
			return err
		}
		diagnosis, err := browserDiagnosis(ctx, *wasm, set, options.Proof, options.Base)
		if err != nil {
			return err
		}
		source, err := store.OpenMemory(ctx, set)
		if err != nil {
			return err
		}
		defer source.Close() // in memory: nothing to lose
		progress := cli.NewProgress(cmd.ErrOrStderr(), "writing")
		report, err := site.Build(ctx, render.New(source, options), *out, site.Options{
			Base: options.Base, Set: set, Assets: web.Files(), Diagnosis: diagnosis, Previous: last, Progress: progress.Step,
		})
		progress.End()
		if err != nil {
			return err
		}
		if !*quiet {
			describe(cmd, *out, report)
			if diagnosis == nil && *wasm != noProgram {
				fmt.Fprintln(cmd.ErrOrStderr(), "note: this site cannot diagnose by itself; for that, run build-site in its source tree, or say --wasm FILE")
			}
			if options.SiteURL == "" {
				fmt.Fprintf(cmd.ErrOrStderr(), "note: feed, sitemap and search description name %s; before publishing, say --site-url URL\n", render.DefaultSiteURL)
			}
		}
		return nil
	}
	cli.Prepare(cmd)
	return cmd
}

// lastRelease reads the manifest to compare with; nil without a name.
func lastRelease(name string) (*site.Manifest, error) {
	if name == "" {
		return nil, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open the manifest of the last release: %w", err)
	}
	defer file.Close()
	manifest, err := site.ReadManifest(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return manifest, nil
}

func describe(cmd *cobra.Command, out string, r site.Report) {
	w := cmd.OutOrStdout()
	if r.Recovered {
		fmt.Fprintf(w, "finished an interrupted build first\n")
	}
	fmt.Fprintf(w, "%s: %s, %.1f MB (%d written, %d unchanged, %d deleted)\n",
		out, cli.Count(r.Files, "file"), float64(r.Bytes)/1e6, r.Written, r.Unchanged, r.Deleted)
}
