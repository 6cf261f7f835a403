package client

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"errorkb/internal/runtime/fault"
)

// toolbox returns an address of the toolbox of the sandbox.
func (s *Sandbox) toolbox(path string) string {
	data := s.Data()
	return strings.TrimRight(data.ToolboxProxyURL, "/") + "/" + url.PathEscape(data.ID) + path
}

func (s *Sandbox) get(ctx context.Context, path string, out any) error {
	return s.client.call(ctx, request{method: http.MethodGet, url: s.toolbox(path)}, out)
}

func (s *Sandbox) post(ctx context.Context, path string, in, out any) error {
	return s.client.call(ctx, jsonBody(http.MethodPost, s.toolbox(path), in), out)
}

type directory struct {
	Dir string `json:"dir"`
}

// WorkDir returns the directory in which commands run by default.
func (s *Sandbox) WorkDir(ctx context.Context) (string, error) {
	var d directory
	err := s.get(ctx, "/work-dir", &d)
	return d.Dir, err
}

// HomeDir returns the home of the sandbox's user.
func (s *Sandbox) HomeDir(ctx context.Context) (string, error) {
	var d directory
	err := s.get(ctx, "/user-home-dir", &d)
	return d.Dir, err
}

// Executed is the outcome of a command: both of its output streams as one.
type Executed struct {
	ExitCode int    `json:"exitCode"`
	Result   string `json:"result"`
}

// Execute runs a command line in the shell of the sandbox. Cwd may be empty. A
// timeout of zero leaves the bound to the service; a command over it gives an
// error that TimedOut recognises.
func (s *Sandbox) Execute(ctx context.Context, command, cwd string, timeout time.Duration) (Executed, error) {
	body := struct {
		Command string `json:"command"`
		Cwd     string `json:"cwd,omitempty"`
		Timeout int    `json:"timeout,omitempty"`
	}{Command: command, Cwd: cwd}
	if timeout > 0 {
		body.Timeout = seconds(timeout)
	}
	var out Executed
	err := s.post(ctx, "/process/execute", body, &out)
	return out, err
}

// TimedOut reports whether the service ended a command because of its time.
func TimedOut(err error) bool {
	e := fault.As(err)
	return e != nil && e.Class == ClassTimeout
}

// CreateSession starts a shell that runs commands one after the other.
func (s *Sandbox) CreateSession(ctx context.Context, id string) error {
	return s.post(ctx, "/process/session", map[string]string{"sessionId": id}, nil)
}

// DeleteSession ends the shell of a session and what runs in it.
func (s *Sandbox) DeleteSession(ctx context.Context, id string) error {
	return s.client.call(ctx, request{method: http.MethodDelete, url: s.toolbox("/process/session/" + url.PathEscape(id))}, nil)
}

// StartCommand hands a command to a session and returns the command's id at
// once.
func (s *Sandbox) StartCommand(ctx context.Context, session, command string) (string, error) {
	body := struct {
		Command  string `json:"command"`
		RunAsync bool   `json:"runAsync"`
	}{command, true}
	var out struct {
		CmdID string `json:"cmdId"`
	}
	err := s.post(ctx, "/process/session/"+url.PathEscape(session)+"/exec", body, &out)
	return out.CmdID, err
}

// CommandExit returns the exit code of a command, nil while it runs.
func (s *Sandbox) CommandExit(ctx context.Context, session, command string) (*int, error) {
	var out struct {
		ExitCode *int `json:"exitCode"`
	}
	err := s.get(ctx, commandPath(session, command), &out)
	return out.ExitCode, err
}

func commandPath(session, command string) string {
	return "/process/session/" + url.PathEscape(session) + "/command/" + url.PathEscape(command)
}

// Output is what a command of a session has written.
type Output struct {
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
}

// CommandOutput returns what a command has written so far.
func (s *Sandbox) CommandOutput(ctx context.Context, session, command string) (Output, error) {
	var out Output
	err := s.get(ctx, commandPath(session, command)+"/logs", &out)
	return out, err
}

// Marks in front of each piece of a followed log.
const (
	markStdout = 1
	markStderr = 2
	markLength = 3
)

const msgLog = `The Daytona API answered with something else than the log of a command`

// FollowCommand hands on what a command writes, from the beginning, until the
// command has ended. Stream is "stdout" or "stderr". An error means that the
// log broke off; what was handed on until then is right.
func (s *Sandbox) FollowCommand(ctx context.Context, session, command string, each func(stream string, chunk []byte)) error {
	resp, err := s.client.open(ctx, request{method: http.MethodGet, url: s.toolbox(commandPath(session, command) + "/logs"), query: url.Values{"follow": {"true"}}})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var split splitter
	buffer := make([]byte, 32<<10)
	for {
		n, err := resp.Body.Read(buffer)
		split.add(buffer[:n], each)
		if split.broken {
			return fault.New(msgLog).WithClass(ClassError)
		}
		if err == io.EOF {
			split.end(each)
			return nil
		}
		if err != nil {
			return transport(err)
		}
	}
}

// splitter takes a followed log apart: three equal mark bytes tell of which
// stream the following bytes are.
type splitter struct {
	held   []byte // marks that may be incomplete
	stream string
	broken bool // there was something before the first mark
}

func (p *splitter) add(data []byte, each func(string, []byte)) {
	data = append(p.held, data...)
	p.held = nil
	for len(data) > 0 {
		at := bytes.IndexAny(data, "\x01\x02")
		if at < 0 {
			at = len(data)
		}
		if at > 0 {
			p.emit(data[:at], each)
			data = data[at:]
			continue
		}
		mark := data[0]
		run := 1
		for run < len(data) && run < markLength && data[run] == mark {
			run++
		}
		switch {
		case run == markLength:
			p.stream = map[byte]string{markStdout: "stdout", markStderr: "stderr"}[mark]
		case run == len(data):
			p.held = append(p.held, data...)
			return
		default:
			p.emit(data[:run], each)
		}
		data = data[run:]
	}
}

// end hands on what looked like the beginning of a mark and was none.
func (p *splitter) end(each func(string, []byte)) {
	if len(p.held) > 0 {
		p.emit(p.held, each)
	}
}

func (p *splitter) emit(data []byte, each func(string, []byte)) {
	if p.stream == "" {
		p.broken = true
		return
	}
	each(p.stream, data)
}

// CreateFolder makes a directory and those above it, with the given mode, as
// in "755".
func (s *Sandbox) CreateFolder(ctx context.Context, path, mode string) error {
	return s.client.call(ctx, request{method: http.MethodPost, url: s.toolbox("/files/folder"), query: url.Values{"path": {path}, "mode": {mode}}}, nil)
}

// SetMode changes the mode of a file, as in "600".
func (s *Sandbox) SetMode(ctx context.Context, path, mode string) error {
	return s.client.call(ctx, request{method: http.MethodPost, url: s.toolbox("/files/permissions"), query: url.Values{"path": {path}, "mode": {mode}}}, nil)
}

// DeleteFile removes a file, or a directory with what is in it.
func (s *Sandbox) DeleteFile(ctx context.Context, path string, recursive bool) error {
	query := url.Values{"path": {path}, "recursive": {strconv.FormatBool(recursive)}}
	return s.client.call(ctx, request{method: http.MethodDelete, url: s.toolbox("/files"), query: query}, nil)
}

// File is a file to upload.
type File struct {
	Path string
	Data []byte
}

// Upload writes files, with the directories above them.
func (s *Sandbox) Upload(ctx context.Context, files ...File) error {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for i, f := range files {
		prefix := "files[" + strconv.Itoa(i) + "]"
		_ = form.WriteField(prefix+".path", f.Path) // a buffer does not fail
		part, _ := form.CreateFormFile(prefix+".file", "file")
		_, _ = part.Write(f.Data)
	}
	_ = form.Close()
	return s.client.call(ctx, request{method: http.MethodPost, url: s.toolbox("/files/bulk-upload"), body: &body, kind: form.FormDataContentType()}, nil)
}

// Downloaded is one file of a download. Err is the service's text when it has
// no such file.
type Downloaded struct {
	Path string
	Data []byte
	Err  string
}

const msgMultipart = `The Daytona API answered a download with something else than files: %s`

// Download reads files. The answer has one entry for each path that the
// service answered for.
func (s *Sandbox) Download(ctx context.Context, paths ...string) ([]Downloaded, error) {
	resp, err := s.client.open(ctx, jsonBody(http.MethodPost, s.toolbox("/files/bulk-download"), map[string][]string{"paths": paths}))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	_, params, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil || params["boundary"] == "" {
		return nil, fault.New(msgMultipart, resp.Header.Get("Content-Type")).WithClass(ClassError)
	}
	var files []Downloaded
	form := multipart.NewReader(resp.Body, params["boundary"])
	for {
		part, err := form.NextRawPart()
		if err == io.EOF {
			return files, nil
		}
		if err != nil {
			return nil, transport(err)
		}
		data, err := s.client.readAll(part)
		if err != nil {
			return nil, err
		}
		// FileName would cut the directories off.
		_, disposition, _ := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
		file := Downloaded{Path: disposition["filename"], Data: data}
		if part.FormName() == "error" {
			var answer struct {
				Message string `json:"message"`
			}
			_ = json.Unmarshal(data, &answer) // a text that is no JSON is the reason itself
			file.Data, file.Err = nil, firstOf(answer.Message, string(data))
		}
		files = append(files, file)
	}
}
