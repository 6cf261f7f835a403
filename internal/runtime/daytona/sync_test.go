package daytona

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"errorkb/internal/runtime/daytona/service"
	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/wire"
)

func (x *stage) sync(method string, l wire.LeaseResult, ops ...wire.SyncOperation) (wire.SyncResult, error) {
	var got wire.SyncResult
	err := x.call(method, wire.SyncParams{Target: x.target(), Lease: wire.Lease{ProviderLeaseID: l.ProviderLeaseID, Metadata: l.Metadata}, Operations: ops}, &got)
	return got, err
}

func write(t *testing.T, name, data string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(data), mode); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestSync(t *testing.T) {
	x := begin(t)
	l := x.lease()
	cwd := l.Metadata["remoteCwd"].(string)
	here := t.TempDir()
	write(t, here+"/one.txt", "one", 0o644)
	write(t, here+"/tree/a/run.sh", "#!/bin/sh\necho ran\n", 0o755)
	write(t, here+"/tree/b", "bb", 0o600)
	x.must(os.Symlink("a/run.sh", here+"/tree/link"))
	got, err := x.sync(wire.MethodSyncIn, l,
		wire.SyncOperation{OperationID: "1", Kind: "file", SourcePath: here + "/one.txt", TargetPath: cwd + "/new dir/it's one"},
		wire.SyncOperation{OperationID: "2", Kind: "directory", SourcePath: here + "/tree", TargetPath: cwd + "/tree"})
	x.must(err)
	if len(got.Operations) != 2 || got.Operations[0] != (wire.SyncCount{OperationID: "1", FilesTransferred: 1, BytesTransferred: 3}) || got.Operations[1] != (wire.SyncCount{OperationID: "2", FilesTransferred: 2, BytesTransferred: 21}) {
		t.Errorf("got %+v", got)
	}
	result, err := x.send(x.executeParams(l, "cat 'new dir/it'\"'\"'s one'; tree/link; echo more >>tree/b"))
	x.must(err)
	if result.Stdout != "oneran\n" {
		t.Errorf("got %+v", result)
	}
	got, err = x.sync(wire.MethodSyncOut, l,
		wire.SyncOperation{OperationID: "1", Kind: "file", SourcePath: cwd + "/new dir/it's one", TargetPath: here + "/back/one"},
		wire.SyncOperation{OperationID: "2", Kind: "directory", SourcePath: cwd + "/tree", TargetPath: here + "/back/tree"})
	x.must(err)
	if got.Operations[1].FilesTransferred != 2 || read(t, here+"/back/one") != "one" || read(t, here+"/back/tree/b") != "bbmore\n" {
		t.Errorf("got %+v", got)
	}
	if link, err := os.Readlink(here + "/back/tree/link"); err != nil || link != "a/run.sh" {
		t.Errorf("link %s, %v", link, err)
	}
	if left, _ := os.ReadDir(x.service.Scratch()); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	// Again, over what is there.
	_, err = x.sync(wire.MethodSyncOut, l, wire.SyncOperation{Kind: "directory", SourcePath: cwd + "/tree", TargetPath: here + "/back/tree"})
	x.must(err)
}

func TestSyncErrors(t *testing.T) {
	for _, c := range []struct {
		id, method, text string
		change           func(x *stage, l *wire.LeaseResult, op *wire.SyncOperation)
	}{
		{"DAY-15", wire.MethodSyncIn, "Daytona file sync requires a workspace remote dir on the lease metadata.", func(_ *stage, l *wire.LeaseResult, _ *wire.SyncOperation) { delete(l.Metadata, "remoteCwd") }},
		{"DAY-16", wire.MethodSyncIn, "Daytona syncIn requires a provider lease ID.", func(_ *stage, l *wire.LeaseResult, _ *wire.SyncOperation) { l.ProviderLeaseID = "" }},
		{"DAY-17", wire.MethodSyncOut, "Daytona syncOut requires a provider lease ID.", func(_ *stage, l *wire.LeaseResult, _ *wire.SyncOperation) { l.ProviderLeaseID = "" }},
		{"DAY-18", wire.MethodSyncOut, "daytona_sandbox_not_found", func(x *stage, _ *wire.LeaseResult, _ *wire.SyncOperation) {
			x.must(x.service.Remove("sandbox-1"))
			x.restart()
		}},
		{"SYN-01", wire.MethodSyncIn, "Daytona sync target path is not a confined absolute path: ../x", func(_ *stage, _ *wire.LeaseResult, op *wire.SyncOperation) { op.TargetPath = "../x" }},
		{"SYN-01", wire.MethodSyncIn, "Daytona sync target path is not a confined absolute path: CWD/a/../../x", func(_ *stage, l *wire.LeaseResult, op *wire.SyncOperation) {
			op.TargetPath = l.Metadata["remoteCwd"].(string) + "/a/../../x"
		}},
		{"SYN-02", wire.MethodSyncOut, "Daytona sync source path escapes the workspace remote dir: /etc/x", func(_ *stage, _ *wire.LeaseResult, op *wire.SyncOperation) { op.SourcePath = "/etc/x" }},
		{"SYN-03", wire.MethodSyncIn, "Daytona inbound symlink-escape guard command failed (exit 42): ESCAPE:CWD/out", func(x *stage, l *wire.LeaseResult, op *wire.SyncOperation) {
			x.must(os.Symlink("/etc", l.Metadata["remoteCwd"].(string)+"/out"))
			op.TargetPath = l.Metadata["remoteCwd"].(string) + "/out/file"
		}},
		{"SYN-03", wire.MethodSyncOut, "Daytona outbound symlink-escape guard command failed (exit 42): ESCAPE:CWD/out", func(x *stage, l *wire.LeaseResult, op *wire.SyncOperation) {
			op.SourcePath = l.Metadata["remoteCwd"].(string) + "/out"
			x.must(os.Symlink("/etc/passwd", op.SourcePath))
		}},
		{"SYN-08", wire.MethodSyncOut, "Daytona syncOut refusing tarball link whose target escapes the extraction dir: ./d/out -> ../../elsewhere", func(x *stage, l *wire.LeaseResult, op *wire.SyncOperation) {
			op.SourcePath, op.Kind = l.Metadata["remoteCwd"].(string), "directory"
			x.must(os.Mkdir(op.SourcePath+"/d", 0o755))
			x.must(os.Symlink("../../elsewhere", op.SourcePath+"/d/out"))
		}},
		{"SYN-09", wire.MethodSyncOut, "Daytona syncOut download failed for CWD/nosuch: no such file or directory", func(_ *stage, l *wire.LeaseResult, op *wire.SyncOperation) {
			op.SourcePath = l.Metadata["remoteCwd"].(string) + "/nosuch"
		}},
		{"SYN-10", wire.MethodSyncOut, "Daytona syncOut directory download failed for CWD: file is gone", func(x *stage, l *wire.LeaseResult, op *wire.SyncOperation) {
			op.SourcePath, op.Kind = l.Metadata["remoteCwd"].(string), "directory"
			x.breaks(service.Fault{Operation: "files.download", Kind: service.KindMissing, Message: "file is gone"})
		}},
	} {
		t.Run(c.id, func(t *testing.T) {
			x := begin(t)
			l := x.lease()
			cwd := l.Metadata["remoteCwd"].(string)
			here := t.TempDir()
			write(t, here+"/file", "data", 0o644)
			op := wire.SyncOperation{OperationID: "1", Kind: "file", SourcePath: here + "/file", TargetPath: cwd + "/file"}
			if c.method == wire.MethodSyncOut {
				op.SourcePath, op.TargetPath = op.TargetPath, here+"/back"
			}
			c.change(x, &l, &op)
			_, err := x.sync(c.method, l, op)
			want := string(bytes.ReplaceAll([]byte(c.text), []byte("CWD"), []byte(cwd)))
			if e := fault.As(err); e == nil || e.Message != want || e.Code != wire.CodeWorkerError {
				t.Errorf("got  %v\nwant %s", err, want)
			}
			if left, _ := os.ReadDir(here); len(left) != 1 {
				t.Errorf("written %v", left)
			}
		})
	}
}

func TestUnpackRefuses(t *testing.T) {
	for _, c := range []struct {
		header tar.Header
		want   string
	}{
		{tar.Header{Name: "../x", Typeflag: tar.TypeReg}, "Daytona syncOut refusing tarball member that escapes the extraction dir: ../x"}, // SYN-07
		{tar.Header{Name: "/etc/x", Typeflag: tar.TypeReg}, "Daytona syncOut refusing tarball member that escapes the extraction dir: /etc/x"},
		{tar.Header{Name: "a/../../x", Typeflag: tar.TypeDir}, "Daytona syncOut refusing tarball member that escapes the extraction dir: a/../../x"},
		{tar.Header{Name: "l", Linkname: "/etc", Typeflag: tar.TypeSymlink}, "Daytona syncOut refusing tarball link whose target escapes the extraction dir: l -> /etc"},
		{tar.Header{Name: "l", Linkname: "../x", Typeflag: tar.TypeLink}, "Daytona syncOut refusing tarball link whose target escapes the extraction dir: l -> ../x"},
	} {
		var archive bytes.Buffer
		w := tar.NewWriter(&archive)
		if err := w.WriteHeader(&tar.Header{Name: "good", Typeflag: tar.TypeReg, Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		if err := w.WriteHeader(&c.header); err != nil {
			t.Fatal(err)
		}
		w.Close()
		dir := t.TempDir() + "/target"
		if _, _, err := unpack(archive.Bytes(), dir); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Error("something was written")
		}
	}
	if _, _, err := unpack([]byte("no archive at all, but long enough to look like one"), t.TempDir()); err == nil {
		t.Error("what is no archive was unpacked")
	}
}
