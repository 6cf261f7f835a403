package environment

import (
	"encoding/json"
	"path"
	"regexp"
	"strings"

	"errorkb/internal/runtime/fault"
)

// SSHConfig is the configuration of an ssh environment.
type SSHConfig struct {
	Host                string `json:"host"`
	Port                int    `json:"port"`
	Username            string `json:"username"`
	RemoteWorkspacePath string `json:"remoteWorkspacePath"`
	PrivateKeySecretRef any    `json:"privateKeySecretRef"`
	KnownHosts          string `json:"knownHosts"`
	StrictHostKeys      bool   `json:"strictHostKeyChecking"`
}

// sandboxConfig is what the runtime itself reads of a sandbox configuration.
type sandboxConfig struct {
	provider   string
	reuseLease bool
	all        Object
}

// pluginConfig is the configuration of a plugin environment.
type pluginConfig struct {
	pluginKey string
	driverKey string
	config    Object
}

// ProviderFake is the only built-in sandbox provider.
const ProviderFake = "fake"

var driverKeyForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

// Texts of errors in configurations.
const (
	msgSSHHost        = `SSH environments require a host.`                                                                                                          // CFG-01
	msgSSHUser        = `SSH environments require a username.`                                                                                                      // CFG-02
	msgSSHPath        = `SSH environments require a remote workspace path.`                                                                                         // CFG-03
	msgSSHAbsolute    = `SSH remote workspace path must be absolute.`                                                                                               // CFG-04
	msgFakeImage      = `Fake sandbox environments require an image.`                                                                                               // CFG-05
	msgProviderKey    = `Sandbox provider key must start with a lowercase alphanumeric and contain only lowercase letters, digits, dots, hyphens, or underscores`   // CFG-07
	msgDriverKey      = `Environment driver key must start with a lowercase alphanumeric and contain only lowercase letters, digits, dots, hyphens, or underscores` // CFG-08
	msgInvalidConfig  = `Invalid environment config.`                                                                                                               // CFG-09
	msgUnsupported    = `Unsupported environment driver "%s".`                                                                                                      // CFG-10
	msgSSHNotResolved = `Expected SSH environment config for driver "%s".`                                                                                          // LOC-02
)

// text returns a member that is a string, without the spaces around it.
func text(config Object, key string) string {
	value, _ := config[key].(string)
	return strings.TrimSpace(value)
}

func parseSSH(config Object) (SSHConfig, *fault.Error) {
	c := SSHConfig{Port: 22}
	raw, err := json.Marshal(config)
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	if err != nil || c.Port < 1 || c.Port > 65535 {
		return c, fault.New(msgInvalidConfig)
	}
	for key := range config {
		switch key {
		case "host", "port", "username", "remoteWorkspacePath", "privateKeySecretRef", "knownHosts", "strictHostKeyChecking":
		default:
			return c, fault.New(msgInvalidConfig)
		}
	}
	switch {
	case strings.TrimSpace(c.Host) == "":
		return c, fault.New(msgSSHHost)
	case strings.TrimSpace(c.Username) == "":
		return c, fault.New(msgSSHUser)
	case strings.TrimSpace(c.RemoteWorkspacePath) == "":
		return c, fault.New(msgSSHPath)
	case !path.IsAbs(strings.TrimSpace(c.RemoteWorkspacePath)):
		return c, fault.New(msgSSHAbsolute)
	}
	return c, nil
}

func parseSandbox(config Object) (sandboxConfig, *fault.Error) {
	c := sandboxConfig{provider: text(config, "provider"), all: config}
	c.reuseLease, _ = config["reuseLease"].(bool)
	if c.provider == "" {
		c.provider = ProviderFake
	}
	if !driverKeyForm.MatchString(c.provider) {
		return c, fault.New(msgProviderKey)
	}
	if image, given := config["image"]; c.provider == ProviderFake && given {
		if name, _ := image.(string); strings.TrimSpace(name) == "" {
			return c, fault.New(msgFakeImage)
		}
	}
	return c, nil
}

func parsePlugin(config Object) (pluginConfig, *fault.Error) {
	c := pluginConfig{pluginKey: text(config, "pluginKey"), driverKey: text(config, "driverKey")}
	c.config, _ = config["driverConfig"].(map[string]any)
	if c.config == nil {
		c.config = Object{}
	}
	if c.pluginKey == "" {
		return c, fault.New(msgInvalidConfig)
	}
	if !driverKeyForm.MatchString(c.driverKey) {
		return c, fault.New(msgDriverKey)
	}
	return c, nil
}

// number returns a member that is a number, whatever it was decoded as.
func number(config Object, key string) (float64, bool) {
	switch v := config[key].(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case json.Number:
		n, err := v.Float64()
		return n, err == nil
	}
	return 0, false
}

// checkConfig parses a configuration for its driver.
func checkConfig(driver string, config Object) *fault.Error {
	switch driver {
	case DriverLocal:
		return nil
	case DriverSSH:
		_, err := parseSSH(config)
		return err
	case DriverSandbox:
		_, err := parseSandbox(config)
		return err
	case DriverPlugin:
		_, err := parsePlugin(config)
		return err
	}
	return fault.New(msgUnsupported, driver)
}
