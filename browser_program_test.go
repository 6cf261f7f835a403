package errorkb

import (
	"go/build"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The program for the browser is loaded by everybody who pastes a text into a site of
// plain files. Here is what keeps it small.

// heavy lists packages that it must not import, even through others: each would bring
// along a large part of the standard library.
var heavy = []string{
	"compress/", "crypto/", "encoding", "encoding/", "fmt", "go/", "io/fs", "io/ioutil", "log", "math/big", "math/rand", "math/rand/v2",
	"net", "net/", "os", "os/", "path/filepath", "reflect", "runtime/pprof", "testing", "text/", "html/", "unique",
}

// granted lists all that it imports of the standard library, but for what the runtime
// consists of, with the reason. None of it brings in a heavy package.
var granted = map[string]string{
	"bytes":         "texts",
	"cmp":           "orders",
	"context":       "the end of a diagnosis; brings time",
	"errors":        "causes of errors",
	"hash":          "of hash/crc32",
	"hash/crc32":    "checksum of the file of an engine",
	"io":            "of regexp",
	"iter":          "of slices",
	"math":          "confidence",
	"math/bits":     "bit sets",
	"regexp":        "patterns that are more than literals and gaps",
	"regexp/syntax": "to read the patterns; with regexp and unicode the largest part after the runtime and our own",
	"runtime":       "number of processors",
	"slices":        "orders",
	"sort":          "search by halves",
	"strconv":       "numbers in JSON and in what people read",
	"strings":       "texts",
	"sync":          "what is made once and shared",
	"sync/atomic":   "the same",
	"syscall":       "of time",
	"syscall/js":    "the functions of the worker",
	"time":          "the end of a diagnosis",
	"unicode":       "letters",
	"unicode/utf8":  "letters",
	"unsafe":        "arrays in a file, numbers loaded as a whole",
}

func isHeavy(name string) bool {
	for _, h := range heavy {
		if name == h || strings.HasSuffix(h, "/") && strings.HasPrefix(name, h) {
			return true
		}
	}
	return false
}

// TestBrowserProgram reads the imports out of the source files, as TestImports does
// and for the same reason.
func TestBrowserProgram(t *testing.T) {
	platform := build.Default
	platform.GOOS, platform.GOARCH, platform.CgoEnabled = "js", "wasm", false
	importers := map[string]string{} // of each package, the first that was found
	unused := map[string]bool{}
	for name := range granted {
		unused[name] = true
	}
	var walk func(name, importer string)
	walk = func(name, importer string) {
		if _, seen := importers[name]; seen {
			return
		}
		importers[name] = importer
		dir, ours := strings.CutPrefix(name, module)
		switch {
		case ours:
		case isHeavy(name):
			chain := []string{name}
			for at := importer; at != ""; at = importers[at] {
				chain = append(chain, at)
			}
			slices.Reverse(chain)
			t.Errorf("the program for the browser imports a heavy package: %s", strings.Join(chain, " → "))
			return // one report is enough
		case granted[name] != "":
			delete(unused, name)
		case !strings.Contains(name, "internal/"):
			t.Errorf("%s imports %s, which is not granted to the program for the browser", importer, name)
		}
		if name == "unsafe" {
			return
		}
		if !ours {
			dir = filepath.Join(platform.GOROOT, "src", filepath.FromSlash(name))
		}
		found, err := platform.ImportDir(dir, 0)
		if err != nil {
			t.Fatalf("%s: %v", path.Join(importer, name), err)
		}
		for _, imported := range found.Imports {
			walk(imported, name)
		}
	}
	walk(module+"cmd/kb-wasm", "")
	for name := range unused {
		t.Errorf("%s is granted to the program for the browser, which does not import it", name)
	}
	for _, want := range []string{module + "internal/diagnose", module + "internal/pattern", "regexp", "internal/runtime/maps"} {
		if _, ok := importers[want]; !ok {
			t.Errorf("%s was not found among %d packages of the program for the browser", want, len(importers))
		}
	}
}
