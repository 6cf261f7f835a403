// Package plugin knows which plugins are installed, what their manifests
// declare and whether they may be used.
//
// There are two ways to find the plugin behind a sandbox, and they must not be
// confused: BySandboxDriver takes a plugin that declares a driver key, to
// acquire a lease; Pinned takes the very plugin that a lease names, and
// nothing else.
package plugin

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"errorkb/internal/runtime/fault"
)

// Status is the state of an installed plugin.
type Status string

// States of a plugin. Only a ready plugin serves leases.
const (
	Installed      Status = "installed"
	Ready          Status = "ready"
	Disabled       Status = "disabled"
	Failed         Status = "error"
	UpgradePending Status = "upgrade_pending"
	Uninstalled    Status = "uninstalled"
)

// KindSandboxProvider marks a driver that the sandbox driver can use.
const KindSandboxProvider = "sandbox_provider"

// Plugin is an installed plugin.
type Plugin struct {
	ID          string
	Key         string
	PackageName string
	Version     string
	Status      Status
	Manifest    Manifest
}

// Manifest is what a plugin says about itself.
type Manifest struct {
	ID                 string      `json:"id"`
	APIVersion         int         `json:"apiVersion"`
	Version            string      `json:"version"`
	DisplayName        string      `json:"displayName"`
	Capabilities       []string    `json:"capabilities"`
	Entrypoints        Entrypoints `json:"entrypoints"`
	EnvironmentDrivers []Driver    `json:"environmentDrivers"`
}

// Entrypoints are the programs of a plugin, relative to its package.
type Entrypoints struct {
	Worker string `json:"worker"`
}

// Driver is one environment driver that a manifest declares. Its key is unique
// inside the manifest only.
type Driver struct {
	DriverKey              string          `json:"driverKey"`
	Kind                   string          `json:"kind"`
	DisplayName            string          `json:"displayName"`
	Description            string          `json:"description,omitempty"`
	ConfigSchema           map[string]any  `json:"configSchema,omitempty"`
	SupportsReusableLeases bool            `json:"supportsReusableLeases,omitempty"`
	SandboxCapabilities    map[string]bool `json:"sandboxCapabilities,omitempty"` // a missing key is not false
}

// Declared returns the declared capabilities, with the older flag for reusable
// leases folded in.
func (d Driver) Declared() map[string]bool {
	const reusable = "reusableLeases"
	declared := map[string]bool{}
	if d.SupportsReusableLeases {
		declared[reusable] = true
	}
	for key, value := range d.SandboxCapabilities {
		declared[key] = value
	}
	return declared
}

// ParseManifest reads a manifest from any value that has its JSON form.
func ParseManifest(v any) (Manifest, error) {
	var m Manifest
	raw, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(raw, &m)
	}
	if err != nil {
		return Manifest{}, fmt.Errorf("plugin manifest: %w", err)
	}
	return m, nil
}

// Driver returns the driver of a key, false when the manifest lacks it.
func (m Manifest) Driver(key string) (Driver, bool) {
	for _, d := range m.EnvironmentDrivers {
		if d.DriverKey == key {
			return d, true
		}
	}
	return Driver{}, false
}

// Registry holds the installed plugins. The zero value is empty and ready for
// use.
type Registry struct {
	mu      sync.Mutex
	plugins []Plugin // in the order of installation
}

// Install adds a plugin, or replaces the one with its id.
func (r *Registry) Install(p Plugin) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.plugins {
		if r.plugins[i].ID == p.ID {
			r.plugins[i] = p
			return
		}
	}
	r.plugins = append(r.plugins, p)
}

// Edit changes a plugin in place. It reports false when there is none.
func (r *Registry) Edit(id string, change func(*Plugin)) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.plugins {
		if r.plugins[i].ID == id {
			change(&r.plugins[i])
			return true
		}
	}
	return false
}

// SetStatus changes the state of a plugin.
func (r *Registry) SetStatus(id string, status Status) bool {
	return r.Edit(id, func(p *Plugin) { p.Status = status })
}

func (r *Registry) find(matches func(Plugin) bool) (Plugin, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.plugins {
		if p.Status != Uninstalled && matches(p) {
			return p, true
		}
	}
	return Plugin{}, false
}

// ByID returns the plugin with an id.
func (r *Registry) ByID(id string) (Plugin, bool) {
	return r.find(func(p Plugin) bool { return p.ID == id })
}

// ByKey returns the plugin with a key.
func (r *Registry) ByKey(key string) (Plugin, bool) {
	return r.find(func(p Plugin) bool { return p.Key == key })
}

// BySandboxDriver returns the first ready plugin that declares a sandbox
// provider with the key and whose worker runs, else the first installed one that
// declares it, in whatever state it is.
func (r *Registry) BySandboxDriver(key string, running func(pluginID string) bool) (Plugin, Driver, bool) {
	declares := func(p Plugin) bool {
		d, declared := p.Manifest.Driver(key)
		return declared && d.Kind == KindSandboxProvider
	}
	p, ok := r.find(func(p Plugin) bool { return declares(p) && p.Status == Ready && running(p.ID) })
	if !ok {
		p, ok = r.find(declares)
	}
	d, _ := p.Manifest.Driver(key)
	return p, d, ok
}

// Pinned returns the plugin with exactly this id, if it still declares the key
// as a sandbox provider. It fails closed: an empty id finds nothing.
func (r *Registry) Pinned(id, key string) (Plugin, Driver, bool) {
	p, ok := r.ByID(id)
	if !ok || id == "" {
		return Plugin{}, Driver{}, false
	}
	d, declared := p.Manifest.Driver(key)
	if !declared || d.Kind != KindSandboxProvider {
		return Plugin{}, Driver{}, false
	}
	return p, d, true
}

// msgNoEntrypoint is PLG-12.
const msgNoEntrypoint = `Worker entrypoint not found for plugin "%s". Checked: %s`

// Entrypoint returns the file of the plugin's worker, looked for in the given
// directories.
func (p Plugin) Entrypoint(dirs ...string) (string, error) {
	var checked []string
	for _, dir := range dirs {
		name := filepath.Join(dir, filepath.FromSlash(p.Manifest.Entrypoints.Worker))
		checked = append(checked, name)
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			return name, nil
		}
	}
	return "", fault.New(msgNoEntrypoint, p.Key, strings.Join(checked, ", "))
}

// SecretPaths lists the paths of a configuration, as in "auth.token", whose
// values are references to secrets.
func (d Driver) SecretPaths() []string {
	var paths []string
	var walk func(prefix string, schema map[string]any)
	walk = func(prefix string, schema map[string]any) {
		properties, _ := schema["properties"].(map[string]any)
		for key, value := range properties {
			property, ok := value.(map[string]any)
			if !ok {
				continue
			}
			if property["format"] == "secret-ref" {
				paths = append(paths, prefix+key)
			}
			walk(fmt.Sprintf("%s%s.", prefix, key), property)
		}
	}
	walk("", d.ConfigSchema)
	return paths
}
