package wire

import "encoding/base64"

// Methods of duplex channels and login terminals.
const (
	MethodDuplexOpen  = "duplexChannelOpen"
	MethodDuplexWrite = "duplexChannelWrite"
	MethodDuplexStop  = "duplexChannelStop"
	MethodDuplexClose = "duplexChannelClose"
	MethodLoginOpen   = "loginPtyOpen"
	MethodLoginInput  = "loginPtyInput"
	MethodLoginStop   = "loginPtyStop"
	MethodLoginClose  = "loginPtyClose"
)

// DuplexOpenParams open a channel. Command is an argument vector.
type DuplexOpenParams struct {
	HostRouteID     string   `json:"hostRouteId"`
	DriverKey       string   `json:"driverKey"`
	CompanyID       string   `json:"companyId"`
	EnvironmentID   string   `json:"environmentId"`
	ProviderLeaseID string   `json:"providerLeaseId"`
	Command         []string `json:"command"`
}

// DuplexPair names an open channel on both sides. As the reply to a close,
// WorkerSessionID is empty when the worker knew no such channel.
type DuplexPair struct {
	HostRouteID     string `json:"hostRouteId"`
	WorkerSessionID string `json:"workerSessionId,omitempty"`
}

// DuplexWriteParams send input. Data is base64, see Decode.
type DuplexWriteParams struct {
	DuplexPair
	Data string `json:"data"`
}

// Bytes returns the input, false when it is malformed or empty.
func (p DuplexWriteParams) Bytes() ([]byte, bool) { return Decode(p.Data) }

// Channel names what the input is for.
func (p DuplexWriteParams) Channel() string { return p.WorkerSessionID }

// DuplexStopParams end the program of a channel.
type DuplexStopParams struct{ DuplexPair }

// DuplexCloseParams forget a channel.
type DuplexCloseParams struct {
	HostRouteID string `json:"hostRouteId"`
}

// DuplexData carries output. Chunk is base64, see Decode.
type DuplexData struct {
	DuplexPair
	Chunk string `json:"chunk"`
}

// DuplexExit reports the end of the program of a channel. ExitCode is nil when
// it is not known; TransportClosed tells that the connection was lost.
type DuplexExit struct {
	DuplexPair
	ExitCode        *int `json:"exitCode"`
	TransportClosed bool `json:"transportClosed"`
}

// LoginOpenParams open a login terminal.
type LoginOpenParams struct {
	HostRouteID     string `json:"hostRouteId"`
	DriverKey       string `json:"driverKey"`
	CompanyID       string `json:"companyId"`
	EnvironmentID   string `json:"environmentId"`
	ProviderLeaseID string `json:"providerLeaseId"`
	LoginCommandKey string `json:"loginCommandKey"`
	SessionHome     string `json:"sessionHome"`
}

// LoginOpenResult names the opened login terminal.
type LoginOpenResult struct {
	WorkerSessionID string `json:"workerSessionId"`
}

// LoginInputParams send input to a login terminal.
type LoginInputParams struct {
	WorkerSessionID string `json:"workerSessionId"`
	Data            string `json:"data"`
}

// Channel names what the input is for.
func (p LoginInputParams) Channel() string { return p.WorkerSessionID }

// LoginStopParams end the program of a login terminal.
type LoginStopParams struct {
	WorkerSessionID string `json:"workerSessionId"`
}

// LoginCloseParams forget a login terminal; the reply echoes them.
type LoginCloseParams struct {
	HostRouteID string `json:"hostRouteId"`
}

// LoginOutput carries output of a login terminal.
type LoginOutput struct {
	DuplexPair
	Chunk string `json:"chunk"`
}

// LoginExit reports the end of a login terminal.
type LoginExit struct {
	DuplexPair
	ExitCode *int `json:"exitCode"`
}

// Decode reads base64 strictly: a text that does not encode back to itself is
// malformed, and so is an empty one.
func Decode(text string) ([]byte, bool) {
	if text == "" {
		return nil, false
	}
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(data) == 0 || base64.StdEncoding.EncodedLen(len(data)) != len(text) {
		return nil, false // the decoder skips line ends; the length tells
	}
	return data, true
}

// EncodeChunk is the reverse of Decode.
func EncodeChunk(data []byte) string { return base64.StdEncoding.EncodeToString(data) }
