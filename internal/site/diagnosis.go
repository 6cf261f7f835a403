package site

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"errorkb/internal/render"
	"errorkb/web"
)

// Diagnosis is the program that answers pastes in the browser, and what it
// needs.
type Diagnosis struct {
	Program []byte // WebAssembly, of cmd/kb-wasm
	Runtime []byte // wasm_exec.js of the Go release that compiled the program
	Entries []byte // of the records, as the program reads them
}

// Scripts of ours that only a site with a diagnosis loads.
const (
	workerScript = "worker.js"
	answerScript = "answer.js"
)

// list is the document that the page's script asks for to learn where the
// diagnosis lies. It has a fixed address; everything that it names has a hash of
// its content in its name, so a page never mixes two builds.
type list struct {
	DatasetVersion string `json:"datasetVersion"`
	Bytes          int    `json:"bytes"`   // of program, runtime and entries, uncompressed
	Worker         string `json:"worker"`  // address of the script that runs the program
	Answer         string `json:"answer"`  // address of the module that shows an answer
	Runtime        string `json:"runtime"` // addresses of what the worker loads
	Program        string `json:"program"`
	Entries        string `json:"entries"`
	Search         string `json:"search"` // address of the search, for the words of an unknown error
}

// planDiagnosis adds the files of the diagnosis to the site and returns what
// it published, nil without a diagnosis.
func (b *builder) planDiagnosis(options Options) (*list, error) {
	d := options.Diagnosis
	if d == nil {
		return nil, nil
	}
	base := options.Base
	doc := &list{
		DatasetVersion: options.Set.Version,
		Bytes:          len(d.Program) + len(d.Runtime) + len(d.Entries),
		Search:         base.Address(render.PlaceSearch),
	}
	var files []web.File
	for _, part := range []struct {
		name, ext string
		data      []byte
		address   *string
	}{
		{"kb", ".wasm", d.Program, &doc.Program},
		{"wasm_exec", ".js", d.Runtime, &doc.Runtime},
		{"entries", ".txt", d.Entries, &doc.Entries},
	} {
		if len(part.data) == 0 {
			return nil, fmt.Errorf("the diagnosis of the site has no %s%s", part.name, part.ext)
		}
		sum := sha256.Sum256(part.data)
		file := web.File{Path: part.name + "." + hex.EncodeToString(sum[:6]) + part.ext, Data: part.data}
		files = append(files, file)
		*part.address = base.Address(render.PlaceAsset, file.Path)
	}
	for name, address := range map[string]*string{workerScript: &doc.Worker, answerScript: &doc.Answer} {
		for _, asset := range options.Assets {
			if asset.Name == name {
				*address = base.Address(render.PlaceAsset, asset.Path)
			}
		}
		if *address == "" {
			return nil, fmt.Errorf("the diagnosis of the site needs the asset %s", name)
		}
	}
	if err := b.planAssets(base, files); err != nil {
		return nil, err
	}
	content, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the list of the diagnosis: %w", err)
	}
	file, err := FileName(base, base.Address(render.PlaceDiagnosis))
	if err != nil {
		return nil, err
	}
	b.addContent(file, append(content, '\n'))
	return doc, nil
}

// headers are what browsers may do on a host that understands _headers. Pages
// have the server's policy, which lets them start a worker of their own site.
// Only the worker may compile WebAssembly: a worker has the policy of its own
// file. Hosts add rules up when more than one fits an address, and policies only
// ever take away, so each address has one rule. A nil list is a site without a
// diagnosis.
func (l *list) headers(base render.Base) []headerRule {
	const name = "Content-Security-Policy: "
	var rules []headerRule
	page := name + render.Policy
	if l != nil {
		rules = []headerRule{
			{l.Worker, name + strings.Replace(render.Policy, "script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'", 1)},
			{l.Program, "Content-Type: application/wasm"},
		}
	}
	for _, place := range []render.Place{render.PlaceHome, render.PlaceNotFound} {
		rules = append(rules, headerRule{base.Address(place), page})
	}
	for _, place := range []render.Place{
		render.PlaceDiagnose, render.PlaceSearch, render.PlaceErrors,
		render.PlaceRepo, render.PlaceTag, render.PlaceBackground, render.PlaceProblem,
	} {
		at := strings.TrimSuffix(base.Address(place), "/")
		rules = append(rules, headerRule{at, page}, headerRule{at + "/*", page})
	}
	return rules
}
