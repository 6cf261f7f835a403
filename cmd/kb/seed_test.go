package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// A record of version 2, taken into an empty base, comes back from the API
// with the same value in every field that it had.
func TestImportedRecordLosesNothing(t *testing.T) {
	shared := os.Getenv("KB_SHARED")
	if shared == "" {
		t.Skip("KB_SHARED does not name the folder of shared seeds")
	}
	seeds, err := filepath.Glob(filepath.Join(shared, "seeds", "*"))
	if err != nil {
		t.Fatal(err)
	}
	imported := 0
	for _, seed := range seeds {
		data, err := os.ReadFile(seed)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(data, []byte("{")) {
			continue // a page, not a record
		}
		imported++
		records := t.TempDir()
		if _, stderr, status := run(t, "", "import", "--out", records, seed); status != 0 || stderr != "" {
			t.Fatalf("import %s: status %d, %s", seed, status, stderr)
		}
		var want struct{ Record map[string]json.RawMessage }
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		var id string
		if err := json.Unmarshal(want.Record["id"], &id); err != nil {
			t.Fatal(err)
		}
		r := start(t, "--data", t.TempDir(), "--records", records)
		status, body := r.get("/api/errors/" + id)
		if status != http.StatusOK {
			t.Fatalf("GET %s: %d", id, status)
		}
		var got struct{ Record map[string]json.RawMessage }
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatal(err)
		}
		if len(want.Record) < 30 {
			t.Errorf("%s has only %d fields", seed, len(want.Record))
		}
		for field, value := range want.Record {
			if field == "schemaVersion" { // 3 is written
				continue
			}
			if !sameJSON(t, value, got.Record[field]) {
				t.Errorf("%s: %s\nis %s\nwas %s", id, field, got.Record[field], value)
			}
		}
	}
	if imported == 0 {
		t.Errorf("no seed in %s is a record", shared)
	}
}

func sameJSON(t *testing.T, a, b json.RawMessage) bool {
	t.Helper()
	if len(b) == 0 {
		return false
	}
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatal(err)
	}
	left, errX := json.Marshal(x)
	right, errY := json.Marshal(y)
	return errX == nil && errY == nil && bytes.Equal(left, right)
}
