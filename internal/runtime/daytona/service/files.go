package service

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// path makes a path of the file API absolute. The API reaches the sandbox and,
// in the directory for temporary files, what has a client's prefix: a client
// with a mistake must not delete anything else of this machine.
func (b *sandbox) path(name string) (string, bool) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(b.home(), name)
	}
	name = filepath.Clean(name)
	for _, prefix := range []string{b.dir + "/", b.service.Scratch() + "/", "/tmp/paperclip-"} {
		if strings.HasPrefix(name, prefix) {
			return name, true
		}
	}
	return name, false
}

func outside(name string) answer {
	return refuse(http.StatusForbidden, "The file API of the sandbox does not reach %s", name)
}

// fileError is the answer to a failed file operation.
func fileError(err error) answer {
	var path *os.PathError
	text := err.Error()
	if errors.As(err, &path) {
		text = path.Err.Error()
	}
	if errors.Is(err, os.ErrNotExist) {
		return refuse(http.StatusNotFound, "%s", text)
	}
	return refuse(http.StatusBadRequest, "%s", text)
}

func modeOf(text string) (os.FileMode, bool) {
	n, err := strconv.ParseUint(text, 8, 12)
	return os.FileMode(n), err == nil
}

func (s *Service) makeFolder(b *sandbox, _ http.ResponseWriter, r *http.Request) answer {
	name, inside := b.path(r.URL.Query().Get("path"))
	mode, valid := modeOf(r.URL.Query().Get("mode"))
	switch {
	case !valid:
		return refuse(http.StatusBadRequest, "the mode is not an octal number")
	case !inside:
		return outside(name)
	}
	if err := os.MkdirAll(name, mode); err != nil {
		return fileError(err)
	}
	return answer{http.StatusCreated, map[string]any{}}
}

func (s *Service) setMode(b *sandbox, _ http.ResponseWriter, r *http.Request) answer {
	name, inside := b.path(r.URL.Query().Get("path"))
	mode, valid := modeOf(r.URL.Query().Get("mode"))
	switch {
	case !valid:
		return refuse(http.StatusBadRequest, "the mode is not an octal number")
	case !inside:
		return outside(name)
	}
	if err := os.Chmod(name, mode); err != nil {
		return fileError(err)
	}
	return ok(map[string]any{})
}

func (s *Service) deleteFile(b *sandbox, _ http.ResponseWriter, r *http.Request) answer {
	name, inside := b.path(r.URL.Query().Get("path"))
	if !inside {
		return outside(name)
	}
	info, err := os.Lstat(name)
	if err != nil {
		return fileError(err)
	}
	if info.IsDir() && r.URL.Query().Get("recursive") != "true" {
		return refuse(http.StatusBadRequest, "cannot delete a directory without the recursive flag")
	}
	if err := os.RemoveAll(name); err != nil {
		return fileError(err)
	}
	return answer{http.StatusNoContent, map[string]any{}}
}

// upload writes files. A form has the path of each file before the file.
func (s *Service) upload(b *sandbox, _ http.ResponseWriter, r *http.Request) answer {
	form, err := r.MultipartReader()
	if err != nil {
		return refuse(http.StatusBadRequest, "invalid multipart form")
	}
	paths := map[string]string{}
	for {
		part, err := form.NextPart()
		if err == io.EOF {
			return ok(map[string]any{})
		}
		if err != nil {
			return refuse(http.StatusBadRequest, "invalid multipart form")
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return refuse(http.StatusBadRequest, "invalid multipart form")
		}
		index, field, _ := strings.Cut(part.FormName(), ".")
		switch field {
		case "path":
			paths[index] = string(data)
		case "file":
			name, inside := b.path(paths[index])
			if paths[index] == "" || !inside {
				return outside(name)
			}
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				return fileError(err)
			}
			if err := os.WriteFile(name, data, 0o644); err != nil {
				return fileError(err)
			}
		}
	}
}

// download answers with one part for each file: the file, or why it is not
// there.
func (s *Service) download(b *sandbox, w http.ResponseWriter, r *http.Request) answer {
	var body struct {
		Paths []string `json:"paths"`
	}
	if json.NewDecoder(r.Body).Decode(&body) != nil || len(body.Paths) == 0 {
		return refuse(http.StatusBadRequest, "paths are required")
	}
	form := multipart.NewWriter(w)
	w.Header().Set("Content-Type", form.FormDataContentType())
	for _, asked := range body.Paths {
		kind, data := "file", []byte(nil)
		name, inside := b.path(asked)
		a := outside(name)
		if f := faultOf(r); f.Kind == KindMissing {
			a = refuse(http.StatusNotFound, "%s", f.Message)
		} else if inside {
			var err error
			if data, err = os.ReadFile(name); err != nil {
				a = fileError(err)
			} else {
				a.body = nil
			}
		}
		if a.body != nil {
			kind = "error"
			data, _ = json.Marshal(a.body)
		}
		header := textproto.MIMEHeader{}
		header.Set("Content-Disposition", mime.FormatMediaType("form-data", map[string]string{"name": kind, "filename": asked}))
		header.Set("Content-Type", "application/octet-stream")
		part, err := form.CreatePart(header)
		if err == nil {
			_, err = part.Write(data)
		}
		if err != nil {
			return answer{0, answered} // the client is gone
		}
	}
	_ = form.Close()
	return answer{http.StatusOK, answered}
}
