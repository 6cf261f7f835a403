package site

import (
	"encoding/json"
	"strings"
	"testing"

	"errorkb/internal/render"
	"errorkb/web"
)

// able is the small site with a diagnosis.
func able() (pages, Options) {
	source, options := small()
	options.Assets = append(options.Assets, web.File{Name: workerScript, Path: "worker.1.js", Data: []byte("w")},
		web.File{Name: answerScript, Path: "answer.1.js", Data: []byte("a")})
	options.Diagnosis = &Diagnosis{Program: []byte("\x00asm"), Runtime: []byte("// runtime"), Entries: []byte("entries")}
	return source, options
}

func TestDiagnosisIsPublished(t *testing.T) {
	for _, base := range []render.Base{"", "/kb"} {
		source, options := able()
		options.Base = base
		based := pages{}
		for address, document := range source {
			based[string(base)+address] = document
		}
		out := t.TempDir()
		build(t, based, out, options)
		got := tree(t, out)
		var doc list
		if err := json.Unmarshal([]byte(got["diagnosis.json"]), &doc); err != nil {
			t.Fatal(err)
		}
		for address, want := range map[string]string{
			doc.Worker: "w", doc.Answer: "a", doc.Program: "\x00asm", doc.Runtime: "// runtime", doc.Entries: "entries",
		} {
			name, ok := strings.CutPrefix(address, string(base)+"/")
			if !ok || got[name] != want {
				t.Errorf("%q holds %q, want %q", address, got[name], want)
			}
		}
		if doc.DatasetVersion != options.Set.Version || doc.Search != string(base)+"/search" || doc.Bytes != len("\x00asm// runtimeentries") {
			t.Errorf("list of the diagnosis: %+v", doc)
		}
		// Hosts add up the policies of all rules that fit, and the strictest wins.
		for address, compiles := range map[string]bool{
			doc.Worker: true, doc.Answer: false, string(base) + "/": false, string(base) + "/diagnose/": false, string(base) + "/errors/o/r/a/": false,
		} {
			policies := fitting(got["_headers"], address)
			if address != doc.Answer && len(policies) != 1 {
				t.Errorf("%s has the policies %q, want one", address, policies)
			}
			if strings.Contains(strings.Join(policies, ";"), "'wasm-unsafe-eval'") != compiles {
				t.Errorf("%s: may compile: want %t, policies %q", address, compiles, policies)
			}
		}
	}
}

// fitting lists the policies that a _headers file gives an address.
func fitting(headers, address string) []string {
	var found []string
	fits := false
	for line := range strings.Lines(headers) {
		rule := strings.TrimSpace(line)
		if !strings.HasPrefix(line, " ") {
			folder, all := strings.CutSuffix(rule, "*")
			fits = rule == address || all && strings.HasPrefix(address, folder)
		} else if policy, ok := strings.CutPrefix(rule, "Content-Security-Policy: "); ok && fits {
			found = append(found, policy)
		}
	}
	return found
}

func TestIncompleteDiagnosis(t *testing.T) {
	for name, spoil := range map[string]func(*Options){
		"no program": func(o *Options) { o.Diagnosis.Program = nil },
		"no runtime": func(o *Options) { o.Diagnosis.Runtime = nil },
		"no entries": func(o *Options) { o.Diagnosis.Entries = nil },
		"no scripts": func(o *Options) { o.Assets = o.Assets[:2] },
	} {
		source, options := able()
		spoil(&options)
		if _, err := Build(t.Context(), source, t.TempDir(), options); err == nil || !strings.Contains(err.Error(), "the diagnosis of the site") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
