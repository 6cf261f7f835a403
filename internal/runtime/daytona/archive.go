package daytona

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"errorkb/internal/runtime/fault"
)

const (
	msgMemberEscapes = `Daytona syncOut refusing tarball member that escapes the extraction dir: %s`             // SYN-07
	msgLinkEscapes   = `Daytona syncOut refusing tarball link whose target escapes the extraction dir: %s -> %s` // SYN-08
)

// pack makes an archive of a directory and counts the files in it. Links stay
// links.
func pack(dir string) (archive []byte, files int, size int64, err error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	err = filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		link := ""
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			if link, err = os.Readlink(name); err != nil {
				return err
			}
		case !info.IsDir() && !info.Mode().IsRegular():
			return nil // a socket or a device is no content
		}
		header, err := tar.FileInfoHeader(info, link)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		header.Name = filepath.ToSlash(relative)
		header.Uid, header.Gid, header.Uname, header.Gname = 0, 0, "", ""
		if err := w.WriteHeader(header); err != nil || !info.Mode().IsRegular() {
			return err
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		n, err := io.Copy(w, f)
		files++
		size += n
		return err
	})
	return out.Bytes(), files, size, errors.Join(err, w.Close())
}

// unpack extracts an archive that a sandbox made. It looks at all of it first:
// nothing is written of an archive with a member that leads out of dir.
func unpack(archive []byte, dir string) (files int, size int64, err error) {
	if err := inspect(archive); err != nil {
		return 0, 0, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, 0, local(err)
	}
	root, err := os.OpenRoot(dir) // holds against links that are there already
	if err != nil {
		return 0, 0, local(err)
	}
	defer root.Close()
	r := tar.NewReader(bytes.NewReader(archive))
	for {
		header, err := r.Next()
		if err == io.EOF {
			return files, size, nil
		}
		if err != nil {
			return 0, 0, local(err)
		}
		n, err := extract(root, header, r)
		if err != nil {
			return 0, 0, local(err)
		}
		if header.Typeflag == tar.TypeReg {
			files++
			size += n
		}
	}
}

// inspect refuses an archive with a member that leads out of its directory.
func inspect(archive []byte) error {
	r := tar.NewReader(bytes.NewReader(archive))
	for {
		header, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return local(err)
		}
		if escapes(header.Name) {
			return fault.New(msgMemberEscapes, header.Name)
		}
		target := header.Linkname
		switch header.Typeflag {
		case tar.TypeSymlink:
			if !path.IsAbs(target) {
				target = path.Join(path.Dir(path.Clean(header.Name)), target)
			}
		case tar.TypeLink:
		default:
			continue
		}
		if escapes(target) {
			return fault.New(msgLinkEscapes, header.Name, header.Linkname)
		}
	}
}

func escapes(name string) bool {
	clean := path.Clean(name)
	return path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../")
}

// extract writes one member. What is in its place goes.
func extract(root *os.Root, header *tar.Header, content io.Reader) (int64, error) {
	name := path.Clean(header.Name)
	if name == "." {
		return 0, nil
	}
	mode := fs.FileMode(header.Mode).Perm()
	if header.Typeflag == tar.TypeDir {
		return 0, root.MkdirAll(name, mode|0o700)
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return 0, err
	}
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	switch header.Typeflag {
	case tar.TypeSymlink:
		return 0, root.Symlink(header.Linkname, name)
	case tar.TypeLink:
		return 0, root.Link(path.Clean(header.Linkname), name)
	case tar.TypeReg:
		f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err != nil {
			return 0, err
		}
		n, err := io.Copy(f, content)
		return n, errors.Join(err, f.Close())
	}
	return 0, nil // a device or a pipe is no content
}
