package conformance

// exemptRemedies says for records, by id, why no remedy lets the same
// operation succeed. One that is not needed any more is a problem.
var exemptRemedies = map[string]string{
	// Environment driver "sandbox" does not support lease resume.
	"d0dec06418009f7b": "The sandbox driver has no resume operation, so the call itself never succeeds; every solution takes another call in its place.",
}

// exemption is a reason why places that raise an error have no record.
type exemption struct {
	reason string
	keys   []string // see exemptionKey
}

// Reasons for messages that users of the documented project do see.
const (
	reasonNeighbour = "A message of the documented project that stands in no record yet."
	reasonVendor    = "A text of the vendor's client; the provider passes it on unchanged."
)

// exemptPlaces gives the reasons by key.
var exemptPlaces = func() map[string]string {
	reasons := map[string]string{}
	for _, e := range exemptions {
		for _, key := range e.keys {
			reasons[key] = e.reason
		}
	}
	return reasons
}()

// exemptions says why no record documents a place that raises an error. The
// list shrinks: a key that is not needed any more is a problem.
var exemptions = []exemption{
	{reasonNeighbour, []string{
		`daytona/archive.go inspect: Daytona syncOut refusing tarball member that escapes the extraction dir: %s`,
		`daytona/archive.go inspect: Daytona syncOut refusing tarball link whose target escapes the extraction dir: %s -> %s`,
		`daytona/execute.go timedOut: Command timed out after %d s.`,
		`daytona/gates.go (*gates).settled: The stopped Daytona sandbox is still settling cancelled work. Retry shortly.`,
		`daytona/login.go (*provider).loginOpen: Daytona login pseudo-terminal: no cached sandbox resolves the provider lease.`,
		`daytona/login.go (*provider).loginOpen: LOGIN_PTY_DESCRIPTOR_REJECTED`,
		`daytona/login.go home.try: LOGIN_PTY_HOME_REJECTED`,
		`daytona/realize.go (*provider).probe: Daytona sandbox probe failed.`,
		`daytona/session.go (*provider).deleteSession: Failed to delete Daytona session %s during teardown: %s`,
		`daytona/sync.go (*provider).syncOut: daytona_sandbox_not_found`,
		`daytona/sync.go (*provider).syncIn: Daytona syncIn requires a provider lease ID.`,
		`daytona/sync.go (*provider).syncOut: Daytona syncOut requires a provider lease ID.`,
		`daytona/sync.go (*provider).sync: Daytona file sync requires a workspace remote dir on the lease metadata.`,
		`daytona/sync.go (*transfer).confine: Daytona sync %s path is not a confined absolute path: %s`,
		`daytona/sync.go (*transfer).confine: Daytona sync %s path escapes the workspace remote dir: %s`,
		`daytona/sync.go (*transfer).run: Daytona %s command failed (exit %d)%s`,
		`daytona/sync.go (*transfer).fileOut: Daytona syncOut download failed for %s: %s`,
		`daytona/sync.go (*transfer).directoryOut: Daytona syncOut directory download failed for %s: %s`,
		`duplex/login.go (*Table).OpenLogin: LOGIN_PTY_COMMAND_NOT_ALLOWED`,
		`duplex/login.go (*Table).OpenLogin: LOGIN_SESSION_HOME_INVALID`,
		`duplex/login.go (*Table).OpenLogin: LOGIN_PTY_ROUTES_AT_CAPACITY`,
		`duplex/login.go (*Channel).openFailed: LOGIN_PTY_OPEN_FAILED`,
		`environment/config.go parseSSH: Invalid environment config.`,
		`environment/config.go parsePlugin: Invalid environment config.`,
		`environment/config.go parseSSH: SSH environments require a host.`,
		`environment/config.go parseSSH: SSH environments require a username.`,
		`environment/config.go parseSSH: SSH environments require a remote workspace path.`,
		`environment/config.go parseSSH: SSH remote workspace path must be absolute.`,
		`environment/config.go parseSandbox: Sandbox provider key must start with a lowercase alphanumeric and contain only lowercase letters, digits, dots, hyphens, or underscores`,
		`environment/config.go parseSandbox: Fake sandbox environments require an image.`,
		`environment/config.go parsePlugin: Environment driver key must start with a lowercase alphanumeric and contain only lowercase letters, digits, dots, hyphens, or underscores`,
		`environment/config.go checkConfig: Unsupported environment driver "%s".`,
		`environment/local.go (*local).TearDownOrphan: Local lease cleanup cannot release a provider resource.`,
		`environment/local.go (*ssh).Acquire: Expected SSH environment config for driver "%s".`,
		`environment/plugin_driver.go (*pluginDriver).ofEnvironment: Expected plugin environment config for driver "%s".`,
		`environment/plugin_driver.go (*pluginDriver).ofLease: Plugin environment driver "%s:unknown" is missing a driver key.`,
		`environment/plugin_driver.go (*pluginDriver).Resume: Plugin environment lease "%s" does not have a provider lease id to resume.`,
		`environment/run.go (*Service).StartRun: Environment "%s" not found.`,
		`environment/run.go (*Service).StartRun: Environment "%s" does not belong to this company.`,
		`environment/run.go (*Service).StartRun: Environment "%s" is not active (status: %s).`,
		`environment/run.go (*Service).StartRun: Execution workspace for environment "%s" is already leased by another active run; deferring.`,
		`environment/run.go (*Service).StartRun: Failed to acquire lease for environment "%s" (%s): %s`,
		`environment/run.go (*Service).StartRun: Failed to realize workspace for environment "%s" (%s): %s`,
		`environment/run.go (*Service).StartRun: Failed to provision workspace for environment "%s" (%s): %s`,
		`environment/sandbox.go (*sandbox).Acquire: Expected sandbox environment config for driver "%s".`,
		`environment/sandbox.go (*sandbox).rejected: Sandbox provider "%s" leaked lease "%s": the acquire could not tear it down and could not record a durable pending-cleanup row. The live sandbox has no durable cleanup state and needs a manual teardown.`,
		`environment/sandbox_end.go (*sandbox).Release: Expected sandbox environment config for lease "%s".`,
		`environment/sandbox_end.go (*sandbox).TearDownOrphan: Pending-cleanup lease "%s" has no recorded provider for teardown.`,
		`environment/sandbox_end.go (*sandbox).TearDownOrphan: Pending-cleanup lease "%s" has no recorded config for provider "%s".`,
		`environment/sandbox_end.go (*sandbox).TearDownOrphan: Sandbox provider "%s" needs a plugin worker manager for cleanup, but none is available.`,
		`environment/sandbox_end.go (*sandbox).TearDownOrphan: Sandbox provider plugin for "%s" is %s, so the cleanup teardown cannot run yet.`,
		`environment/save.go (*Service).checkSandbox: Built-in fake sandbox environments are reserved for internal probes and cannot be saved.`,
		`environment/save.go (*Service).checkSandbox: Sandbox provider config validation requires a running plugin worker manager.`,
		`environment/save.go (*Service).checkSandbox: Sandbox provider "%s" is not installed or its plugin worker is not running.`,
		`environment/save.go (*Service).checkSandbox: Secret binding at %s pins version %v; sandbox provider secret references always resolve the latest version.`,
		`environment/save.go (*Service).checkPlugin: Plugin environment config validation requires a running plugin worker manager.`,
		`environment/save.go (*Service).checkPlugin: Plugin environment driver "%s:%s" rejected its config. The provider's text is withheld because a provider can echo a resolved secret.`,
		`environment/service.go (*Service).releaseOne: Cannot keep non-reusable environment lease "%s" running.`,
		`environment/service.go (*Service).Realize: Environment driver "%s" does not support workspace realization.`,
		`environment/service.go (*Service).RunnerIngress: Sandbox lease does not grant runner WebSocket ingress.`,
		`environment/service.go (*Service).RunnerIngress: Environment driver "%s" does not support runner ingress.`,
		`environment/service.go (*Service).sweepOne: Environment driver "%s" does not support orphan sandbox teardown.`,
		`lease/store.go (*Store).Insert: The selected environment belongs to another company.`,
		`lease/store.go (*Store).Insert: Execution workspace %s is already leased by an active run%s; refusing to acquire a concurrent single-flight lease.`,
		`lease/store.go check: Unexpected %s value: %s`,
		`plugin/plugin.go Plugin.Entrypoint: Worker entrypoint not found for plugin "%s". Checked: %s`,
		`sdk/host.go (*Host).Call: Cannot call "%s" — worker RPC host is not running`,
		`sdk/host.go (*Host).Call: Worker→host call "%s" timed out after %dms`,
		`sdk/host.go shuttingDown: Worker RPC host is shutting down`,
		`sdk/serve.go (*worker).admitConfig: configChanged: refusing to overwrite configuration for company "%s" with a different configuration for company "%s". This plugin is single-tenant and cannot safely serve multiple companies from one worker. If multi-company support is intended, set multiCompanyConfig: true on the plugin definition and key per-company state on context.companyId.`,
		`worker/call.go (*run).send: Worker process for plugin "%s" is not writable`,
		`worker/channel.go (*Handle).OpenLogin: Cannot open a login pseudo-terminal — worker for "%s" is %s`,
	}},
	{reasonVendor, []string{
		`daytona/client/client.go refused: Request failed with status code %d`,
		`daytona/client/terminal.go (*Terminal).run: WebSocket connection error`,
		`daytona/client/terminal.go (*Terminal).control: Unknown connection error`,
		`daytona/client/terminal.go (*Terminal).Send: Failed to send input to PTY: %s`,
	}},
	{"Trouble with the vendor's API that the client here words itself; the documented project has what the vendor's client says.", []string{
		`daytona/client/client.go (*Client).open: The address of the Daytona API cannot be used: %s`,
		`daytona/client/client.go transport: Request to the Daytona API failed: %s`,
		`daytona/client/client.go (*Client).call: The Daytona API answered with something else than JSON: %s`,
		`daytona/client/client.go (*Client).readAll: The Daytona API answered with more than %d bytes`,
		`daytona/client/sandbox.go (*Sandbox).update: The Daytona API answered with a sandbox without an id`,
		`daytona/client/sandbox.go (*Sandbox).reach: Sandbox %s failed to reach the state "%s": it is in state "%s"`,
		`daytona/client/terminal.go readClose: PTY session ended with an error: %s`,
		`daytona/client/toolbox.go (*Sandbox).FollowCommand: The Daytona API answered with something else than the log of a command`,
		`daytona/client/toolbox.go (*Sandbox).Download: The Daytona API answered a download with something else than files: %s`,
	}},
	{"Passes on a text that came from somewhere else: from the service, the other process, a handler or plugin code.", []string{
		`daytona/client/client.go refused: %s`,
		`daytona/client/sandbox.go (*Sandbox).reach: %s`,
		`daytona/client/terminal.go (*Terminal).control: %s`,
		`sdk/host.go (*Host).Call: <e.Message>`,
		`sdk/serve.go (*worker).call: %v`,
		`sdk/serve.go (*worker).reply: <err.Error()>`,
		`worker/messages.go (*run).answer: <err.Error()>`,
		`worker/messages.go (*run).answered: <e.Message>`,
	}},
	{"Only part of the text of another error that stands in this list.", []string{
		`environment/run.go : provision command timed out`,
		`environment/run.go (*Service).provision: exit code %s: %s`,
	}},
	{"Says for what something failed that the server brings along (the way to an ssh host, the store of secrets), and passes on why.", []string{
		`environment/local.go (*ssh).Acquire: ssh workspace on %s: %w`,
		`environment/secrets.go (*core).resolveSecrets: secret at %s: %w`,
	}},
	{"Why a clean-up failed: the lease notes that it did, the log says why, and no release or destroy fails with it.", []string{
		`environment/sandbox_end.go : the provider cannot be asked`,
		`environment/sandbox_end.go : the receipt names another lease`,
		`environment/sandbox_end.go (*sandbox).end: receipt: %w`,
	}},
	{"What ends the worker when code outside any call panics; it stands in the log only.", []string{
		`sdk/host.go (*Host).Go: %v`,
	}},
	{"No line reaches it: readers of both sides skip blank lines before they parse.", []string{
		`wire/message.go Parse: Empty message`,
	}},
	{"A guard of this implementation against input that the documented project cannot have or does not check.", []string{
		`daytona/duplex.go (*provider).open: The duplex channel was closed while it was being opened.`,
		`daytona/sync.go (*provider).syncIn: Daytona sync cannot copy a %q.`,
		`daytona/sync.go (*provider).syncOut: Daytona sync cannot copy a %q.`,
		`lease/store.go : lease not found`,
		`lease/store.go (*Store).Update: %q: %w`,
		`lease/store.go (*Store).Get: %q: %w`,
		`sdk/host.go badParams: Invalid params: %v`,
		`wire/message.go Parse: Invalid Request: a member of the message has the wrong type (%s)`,
	}},
	{"Trouble of this machine (files, pipes, encoding) that the documented project leaves to its platform.", []string{
		`daytona/sync.go local: Daytona sync failed at a local file: %v`,
		`host/host.go (*Host).begin: host: %w`,
		`lease/store.go Open: lease store: %w`,
		`lease/store.go Open: lease store: %s: %w`,
		`lease/store.go (*Store).write: lease %q: %w`,
		`plugin/plugin.go ParseManifest: plugin manifest: %w`,
		`sdk/host.go (*Host).Call: Cannot encode the parameters of "%s": %v`,
		`sdk/host.go (*Host).Notify: Cannot encode the parameters of "%s": %v`,
		`sdk/host.go (*Host).Call: Cannot send "%s" to the host: %v`,
		`sdk/host.go (*Host).Call: result of %q: %w`,
	}},
	{"Part of what exists for tests and proofs only; the documented project has no such error.", []string{
		`daytona/service/fault.go (*Service).Break: unknown operation %q; known are * %s`,
		`daytona/service/fault.go (*Service).Break: unknown kind of fault %q; known are %s`,
		`daytona/service/fault.go (*Service).Break: a fault of kind %q is possible in %s only, not in %q`,
		`daytona/service/fault.go (*Service).Break: a fault of kind %q needs an id`,
		`daytona/service/fault.go (*Service).WaitHanging: %d requests hang, not %d`,
		`daytona/service/process.go : the sandbox is not started`,
		`daytona/service/sandbox.go (*Service).find: no sandbox %q`,
		`daytona/service/service.go Start: no shell for sandboxes: %w`,
		`daytona/service/service.go Start: directory of the service: %w`,
		`daytona/service/service.go Start: listen on loopback: %w`,
		`daytona/service/service.go (*Service).WaitCall: %s was called %d times, not %d`,
		`daytona/service/service.go (*Service).await: %w: %w`,
		`fixture/channel.go (*program).open: fixture refuses the channel`,
		`fixture/execute.go (*program).execute: %s`,
		`fixture/execute.go (*program).execute: <argument(0)>`,
		`fixture/execute.go (*program).execute: <"fixture: " + q.Command + ": not found">`,
		`fixture/hooks.go failure: <text>`,
		`fixture/hooks.go (*program).plugin: fixture refuses to start`,
		`worker/handle.go (*Handle).WaitStatus: worker %q is %s, not %s: %w`,
	}},
}
