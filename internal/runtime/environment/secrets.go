package environment

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"errorkb/internal/runtime/plugin"
)

// Members that concern the host only and are not sent to a provider.
var hostOnly = []string{
	"provider", "streamRunLogs",
	"driver", "executionWorkspaceMode", "pluginId", "pluginKey", "providerMetadata", "remoteCwd", "shellCommand",
	"sandboxProviderPlugin", "sandboxLeaseAcquisition", "nativeHarnessBackup", "nativeWorkspaceSync",
}

// workerConfig is a configuration as the provider gets it.
func workerConfig(config Object) Object {
	sent := maps.Clone(config)
	if sent == nil {
		sent = Object{}
	}
	for _, key := range hostOnly {
		delete(sent, key)
	}
	return sent
}

// lookUp returns the value at a path, nil when there is none.
func lookUp(config Object, path string) any {
	var value any = config
	for key := range strings.SplitSeq(path, ".") {
		object, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = object[key]
	}
	return value
}

// copyObject returns a copy that shares nothing with the original.
func copyObject(o Object) Object {
	raw, err := json.Marshal(o)
	if err != nil {
		return maps.Clone(o)
	}
	var c Object
	if json.Unmarshal(raw, &c) != nil || c == nil {
		return Object{}
	}
	return c
}

// resolveSecrets replaces the references of a configuration by their values.
func (s *core) resolveSecrets(ctx context.Context, companyID string, d plugin.Driver, config Object) (Object, error) {
	resolved := copyObject(config)
	for _, at := range d.SecretPaths() {
		var id string
		switch ref := lookUp(resolved, at).(type) {
		case string:
			id = ref
		case map[string]any:
			id, _ = ref["secretId"].(string)
		}
		if id == "" {
			continue
		}
		value := id
		if s.Secrets != nil {
			var err error
			if value, err = s.Secrets(ctx, companyID, id); err != nil {
				return nil, fmt.Errorf("secret at %s: %w", at, err)
			}
		}
		parent, key := resolved, at
		if i := strings.LastIndexByte(at, '.'); i >= 0 {
			parent, _ = lookUp(resolved, at[:i]).(map[string]any)
			key = at[i+1:]
		}
		parent[key] = value
	}
	return resolved, nil
}

// withoutSecrets returns the metadata of a provider without the values that
// would be secrets, and without objects that become empty by that.
func withoutSecrets(d plugin.Driver, metadata Object) Object {
	kept := copyObject(metadata)
	for _, at := range d.SecretPaths() {
		remove(kept, strings.Split(at, "."))
	}
	return kept
}

func remove(o Object, path []string) {
	if len(path) == 1 {
		delete(o, path[0])
		return
	}
	child, ok := o[path[0]].(map[string]any)
	if !ok {
		return
	}
	before := len(child)
	remove(child, path[1:])
	if before > 0 && len(child) == 0 {
		delete(o, path[0])
	}
}

// sameValues reports whether two configurations are equal.
func sameValues(a, b Object) bool { return slices.Equal(canonical(a), canonical(b)) }

func canonical(o Object) []byte {
	raw, err := json.Marshal(o) // the keys of a map come out sorted
	if err != nil {
		return nil
	}
	return raw
}
