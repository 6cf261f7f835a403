package main

// Reasons why a mutant survives: nobody outside can tell it from the original.
const (
	reasonInside    = "The class stays inside the worker: the protocol carries the message and the code, so no caller sees another one."
	reasonExclusive = "The two conditions ask for different values of one state, so that they never hold together."
)

// survivors gives the reason why the scenarios do not notice a mutant, by its
// name. The list shrinks: a mutant that is killed after all is a problem.
var survivors = map[string]string{
	`code daytona/client/terminal.go (*Terminal).Send WithClass: PTY is not connected`:                                                                                                                                                            reasonInside,
	`code daytona/client/terminal.go (*Terminal).WaitConnected WithClass: PTY connection timeout`:                                                                                                                                                 reasonInside,
	`code daytona/client/terminal.go (*Terminal).ended WithClass: Connection failed`:                                                                                                                                                              reasonInside,
	`code daytona/sandbox.go live WithClass: Daytona sandbox liveness call "%s" did not respond within %d ms; the sandbox connection is unresponsive.`:                                                                                            reasonInside,
	`swap daytona/config.go config.problems: Daytona snapshot cannot be empty. <> Daytona sandbox environments must set either image or snapshot, not both.`:                                                                                      reasonExclusive,
	`swap environment/sandbox.go (*sandbox).Acquire: Sandbox provider "%s" is not registered as a built-in provider and no matching plugin is available. <> Sandbox provider "%s" is installed via plugin "%s", but that plugin is currently %s.`: reasonExclusive,
}
