package worker

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"unicode/utf8"
)

// tail keeps the end of a stream: at least max bytes of it, at most twice as
// many.
type tail struct {
	max  int
	data []byte
}

func (t *tail) add(p []byte) {
	if len(p) > t.max {
		p = p[len(p)-t.max:]
	}
	if len(t.data)+len(p) > 2*t.max {
		keep := min(len(t.data), t.max)
		t.data = append(t.data[:0], t.data[len(t.data)-keep:]...)
	}
	t.data = append(t.data, p...)
}

// last returns at most n characters of the end, without the spaces around it.
func (t *tail) last(n int) string {
	text := strings.TrimSpace(strings.ToValidUTF8(string(t.data), "\uFFFD"))
	for i := len(text); i > 0; {
		if n == 0 {
			return text[i:]
		}
		_, size := utf8.DecodeLastRuneInString(text[:i])
		i -= size
		n--
	}
	return text
}

// systemText words an error of the system as the documented project's platform
// does: "spawn /no/such/program ENOENT", "write EPIPE".
func systemText(operation string, err error) string {
	name := ""
	var errno syscall.Errno
	switch {
	case errors.As(err, &errno):
		name = errnoName(errno)
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		name = "ENOENT"
	case errors.Is(err, fs.ErrPermission):
		name = "EACCES"
	case errors.Is(err, os.ErrClosed):
		name = "EPIPE"
	}
	if name == "" {
		return err.Error()
	}
	return operation + " " + name
}
