package daytona

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/wire"
)

// Texts of configuration errors. All but the first are validation items; the
// first is both.
const (
	msgNoKey         = `Daytona sandbox environments require an API key in config or DAYTONA_API_KEY.`                                                                 // DAY-01
	msgResources     = `Daytona resource settings require image-backed sandbox creation; snapshot/default sandbox creation cannot override CPU, memory, disk, or GPU.` // DAY-19
	msgEmptyImage    = `Daytona image cannot be empty.`                                                                                                                // DAY-21.1
	msgEmptySnapshot = `Daytona snapshot cannot be empty.`                                                                                                             // DAY-21.2
	msgBothSources   = `Daytona sandbox environments must set either image or snapshot, not both.`                                                                     // DAY-21.3
	msgURL           = `apiUrl must be a valid URL.`                                                                                                                   // DAY-21.4
	msgTimeout       = `timeoutMs must be between 1 and 86400000.`                                                                                                     // DAY-21.5
	msgLiveness      = `livenessTimeoutMs must be less than or equal to 86400000.`                                                                                     // DAY-21.6
	msgAutoStop      = `autoStopInterval must be greater than or equal to 0.`                                                                                          // DAY-21.7
	msgAutoArchive   = `autoArchiveInterval must be greater than or equal to 0.`                                                                                       // DAY-21.8
	msgAutoDelete    = `autoDeleteInterval must be greater than or equal to -1.`                                                                                       // DAY-21.9
	msgPositive      = `%s must be greater than 0 when provided.`                                                                                                      // DAY-21.10
)

const (
	defaultURL         = "https://app.daytona.io/api"
	defaultTimeout     = 300_000 // ms
	defaultLiveness    = 30_000  // ms
	maxMilliseconds    = 86_400_000
	defaultAutoStop    = 15 // minutes
	defaultAutoArchive = 60
	defaultAutoDelete  = 10_080
)

// sizes are the resource settings, in the order in which they are checked.
var sizes = []string{"cpu", "memory", "disk", "gpu"}

// config is the configuration of an environment. Numbers that are no numbers
// are NaN, which no rule accepts.
type config struct {
	apiKey, apiURL, target       string
	image, snapshot              string
	emptyImage, emptySnapshot    bool // given, but blank
	sizes                        map[string]float64
	timeoutMs, livenessMs        float64
	autoStop, autoArchive        float64
	autoDelete                   float64
	reuseLease, archiveOnRelease bool
}

// config reads a configuration. It takes everything; problems says what is
// wrong with it.
func (p *provider) config(raw wire.Object) config {
	text := func(key string) (string, bool) {
		value, given := raw[key].(string)
		return strings.TrimSpace(value), given
	}
	number := func(key string, otherwise float64) float64 {
		if value, given := numberOf(raw[key]); given {
			return value
		}
		return otherwise
	}
	flag := func(key string) bool {
		value, _ := raw[key].(bool)
		return value
	}
	c := config{
		sizes:     map[string]float64{},
		timeoutMs: number("timeoutMs", defaultTimeout), livenessMs: number("livenessTimeoutMs", defaultLiveness),
		autoStop: number("autoStopInterval", defaultAutoStop), autoArchive: number("autoArchiveInterval", defaultAutoArchive),
		autoDelete: number("autoDeleteInterval", defaultAutoDelete),
		reuseLease: flag("reuseLease"), archiveOnRelease: flag("archiveOnRelease"),
	}
	env := func(names ...string) string {
		for _, name := range names {
			if value := strings.TrimSpace(p.options.Getenv(name)); value != "" {
				return value
			}
		}
		return ""
	}
	given := func(key string) string { value, _ := text(key); return value }
	c.apiKey = or(given("apiKey"), env("DAYTONA_API_KEY"))
	c.apiURL = or(or(given("apiUrl"), env("DAYTONA_API_URL", "DAYTONA_SERVER_URL")), defaultURL)
	c.target = or(given("target"), env("DAYTONA_TARGET"))
	var isSet bool
	c.image, isSet = text("image")
	c.emptyImage = isSet && c.image == ""
	c.snapshot, isSet = text("snapshot")
	c.emptySnapshot = isSet && c.snapshot == ""
	for _, key := range sizes {
		if value, given := numberOf(raw[key]); given {
			c.sizes[key] = value
		}
	}
	return c
}

// numberOf reads a number, or a text that is one. Null and nothing are not
// given.
func numberOf(value any) (number float64, given bool) {
	switch v := value.(type) {
	case nil:
		return 0, false
	case float64:
		return v, true
	case int:
		return float64(v), true
	case string:
		if v == "" {
			return 0, false
		}
		if n, err := strconv.ParseFloat(strings.TrimSpace(v), 64); err == nil {
			return n, true
		}
	}
	return math.NaN(), true
}

// problems lists what is wrong with a configuration.
func (c config) problems() []*fault.Error {
	var list []*fault.Error
	if c.emptyImage {
		list = append(list, fault.New(msgEmptyImage))
	}
	if c.emptySnapshot {
		list = append(list, fault.New(msgEmptySnapshot))
	}
	if c.image != "" && c.snapshot != "" {
		list = append(list, fault.New(msgBothSources))
	}
	if u, err := url.Parse(c.apiURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		list = append(list, fault.New(msgURL))
	}
	if !(c.timeoutMs >= 1 && c.timeoutMs <= maxMilliseconds) {
		list = append(list, fault.New(msgTimeout))
	}
	if !(c.livenessMs <= maxMilliseconds) {
		list = append(list, fault.New(msgLiveness))
	}
	if !(c.autoStop >= 0) {
		list = append(list, fault.New(msgAutoStop))
	}
	if !(c.autoArchive >= 0) {
		list = append(list, fault.New(msgAutoArchive))
	}
	if !(c.autoDelete >= -1) {
		list = append(list, fault.New(msgAutoDelete))
	}
	for _, key := range sizes {
		if value, given := c.sizes[key]; given && !(value > 0) {
			list = append(list, fault.New(msgPositive, key))
		}
	}
	if len(c.sizes) > 0 && c.image == "" {
		list = append(list, fault.New(msgResources))
	}
	if c.apiKey == "" {
		list = append(list, fault.New(msgNoKey))
	}
	return list
}

// validate says whether an environment can be saved with a configuration.
func (p *provider) validate(_ context.Context, q wire.ValidateParams) (wire.ValidateResult, error) {
	c := p.config(q.Config)
	if problems := c.problems(); len(problems) > 0 {
		result := wire.ValidateResult{}
		for _, e := range problems {
			result.Errors = append(result.Errors, e.Message)
		}
		return result, nil
	}
	return wire.ValidateResult{OK: true, NormalizedConfig: c.normalized(q.Config)}, nil
}

// normalized is the configuration with its defaults. The key stays as it was
// given: it may be a reference.
func (c config) normalized(raw wire.Object) wire.Object {
	out := wire.Object{
		"timeoutMs": c.timeoutMs, "livenessTimeoutMs": c.livenessMs,
		"autoStopInterval": c.autoStop, "autoArchiveInterval": c.autoArchive, "autoDeleteInterval": c.autoDelete,
		"reuseLease": c.reuseLease, "archiveOnRelease": c.archiveOnRelease,
	}
	for key, value := range map[string]string{"image": c.image, "snapshot": c.snapshot, "target": c.target} {
		if value != "" {
			out[key] = value
		}
	}
	for key, value := range c.sizes {
		out[key] = value
	}
	for _, key := range []string{"apiKey", "apiUrl"} {
		if value, given := raw[key]; given {
			out[key] = value
		}
	}
	return out
}

// account tells accounts apart without holding the key.
func (c config) account() string {
	sum := sha256.Sum256([]byte(c.apiURL + "\x00" + c.apiKey))
	return hex.EncodeToString(sum[:])
}

// timeout bounds one operation. The service counts in whole seconds, and so
// do we.
func (c config) timeout() time.Duration {
	return time.Duration(max(1, math.Ceil(c.timeoutMs/1000))) * time.Second
}

// liveness bounds a question that has to be answered at once; zero is no
// bound.
func (c config) liveness() time.Duration {
	return time.Duration(max(0, c.livenessMs)) * time.Millisecond
}

// verifiedFor is how long the state of a sandbox is believed: half the time
// after which the service stops it by itself.
func (c config) verifiedFor() time.Duration {
	return time.Duration(c.autoStop * float64(time.Minute) / 2)
}

// configSchema describes the configuration to people and programs.
func configSchema() wire.Object {
	text := wire.Object{"type": "string"}
	number := wire.Object{"type": "number"}
	flag := wire.Object{"type": "boolean"}
	return wire.Object{"type": "object", "properties": wire.Object{
		"apiKey": wire.Object{"type": "string", "format": "secret-ref"},
		"apiUrl": text, "target": text, "image": text, "snapshot": text,
		"cpu": number, "memory": number, "disk": number, "gpu": number,
		"timeoutMs": number, "livenessTimeoutMs": number,
		"autoStopInterval": number, "autoArchiveInterval": number, "autoDeleteInterval": number,
		"reuseLease": flag, "archiveOnRelease": flag,
	}}
}
