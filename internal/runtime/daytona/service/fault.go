package service

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// Fault is what an operation does instead of its work.
type Fault struct {
	// Operation is one of Operations, or "*" for all.
	Operation string `json:"operation"`
	// Sandbox restricts the fault to one sandbox.
	Sandbox string `json:"sandbox,omitempty"`
	// Kind is one of the Kind constants.
	Kind string `json:"kind"`
	// Status is the answer of KindStatus. Zero means 500.
	Status int `json:"status,omitempty"`
	// Message is the text of the answer of KindStatus, KindRefuse and
	// KindMissing.
	Message string `json:"message,omitempty"`
	// ID is the sandbox that KindWrongID answers with.
	ID string `json:"id,omitempty"`
	// Times is how often the fault happens. Zero means until it is mended.
	Times int `json:"times,omitempty"`
}

// Kinds of faults. The first five are possible in every operation.
const (
	KindStatus    = "status"    // answers with an error status
	KindHang      = "hang"      // does not answer until it is mended or the client gives up
	KindReset     = "reset"     // ends the connection without an answer
	KindGarbage   = "garbage"   // answers with something else than JSON
	KindOversized = "oversized" // answers with more than anybody can want; in terminal.connect, one such message

	KindWrongID = "wrong-id" // sandbox.get: answers with the id of another sandbox
	KindCut     = "cut"      // session.logs: breaks a followed log off after its first piece
	KindMissing = "missing"  // files.download: has none of the files

	KindSilent = "silent" // terminal.connect: accepts the socket and says nothing
	KindRefuse = "refuse" // terminal.connect: says that it could not connect, with Message
	KindShut   = "shut"   // terminal.connect: closes the socket before it is connected
	// KindShutConnected in terminal.connect closes the socket as soon as it is
	// connected. Other work in the sandbox waits until the client knows.
	KindShutConnected = "shut-connected"

	KindForeign   = "foreign"    // terminal.connect: sends messages that nobody knows, then works
	KindDropInput = "drop-input" // terminal.connect: resets the connection on a message of more than 4 KiB
)

var kinds = []string{
	KindStatus, KindHang, KindReset, KindGarbage, KindOversized, KindWrongID, KindMissing, KindCut,
	KindSilent, KindRefuse, KindShut, KindShutConnected, KindForeign, KindDropInput,
}

// onlyFor names the operation of kinds that belong to one.
var onlyFor = map[string]string{
	KindWrongID: "sandbox.get", KindMissing: "files.download", KindCut: "session.logs",
	KindSilent: "terminal.connect", KindRefuse: "terminal.connect", KindShut: "terminal.connect",
	KindShutConnected: "terminal.connect", KindForeign: "terminal.connect", KindDropInput: "terminal.connect",
}

// breakage is a fault in force.
type breakage struct {
	Fault
	left   int           // how often it still happens; 0 is for ever
	spent  bool          // it happens no more, but may hang still
	mended chan struct{} // closed when it is taken out
}

// Break puts a fault into an operation. Of several faults in one operation the
// oldest happens first.
func (s *Service) Break(f Fault) error {
	if f.Operation != "*" && !slices.Contains(Operations, f.Operation) {
		return fmt.Errorf("unknown operation %q; known are * %s", f.Operation, strings.Join(Operations, " "))
	}
	if !slices.Contains(kinds, f.Kind) {
		return fmt.Errorf("unknown kind of fault %q; known are %s", f.Kind, strings.Join(kinds, " "))
	}
	if only := onlyFor[f.Kind]; only != "" && f.Operation != only {
		return fmt.Errorf("a fault of kind %q is possible in %s only, not in %q", f.Kind, only, f.Operation)
	}
	if f.Kind == KindWrongID && f.ID == "" {
		return fmt.Errorf("a fault of kind %q needs an id", f.Kind)
	}
	if f.Status == 0 {
		f.Status = http.StatusInternalServerError
	}
	if f.Kind == KindStatus && f.Message == "" {
		f.Message = "Internal server error"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &breakage{Fault: f, left: f.Times, mended: make(chan struct{})})
	return nil
}

// Mend takes all faults out of an operation; "" takes out every fault. What
// hangs goes on.
func (s *Service) Mend(operation string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = slices.DeleteFunc(s.faults, func(b *breakage) bool {
		if operation != "" && b.Operation != operation {
			return false
		}
		close(b.mended)
		return true
	})
}

// fault takes the fault that an operation has to show now, nil for none.
func (s *Service) fault(operation, sandbox string) *breakage {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.faults {
		if b.spent || b.Operation != "*" && b.Operation != operation || b.Sandbox != "" && b.Sandbox != sandbox {
			continue
		}
		if b.left > 0 {
			b.left--
			b.spent = b.left == 0
		}
		return b
	}
	return nil
}

type faultKey struct{}

// faultOf returns the fault that a handler has to show itself.
func faultOf(r *http.Request) Fault {
	if b, _ := r.Context().Value(faultKey{}).(*breakage); b != nil {
		return b.Fault
	}
	return Fault{}
}

// maxBody bounds what a client may send.
const maxBody = 256 << 20

// serve wraps the handler of an operation: key, fault and note of the call.
func (s *Service) serve(operation string, h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		select {
		case <-s.closing:
			s.mu.Unlock()
			return
		default:
		}
		s.work.Add(1) // under the lock: Close does not wait yet
		box := s.sandboxes[r.PathValue("id")]
		s.mu.Unlock()
		defer s.work.Done()

		// With the body read, the server sees when the client gives up.
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			refuse(http.StatusRequestEntityTooLarge, "The request is too large or broke off").write(w)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		call := Call{Operation: operation, Sandbox: r.PathValue("id")}
		if r.Header.Get("Authorization") != "Bearer "+s.key {
			refuse(http.StatusUnauthorized, "Unauthorized").write(w)
			return
		}
		if box != nil {
			r = r.WithContext(context.WithValue(r.Context(), sandboxKey{}, box))
		}
		if b := s.fault(operation, call.Sandbox); b != nil {
			call.Fault = b.Kind
			if s.show(b, w, r, &call) {
				s.note(call)
				return
			}
			r = r.WithContext(context.WithValue(r.Context(), faultKey{}, b))
		}
		a := h(w, r)
		call.Status = a.status
		s.note(call)
		a.write(w)
	}
}

// show makes a fault happen. It returns false when the work shall be done
// nevertheless.
func (s *Service) show(b *breakage, w http.ResponseWriter, r *http.Request, call *Call) bool {
	switch b.Kind {
	case KindStatus:
		call.Status = b.Status
		refuse(b.Status, "%s", b.Message).write(w)
	case KindHang:
		s.hang(1)
		defer s.hang(-1)
		select {
		case <-b.mended:
			return false
		case <-s.closing:
		case <-r.Context().Done():
		}
		reset(r)
	case KindReset:
		reset(r)
	case KindGarbage:
		call.Status = http.StatusOK
		_, _ = io.WriteString(w, "<html>no JSON</html>")
	case KindOversized:
		if call.Operation == "terminal.connect" {
			return false
		}
		call.Status = http.StatusOK
		flood(w)
	default:
		return false
	}
	return true
}

// hang counts requests that hang.
func (s *Service) hang(change int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hanging += change
	s.tell()
}

// WaitHanging waits until at least n requests hang.
func (s *Service) WaitHanging(ctx context.Context, n int) error {
	return s.await(ctx, func() error {
		if s.hanging < n {
			return fmt.Errorf("%d requests hang, not %d", s.hanging, n)
		}
		return nil
	})
}

// flood writes until the client has had enough, at most a gigabyte.
func flood(w io.Writer) {
	part := bytes.Repeat([]byte(" "), 1<<20)
	for range 1 << 10 {
		if _, err := w.Write(part); err != nil {
			return
		}
	}
}
