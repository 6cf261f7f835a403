package daytona

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"errorkb/internal/runtime/daytona/client"
	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/wire"
)

const (
	msgNoRemoteDir  = `Daytona file sync requires a workspace remote dir on the lease metadata.` // DAY-15
	msgSyncInLease  = `Daytona syncIn requires a provider lease ID.`                             // DAY-16
	msgSyncOutLease = `Daytona syncOut requires a provider lease ID.`                            // DAY-17
	msgSandboxGone  = `daytona_sandbox_not_found`                                                // DAY-18

	msgNotConfined  = `Daytona sync %s path is not a confined absolute path: %s`  // SYN-01
	msgEscapes      = `Daytona sync %s path escapes the workspace remote dir: %s` // SYN-02
	msgSyncCommand  = `Daytona %s command failed (exit %d)%s`                     // SYN-03
	msgNoFile       = `Daytona syncOut download failed for %s: %s`                // SYN-09
	msgNoDirectory  = `Daytona syncOut directory download failed for %s: %s`      // SYN-10
	msgSyncKind     = `Daytona sync cannot copy a %q.`                            // ours
	msgSyncLocal    = `Daytona sync failed at a local file: %v`                   // ours
	reasonNoAnswer  = `no response returned`
	kindDirectory   = "directory"
	kindFile        = "file"
	temporarySuffix = ".paperclip-sync-"
)

// transfer is one sync with the sandbox that it works on.
type transfer struct {
	p    *provider
	c    config
	box  *client.Sandbox
	root string // directory of the sandbox that nothing may leave
}

// syncIn copies files of the host into a sandbox.
func (p *provider) syncIn(ctx context.Context, q wire.SyncParams) (wire.SyncResult, error) {
	if q.Lease.ProviderLeaseID == "" {
		return wire.SyncResult{}, fault.New(msgSyncInLease)
	}
	return p.sync(ctx, q, func(x *transfer, op wire.SyncOperation) (int, int64, error) {
		if err := x.confine("target", op.TargetPath); err != nil {
			return 0, 0, err
		}
		if err := x.guard(ctx, "inbound symlink-escape guard", op.TargetPath); err != nil {
			return 0, 0, err
		}
		switch op.Kind {
		case kindFile:
			return x.fileIn(ctx, op)
		case kindDirectory:
			return x.directoryIn(ctx, op)
		}
		return 0, 0, fault.New(msgSyncKind, op.Kind)
	})
}

// syncOut copies files of a sandbox to the host.
func (p *provider) syncOut(ctx context.Context, q wire.SyncParams) (wire.SyncResult, error) {
	if q.Lease.ProviderLeaseID == "" {
		return wire.SyncResult{}, fault.New(msgSyncOutLease)
	}
	result, err := p.sync(ctx, q, func(x *transfer, op wire.SyncOperation) (int, int64, error) {
		if err := x.confine("source", op.SourcePath); err != nil {
			return 0, 0, err
		}
		if err := x.guard(ctx, "outbound symlink-escape guard", op.SourcePath); err != nil {
			return 0, 0, err
		}
		switch op.Kind {
		case kindFile:
			return x.fileOut(ctx, op)
		case kindDirectory:
			return x.directoryOut(ctx, op)
		}
		return 0, 0, fault.New(msgSyncKind, op.Kind)
	})
	if client.NotFound(err) {
		return wire.SyncResult{}, fault.New(msgSandboxGone).WithCause(err)
	}
	return result, err
}

// sync carries the operations out one after the other.
func (p *provider) sync(ctx context.Context, q wire.SyncParams, each func(*transfer, wire.SyncOperation) (files int, bytes int64, err error)) (wire.SyncResult, error) {
	root, _ := q.Lease.Metadata["remoteCwd"].(string)
	if root == "" {
		return wire.SyncResult{}, fault.New(msgNoRemoteDir)
	}
	c := p.config(q.Config)
	s := c.scope(q.Target, q.Lease.ProviderLeaseID)
	leave, err := p.gates.enter(ctx, s)
	if err != nil {
		return wire.SyncResult{}, err
	}
	defer leave()
	box, err := p.ready(ctx, c, s)
	if err != nil {
		return wire.SyncResult{}, err
	}
	x := &transfer{p, c, box, path.Clean(root)}
	result := wire.SyncResult{Operations: []wire.SyncCount{}}
	for _, op := range q.Operations {
		files, bytes, err := each(x, op)
		if err != nil {
			return wire.SyncResult{}, err
		}
		result.Operations = append(result.Operations, wire.SyncCount{OperationID: op.OperationID, FilesTransferred: files, BytesTransferred: bytes})
	}
	return result, nil
}

// confine makes sure, by its text alone, that a path lies in the workspace.
// The label is "source" or "target".
func (x *transfer) confine(label, candidate string) error {
	if !path.IsAbs(candidate) || leaves(candidate) {
		return fault.New(msgNotConfined, label, candidate)
	}
	if clean := path.Clean(candidate); clean != x.root && !strings.HasPrefix(clean, strings.TrimSuffix(x.root, "/")+"/") {
		return fault.New(msgEscapes, label, candidate)
	}
	return nil
}

// leaves reports whether a path has a part "..".
func leaves(name string) bool {
	for _, part := range strings.Split(name, "/") {
		if part == ".." {
			return true
		}
	}
	return false
}

// guard makes sure that a path, or as much of it as there is, does not lead
// out of the workspace over a link.
func (x *transfer) guard(ctx context.Context, label, name string) error {
	return x.run(ctx, label, fmt.Sprintf(`root=$(readlink -f -- %s) || exit 41
p=%s
while [ ! -e "$p" ] && [ ! -L "$p" ]; do p=$(dirname -- "$p"); done
real=$(readlink -f -- "$p")
case "$real/" in "$root"/*) ;; *) echo "ESCAPE:$p"; exit 42;; esac`, quote(x.root), quote(name)))
}

// run runs a command of the sync in the sandbox.
func (x *transfer) run(ctx context.Context, label, command string) error {
	got, err := x.box.Execute(ctx, command, "", x.c.timeout())
	if err != nil {
		return err
	}
	if got.ExitCode == 0 {
		return nil
	}
	detail := strings.TrimSpace(got.Result)
	if detail != "" {
		detail = ": " + detail
	}
	return fault.New(msgSyncCommand, label, got.ExitCode, detail)
}

// local makes the error of a file of the host.
func local(err error) error { return fault.New(msgSyncLocal, err).WithCause(err) }

// put writes a file in the sandbox in such a way that nobody sees half of it.
func (x *transfer) put(ctx context.Context, target string, data []byte, mode fs.FileMode) error {
	if err := x.run(ctx, "syncIn mkdir", "mkdir -p -- "+quote(path.Dir(target))); err != nil {
		return err
	}
	temporary := target + temporarySuffix + newID()
	if err := x.box.Upload(ctx, client.File{Path: temporary, Data: data}); err != nil {
		return err
	}
	if err := x.box.SetMode(ctx, temporary, fmt.Sprintf("%o", mode.Perm())); err != nil {
		x.p.discard(ctx, x.box, temporary)
		return err
	}
	if err := x.run(ctx, "syncIn rename", "mv -fT -- "+quote(temporary)+" "+quote(target)); err != nil {
		x.p.discard(ctx, x.box, temporary)
		return err
	}
	return nil
}

func (x *transfer) fileIn(ctx context.Context, op wire.SyncOperation) (int, int64, error) {
	data, err := os.ReadFile(op.SourcePath)
	if err != nil {
		return 0, 0, local(err)
	}
	info, err := os.Stat(op.SourcePath)
	if err != nil {
		return 0, 0, local(err)
	}
	return 1, int64(len(data)), x.put(ctx, op.TargetPath, data, info.Mode())
}

func (x *transfer) directoryIn(ctx context.Context, op wire.SyncOperation) (int, int64, error) {
	archive, files, bytes, err := pack(op.SourcePath)
	if err != nil {
		return 0, 0, local(err)
	}
	file := path.Join(x.p.options.Scratch, "paperclip-sync-"+newID()+".tar")
	if err := x.box.Upload(ctx, client.File{Path: file, Data: archive}); err != nil {
		return 0, 0, err
	}
	defer x.p.discard(ctx, x.box, file)
	if err := x.run(ctx, "syncIn mkdir", "mkdir -p -- "+quote(op.TargetPath)); err != nil {
		return 0, 0, err
	}
	return files, bytes, x.run(ctx, "syncIn extract", "tar -xf "+quote(file)+" -C "+quote(op.TargetPath))
}

// fetch reads a file of the sandbox. The template is the text of the error
// when it is not there.
func (x *transfer) fetch(ctx context.Context, file string, missing func(reason string) error) ([]byte, error) {
	got, err := x.box.Download(ctx, file)
	if err != nil {
		return nil, err
	}
	switch {
	case len(got) != 1:
		return nil, missing(reasonNoAnswer)
	case got[0].Err != "":
		return nil, missing(got[0].Err)
	}
	return got[0].Data, nil
}

func (x *transfer) fileOut(ctx context.Context, op wire.SyncOperation) (int, int64, error) {
	data, err := x.fetch(ctx, op.SourcePath, func(reason string) error { return fault.New(msgNoFile, op.SourcePath, reason) })
	if err != nil {
		return 0, 0, err
	}
	if err := os.MkdirAll(filepath.Dir(op.TargetPath), 0o755); err != nil {
		return 0, 0, local(err)
	}
	temporary := op.TargetPath + temporarySuffix + newID()
	err = os.WriteFile(temporary, data, 0o644)
	if err == nil {
		err = os.Rename(temporary, op.TargetPath)
	}
	if err != nil {
		os.Remove(temporary)
		return 0, 0, local(err)
	}
	return 1, int64(len(data)), nil
}

func (x *transfer) directoryOut(ctx context.Context, op wire.SyncOperation) (int, int64, error) {
	file := path.Join(x.p.options.Scratch, "paperclip-sync-"+newID()+".tar")
	if err := x.run(ctx, "syncOut tar", "tar -cf "+quote(file)+" -C "+quote(op.SourcePath)+" ."); err != nil {
		x.p.discard(ctx, x.box, file)
		return 0, 0, err
	}
	defer x.p.discard(ctx, x.box, file)
	archive, err := x.fetch(ctx, file, func(reason string) error { return fault.New(msgNoDirectory, op.SourcePath, reason) })
	if err != nil {
		return 0, 0, err
	}
	return unpack(archive, op.TargetPath)
}
