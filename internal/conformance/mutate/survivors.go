package main

// Reasons why a mutant survives.
const (
	// Equal to the original for everybody outside.
	reasonInside    = "The class stays inside the worker: the protocol carries the message and the code, so no caller sees another one."
	reasonExclusive = "The two conditions ask for different values of one state, so that they never hold together."

	// Gaps: a scenario could notice.
	reasonElsewhere = "The message is raised at several places, and the scenario of its record reaches another one."
	reasonListed    = "Both problems are listed, whichever is found first, and no scenario has a config with both."
	reasonOne       = "No scenario brings about both conditions at once."
)

// survivors gives the reason why the scenarios concerned do not notice a
// mutant, by its name. The list shrinks: a mutant that is killed after all is a
// problem.
var survivors = map[string]string{
	`code daytona/client/terminal.go (*Terminal).Send WithClass: PTY is not connected`:                                                                                                                                                                                       reasonInside,
	`code daytona/client/terminal.go (*Terminal).WaitConnected WithClass: PTY connection timeout`:                                                                                                                                                                            reasonInside,
	`code daytona/client/terminal.go (*Terminal).ended WithClass: Connection failed`:                                                                                                                                                                                         reasonInside,
	`code daytona/sandbox.go live WithClass: Daytona sandbox liveness call "%s" did not respond within %d ms; the sandbox connection is unresponsive.`:                                                                                                                       reasonInside,
	`swap environment/sandbox.go (*sandbox).Acquire: Sandbox provider "%s" is not registered as a built-in provider and no matching plugin is available. <> Sandbox provider "%s" is installed via plugin "%s", but that plugin is currently %s.`:                            reasonExclusive,
	`guard daytona/cache.go (*cache).get: Daytona sandbox handle mismatch: handle %s does not belong to lease %s. (2)`:                                                                                                                                                       reasonElsewhere,
	`guard daytona/config.go config.problems: Daytona sandbox environments require an API key in config or DAYTONA_API_KEY.`:                                                                                                                                                 reasonElsewhere,
	`guard daytona/release.go (*provider).tearDown: Daytona sandbox handle mismatch: handle %s does not belong to lease %s.`:                                                                                                                                                 reasonElsewhere,
	`guard worker/call.go (*Handle).Call: Cannot call "%s" — worker for "%s" is not running`:                                                                                                                                                                                 reasonElsewhere,
	`guard worker/call.go (*run).start: Cannot call "%s" — worker for "%s" is not running (2)`:                                                                                                                                                                               reasonElsewhere,
	`swap daytona/config.go config.problems: Daytona image cannot be empty. <> Daytona snapshot cannot be empty.`:                                                                                                                                                            reasonListed,
	`swap daytona/config.go config.problems: Daytona resource settings require image-backed sandbox creation; snapshot/default sandbox creation cannot override CPU, memory, disk, or GPU. <> Daytona sandbox environments require an API key in config or DAYTONA_API_KEY.`: reasonListed,
	`swap daytona/config.go config.problems: Daytona sandbox environments must set either image or snapshot, not both. <> apiUrl must be a valid URL.`:                                                                                                                       reasonListed,
	`swap daytona/config.go config.problems: Daytona snapshot cannot be empty. <> Daytona sandbox environments must set either image or snapshot, not both.`:                                                                                                                 reasonListed,
	`swap daytona/config.go config.problems: apiUrl must be a valid URL. <> timeoutMs must be between 1 and 86400000.`:                                                                                                                                                       reasonListed,
	`swap daytona/config.go config.problems: autoArchiveInterval must be greater than or equal to 0. <> autoDeleteInterval must be greater than or equal to -1.`:                                                                                                             reasonListed,
	`swap daytona/config.go config.problems: autoDeleteInterval must be greater than or equal to -1. <> Daytona resource settings require image-backed sandbox creation; snapshot/default sandbox creation cannot override CPU, memory, disk, or GPU.`:                       reasonListed,
	`swap daytona/config.go config.problems: autoStopInterval must be greater than or equal to 0. <> autoArchiveInterval must be greater than or equal to 0.`:                                                                                                                reasonListed,
	`swap daytona/config.go config.problems: livenessTimeoutMs must be less than or equal to 86400000. <> autoStopInterval must be greater than or equal to 0.`:                                                                                                              reasonListed,
	`swap daytona/config.go config.problems: timeoutMs must be between 1 and 86400000. <> livenessTimeoutMs must be less than or equal to 86400000.`:                                                                                                                         reasonListed,
	`swap daytona/duplex.go (*provider).duplexOpen: Daytona duplex channel: no cached sandbox resolves the provider lease. <> The duplex channel launch command needs at least one argument.`:                                                                                reasonOne,
	`swap environment/plugin_driver.go (*core).usable: Plugin "%s" does not declare environment driver "%s". <> Plugin environment driver "%s:%s" has no running worker.`:                                                                                                    reasonOne,
	`swap environment/plugin_driver.go (*core).usable: Plugin environment driver "%s:%s" is not ready. <> Plugin "%s" does not declare environment driver "%s".`:                                                                                                             reasonOne,
	`swap environment/sandbox.go (*sandbox).Acquire: Sandbox provider "%s" is installed via plugin "%s", but that plugin is currently %s. <> Sandbox provider "%s" is installed, but sandbox plugin workers are unavailable in this server process.`:                         reasonOne,
	`swap environment/sandbox_use.go (*sandbox).OpenDuplexChannel: Sandbox duplex channel needs a plugin id, a provider key, and a provider lease id on the lease. <> Plugin worker "%s" is not running for the duplex channel.`:                                             reasonOne,
	`swap worker/call.go (*run).start: Cannot call "%s" — worker for "%s" is not running <> Cannot encode the parameters of "%s": %v`:                                                                                                                                        reasonOne,
	`swap worker/call.go (*run).start: Cannot encode the parameters of "%s": %v <> Cannot call "%s" — worker for "%s" is not running`:                                                                                                                                        reasonOne,
}
