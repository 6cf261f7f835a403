package daytona

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path"

	"errorkb/internal/runtime/daytona/client"
	"errorkb/internal/runtime/wire"
)

// sentinel is a file in a reusable sandbox. It shows on resume that the
// sandbox still holds the workspace that the lease was made for.
type sentinel struct {
	Version int    `json:"version"`
	Token   string `json:"token"`
	path    string
}

const (
	sentinelFile    = ".paperclip-runtime/reusable-sandbox-lease.json"
	sentinelVersion = 1
)

// newSentinel makes the sentinel of a lease. Its token tells identities and
// resource settings apart and says nothing about them.
func newSentinel(q wire.AcquireParams, c config, cwd string) sentinel {
	identity, _ := json.Marshal(wire.Object{ // plain values, keys in order
		"provider": DriverKey, "companyId": q.CompanyID, "environmentId": q.EnvironmentID,
		"agentId": q.AgentID, "executionWorkspaceId": q.ExecutionWorkspaceID,
		"image": c.image, "snapshot": c.snapshot, "target": c.target, "sizes": c.sizes,
	})
	sum := sha256.Sum256(identity)
	return sentinel{sentinelVersion, hex.EncodeToString(sum[:]), path.Join(cwd, sentinelFile)}
}

func (s sentinel) write(ctx context.Context, box *client.Sandbox) error {
	data, _ := json.Marshal(s) // plain values
	return box.Upload(ctx, client.File{Path: s.path, Data: append(data, '\n')})
}

func (s sentinel) metadata(status string) wire.Object {
	return wire.Object{"status": status, "path": s.path, "token": s.Token}
}

// sentinelOf reads what a lease remembers of its sentinel.
func sentinelOf(metadata wire.Object) (sentinel, bool) {
	m, _ := metadata["workspaceSentinel"].(map[string]any)
	token, _ := m["token"].(string)
	file, _ := m["path"].(string)
	return sentinel{sentinelVersion, token, file}, token != "" && file != ""
}

// check compares the file in the sandbox: "matched", "missing" or
// "mismatched".
func (s sentinel) check(ctx context.Context, box *client.Sandbox) (string, error) {
	files, err := box.Download(ctx, s.path)
	if err != nil {
		return "", err
	}
	if len(files) != 1 || files[0].Err != "" {
		return "missing", nil
	}
	var have sentinel
	if json.Unmarshal(files[0].Data, &have) != nil || have.Version != s.Version || have.Token != s.Token {
		return "mismatched", nil
	}
	return "matched", nil
}
