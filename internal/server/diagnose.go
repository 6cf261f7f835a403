package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"errorkb/internal/diagnose"
	"errorkb/internal/render"
)

// Media types of a text to diagnose.
const (
	mediaText = "text/plain"
	mediaJSON = "application/json"
	mediaForm = "application/x-www-form-urlencoded"
)

// handleDiagnosePage answers a pasted text with a page.
func (s *Server) handleDiagnosePage(ctx context.Context, q *request) (answer, error) {
	text, release, err := s.readText(q, mediaForm, mediaText)
	defer release()
	if err != nil {
		return answer{}, err
	}
	result, err := s.diagnose(ctx, q, text)
	if err != nil {
		return answer{}, err
	}
	page, err := q.snapshot.Pages.DiagnosePage(ctx, text, &result)
	if err != nil {
		return answer{}, fmt.Errorf("page of a diagnosis: %w", err)
	}
	return answer{status: page.Status, contentType: page.ContentType, body: newBody(page.Body), cache: cacheNever}, nil
}

// handleDiagnoseAPI answers a text with JSON, the same bytes as kb diagnose
// --json prints.
func (s *Server) handleDiagnoseAPI(ctx context.Context, q *request) (answer, error) {
	text, release, err := s.readText(q, mediaText, mediaJSON)
	defer release()
	if err != nil {
		return answer{}, err
	}
	result, err := s.diagnose(ctx, q, text)
	if err != nil {
		return answer{}, err
	}
	content := append(result.AppendJSON(nil), '\n')
	return answer{status: http.StatusOK, contentType: mediaJSON, body: newBody(content), cache: cacheNever}, nil
}

// diagnose waits for a turn and diagnoses within the time limit.
func (s *Server) diagnose(ctx context.Context, q *request, text []byte) (diagnose.Answer, error) {
	leave, err := s.gate.enter(ctx)
	if err != nil {
		if errors.Is(err, errBusy) {
			s.metrics.refused.Inc()
		}
		return diagnose.Answer{}, fmt.Errorf("wait for a turn: %w", err)
	}
	defer leave()
	started := time.Now()
	inTime, cancel := context.WithTimeout(ctx, s.limits.DiagnoseTimeout)
	defer cancel()
	result := q.snapshot.Diagnose(inTime, text)
	if err := ctx.Err(); err != nil {
		return diagnose.Answer{}, err // hung up: nobody reads the answer
	}
	s.metrics.diagnosed(result, time.Since(started))
	return result, nil
}

// noRelease goes with a body that took no memory.
func noRelease() {}

// readText reads the text to diagnose from the body, which has one of the
// media types. The caller calls release when it is done with the text, and
// whatever the error.
func (s *Server) readText(q *request, allowed ...string) (text []byte, release func(), err error) {
	media, err := mediaType(q.Header, allowed)
	if err != nil {
		return nil, noRelease, err
	}
	// A form and JSON write some bytes as several; the limit is for the text.
	limit := s.limits.MaxBody
	most := limit
	if media != mediaText {
		most = 3*limit + firstRead
	}
	if q.ContentLength > int64(most) {
		return nil, noRelease, s.tooLarge()
	}
	content, release, err := s.memory.read(q.Body, most)
	if err != nil {
		return nil, release, bodyError(err)
	}
	if len(content) > most {
		return nil, release, s.tooLarge()
	}
	switch media {
	case mediaForm:
		text, err = formText(content)
	case mediaJSON:
		text, err = jsonText(content)
	default:
		text = content
	}
	if err == nil && len(text) > limit {
		err = s.tooLarge()
	}
	return text, release, err
}

func (s *Server) tooLarge() error {
	return refuse(render.ProblemTooLarge, "", "The text is longer than %s, the most that this server takes.", byteSize(s.limits.MaxBody))
}

// byteSize writes a size as people do: 16 MiB, 100 bytes.
func byteSize(n int) string {
	for _, unit := range []struct {
		size int
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= unit.size && n%unit.size == 0 {
			return fmt.Sprintf("%d %s", n/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

// bodyError tells apart why a body could not be read: it came too slowly,
// there was no room for it, or it was broken off or badly framed, which is the
// sender's doing.
func bodyError(err error) error {
	if _, known := refusalOf(err); known || errors.Is(err, context.Canceled) {
		return fmt.Errorf("read body: %w", err)
	}
	return refuse(render.ProblemBadBody, "", "The body of the request could not be read to its end.")
}

// mediaType finds the media type of the body among those that are allowed. The
// first one is meant when the request names none. The charset is not looked
// at: any bytes are accepted, and what is not UTF-8 is not guessed at.
func mediaType(h http.Header, allowed []string) (string, error) {
	if coding := h.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return "", refuse(render.ProblemMediaType, coding, "The body is encoded with %s; send it as it is.", render.Quote(coding))
	}
	given := h.Get("Content-Type")
	if given == "" {
		return allowed[0], nil
	}
	media, _, err := mime.ParseMediaType(given)
	for _, a := range allowed {
		if media == a && (err == nil || errors.Is(err, mime.ErrInvalidMediaParameter)) {
			return media, nil
		}
	}
	r := refuse(render.ProblemMediaType, given, "The media type must be %s, not %s.", strings.Join(allowed, " or "), render.Quote(given))
	if media == mediaForm {
		r.detail += " With curl, add -H 'Content-Type: text/plain'." // it calls every body a form
	}
	return "", r
}

// formText takes the field "text" out of a form. A browser writes the line
// ends of a text box as CR LF whatever was pasted; they become what they were
// in the box, so that page and API are asked the same.
func formText(content []byte) ([]byte, error) {
	fields, err := url.ParseQuery(string(content))
	if err != nil {
		return nil, refuse(render.ProblemBadBody, "", "The form cannot be read: it holds a broken percent sequence or a semicolon.")
	}
	values, found := fields["text"]
	if !found {
		return nil, refuse(render.ProblemBadBody, "", "The form has no field \"text\".")
	}
	return []byte(strings.ReplaceAll(values[0], "\r\n", "\n")), nil
}

// jsonText takes the member "text" out of a JSON object that has no other.
func jsonText(content []byte) ([]byte, error) {
	var body struct {
		Text *string `json:"text"`
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&body)
	if err == nil {
		if _, more := decoder.Token(); more != io.EOF {
			return nil, refuse(render.ProblemBadBody, "", "The JSON goes on after its first value, at byte %d.", decoder.InputOffset())
		}
		if body.Text == nil {
			return nil, refuse(render.ProblemBadBody, "", "The JSON must be an object with the member \"text\", a string.")
		}
		return []byte(*body.Text), nil
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return nil, refuse(render.ProblemBadBody, "", "The JSON is broken at byte %d: %s.", syntax.Offset, syntax.Error())
	case errors.As(err, &kind):
		return nil, refuse(render.ProblemBadBody, "", "The JSON must be an object with the member \"text\", a string; at byte %d it has another type: %s.", kind.Offset, render.Shorten(kind.Value))
	case errors.Is(err, io.EOF):
		return nil, refuse(render.ProblemBadBody, "", "The body is empty; it must be a JSON object with the member \"text\".")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, refuse(render.ProblemBadBody, "", "The JSON ends early, at byte %d.", len(content))
	}
	// What is left is an unknown member; the library names it in its message.
	return nil, refuse(render.ProblemBadBody, "", "The JSON must have the one member \"text\": %s.", render.Shorten(strings.TrimPrefix(err.Error(), "json: ")))
}
