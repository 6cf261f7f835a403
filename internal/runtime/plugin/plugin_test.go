package plugin

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLookUps(t *testing.T) {
	manifest := func(kind string) Manifest {
		return Manifest{EnvironmentDrivers: []Driver{{DriverKey: "box", Kind: kind}}}
	}
	var r Registry
	r.Install(Plugin{ID: "p0", Key: "plain", Status: Ready, Manifest: manifest("environment")})
	r.Install(Plugin{ID: "p1", Key: "one", Status: Disabled, Manifest: manifest(KindSandboxProvider)})
	r.Install(Plugin{ID: "p2", Key: "two", Status: Ready, Manifest: manifest(KindSandboxProvider)})

	running := map[string]bool{"p0": true, "p1": true}
	runs := func(id string) bool { return running[id] }
	if p, d, ok := r.BySandboxDriver("box", runs); !ok || p.ID != "p1" || d.DriverKey != "box" {
		t.Errorf("by key: %v, %v", p.ID, ok)
	}
	running["p2"] = true
	if p, _, ok := r.BySandboxDriver("box", runs); !ok || p.ID != "p2" {
		t.Errorf("by key, with one that is ready and runs: %v, %v", p.ID, ok)
	}
	running["p2"] = false
	if p, _, ok := r.Pinned("p2", "box"); !ok || p.Key != "two" {
		t.Errorf("pinned: %v, %v", p.ID, ok)
	}
	for _, pin := range [][2]string{{"", "box"}, {"p9", "box"}, {"p2", "other"}, {"p0", "box"}} {
		if _, _, ok := r.Pinned(pin[0], pin[1]); ok {
			t.Errorf("%v was found", pin)
		}
	}
	r.SetStatus("p1", Uninstalled)
	if p, _, _ := r.BySandboxDriver("box", runs); p.ID != "p2" {
		t.Errorf("an uninstalled plugin still counts: %s", p.ID)
	}
	if _, ok := r.ByKey("one"); ok {
		t.Error("an uninstalled plugin is found by its key")
	}
	r.Install(Plugin{ID: "p2", Key: "renamed", Status: Ready})
	if _, _, ok := r.BySandboxDriver("box", runs); ok {
		t.Error("the manifest was not replaced")
	}
}

func TestDeclared(t *testing.T) {
	for _, c := range []struct {
		driver Driver
		want   map[string]bool
	}{
		{Driver{}, map[string]bool{}},
		{Driver{SupportsReusableLeases: true}, map[string]bool{"reusableLeases": true}},
		{Driver{SupportsReusableLeases: true, SandboxCapabilities: map[string]bool{"reusableLeases": false}}, map[string]bool{"reusableLeases": false}},
	} {
		if diff := cmp.Diff(c.want, c.driver.Declared()); diff != "" {
			t.Error(diff)
		}
	}
}

func TestEntrypoint(t *testing.T) {
	dir := t.TempDir()
	p := Plugin{Key: "acme.box", Manifest: Manifest{Entrypoints: Entrypoints{Worker: "dist/worker.js"}}}
	_, err := p.Entrypoint(dir, filepath.Join(dir, "other"))
	want := `Worker entrypoint not found for plugin "acme.box". Checked: ` + filepath.Join(dir, "dist/worker.js") + ", " + filepath.Join(dir, "other/dist/worker.js")
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "dist"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "dist/worker.js"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if name, err := p.Entrypoint(dir); err != nil || !strings.HasSuffix(name, "worker.js") {
		t.Errorf("got %q, %v", name, err)
	}
}

func TestSecretPaths(t *testing.T) {
	d := Driver{ConfigSchema: map[string]any{"properties": map[string]any{
		"apiKey": map[string]any{"type": "string", "format": "secret-ref"},
		"image":  map[string]any{"type": "string"},
		"auth":   map[string]any{"properties": map[string]any{"token": map[string]any{"format": "secret-ref"}}},
	}}}
	got := d.SecretPaths()
	slices.Sort(got)
	if diff := cmp.Diff([]string{"apiKey", "auth.token"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseManifest(t *testing.T) {
	m, err := ParseManifest(map[string]any{"id": "acme", "environmentDrivers": []any{map[string]any{
		"driverKey": "box", "kind": "sandbox_provider", "sandboxCapabilities": map[string]any{"duplexCommandStream": true}}}})
	if d, ok := m.Driver("box"); err != nil || !ok || d.Kind != KindSandboxProvider || !d.Declared()["duplexCommandStream"] {
		t.Errorf("got %+v, %v", m, err)
	}
	if _, err := ParseManifest(func() {}); err == nil {
		t.Error("a function was taken for a manifest")
	}
	if _, err := ParseManifest(map[string]any{"apiVersion": "one"}); err == nil {
		t.Error("a version that is a text was accepted")
	}
}
