package kb

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

// scenariosFolder lies among the records without being one, like EvidenceFile.
const scenariosFolder = "scenarios"

// ReadDir reads every record below a folder, as ReadFiles finds them. One bad
// file does not hide the next.
func ReadDir(fsys fs.FS) ([]*Source, []Finding) {
	var sources []*Source
	var decoded []Finding
	findings := ReadFiles(fsys, func(name string, data []byte) {
		source, found := Decode(name, data)
		decoded = append(decoded, found...)
		if source != nil {
			sources = append(sources, source)
		}
	})
	findings = append(findings, decoded...)
	SortFindings(findings)
	return sources, findings
}

// ReadFiles gives the path and the content of every file of a record below a
// folder, laid out as <owner>/<name>/<slug>.json. It passes over scenarios
// folders, the evidence file, hidden files and what is not JSON. The findings
// are about what cannot be read.
func ReadFiles(fsys fs.FS, take func(name string, data []byte)) []Finding {
	var findings []Finding
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			findings = append(findings, unreadable(name, err))
			if entry != nil && entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case name == ".":
			return nil
		case strings.HasPrefix(path.Base(name), ".") || path.Base(name) == scenariosFolder:
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.Type()&fs.ModeSymlink != 0 && linksToFolder(fsys, name):
			findings = append(findings, Finding{File: name, Code: "unreadable", Severity: FindingError,
				Message: "the folder is a symbolic link, which is not followed",
				Advice:  "put the folder itself here"})
			return nil
		case entry.IsDir() || path.Ext(name) != ".json" || name == EvidenceFile:
			return nil
		}
		data, err := readFile(fsys, name)
		if err != nil {
			findings = append(findings, unreadable(name, err))
			return nil
		}
		take(name, data)
		return nil
	})
	if err != nil {
		findings = append(findings, unreadable(".", err))
	}
	return findings
}

func linksToFolder(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err == nil && info.IsDir()
}

// readFile reads a file up to one byte over the limit, which Decode then names.
func readFile(fsys fs.FS, name string) ([]byte, error) {
	// A pipe would never end, so the kind is looked at before opening.
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxFileSize+1))
}

func unreadable(name string, err error) Finding {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	what, advice := "the file", "mend it or remove it"
	if name == "." {
		what, advice = "the records folder", "look whether it is the right one, and who may read it"
	}
	return Finding{File: name, Code: "unreadable", Severity: FindingError,
		Message: fmt.Sprintf("%s cannot be read: %v", what, err), Advice: advice}
}
