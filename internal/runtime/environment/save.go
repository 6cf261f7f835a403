package environment

import (
	"context"

	"errorkb/internal/runtime/fault"
	"errorkb/internal/runtime/plugin"
	"errorkb/internal/runtime/wire"
	"errorkb/internal/runtime/worker"
)

// statusUnprocessable is the HTTP status of a configuration that is refused.
const statusUnprocessable = 422

// Texts of errors in saving a configuration.
const (
	msgNotInstalled    = `Sandbox provider "%s" is not installed or its plugin worker is not running.`                                                           // PLG-07
	msgPinned          = `Secret binding at %s pins version %v; sandbox provider secret references always resolve the latest version.`                           // PLG-08
	msgRejected        = `Sandbox provider "%s" rejected its config. The provider's text is withheld because a provider can echo a resolved secret.`             // PLG-09
	msgPluginRejected  = `Plugin environment driver "%s:%s" rejected its config. The provider's text is withheld because a provider can echo a resolved secret.` // PLG-10
	msgNoWorkers       = `Sandbox provider config validation requires a running plugin worker manager.`                                                          // CFG-11
	msgNoPluginWorkers = `Plugin environment config validation requires a running plugin worker manager.`                                                        // CFG-12
	msgFakeReserved    = `Built-in fake sandbox environments are reserved for internal probes and cannot be saved.`                                              // CFG-13
)

// CheckConfig decides whether the configuration of an environment may be saved
// and returns it as the provider normalised it. Its errors have HTTP status
// 422.
func (s *Service) CheckConfig(ctx context.Context, e Environment) (Object, error) {
	if err := checkConfig(e.Driver, e.Config); err != nil {
		return nil, err.WithCode(statusUnprocessable)
	}
	switch e.Driver {
	case DriverSandbox:
		return s.checkSandbox(ctx, e)
	case DriverPlugin:
		return s.checkPlugin(ctx, e)
	}
	return e.Config, nil
}

func (s *Service) checkSandbox(ctx context.Context, e Environment) (Object, error) {
	c, bad := parseSandbox(e.Config)
	if bad != nil {
		return nil, bad.WithCode(statusUnprocessable)
	}
	if c.provider == ProviderFake {
		return nil, fault.New(msgFakeReserved).WithCode(statusUnprocessable)
	}
	if s.Workers == nil {
		return nil, fault.New(msgNoWorkers).WithCode(statusUnprocessable)
	}
	p, d, ok := s.Plugins.BySandboxDriver(c.provider, s.running)
	if !ok || p.Status != plugin.Ready || !s.running(p.ID) {
		return nil, fault.New(msgNotInstalled, c.provider).WithCode(statusUnprocessable)
	}
	for _, at := range d.SecretPaths() {
		ref, _ := lookUp(e.Config, at).(map[string]any)
		if version := ref["version"]; version != nil && version != "latest" {
			return nil, fault.New(msgPinned, at, version).WithCode(statusUnprocessable)
		}
	}
	resolved, err := s.resolveSecrets(ctx, e.CompanyID, d, e.Config)
	if err != nil {
		return nil, err
	}
	result, err := s.validate(ctx, p.ID, c.provider, workerConfig(resolved))
	if err != nil {
		return nil, err
	}
	if !result.OK {
		return nil, fault.New(msgRejected, c.provider).WithCode(statusUnprocessable).WithData(counts(result))
	}
	return e.Config, nil
}

func (s *Service) checkPlugin(ctx context.Context, e Environment) (Object, error) {
	c, bad := parsePlugin(e.Config)
	if bad != nil {
		return nil, bad.WithCode(statusUnprocessable)
	}
	if s.Workers == nil {
		return nil, fault.New(msgNoPluginWorkers).WithCode(statusUnprocessable)
	}
	p, _ := s.Plugins.ByKey(c.pluginKey)
	if err := s.usable(p, c.pluginKey, c.driverKey); err != nil {
		return nil, err
	}
	result, err := s.validate(ctx, p.ID, c.driverKey, c.config)
	if err != nil {
		return nil, err
	}
	if !result.OK {
		return nil, fault.New(msgPluginRejected, c.pluginKey, c.driverKey).WithCode(statusUnprocessable).WithData(counts(result))
	}
	return e.Config, nil
}

func (s *Service) validate(ctx context.Context, pluginID, driverKey string, config Object) (wire.ValidateResult, error) {
	return unmarshal[wire.ValidateResult](s.Workers.Call(ctx, pluginID, worker.Request{
		Method: wire.MethodEnvironmentValidateConfig,
		Params: wire.ValidateParams{DriverKey: driverKey, Config: config},
	}))
}

// counts tells how much the provider had to say, and nothing of what it said.
func counts(r wire.ValidateResult) Object {
	return Object{"errorCount": len(r.Errors), "warningCount": len(r.Warnings)}
}
