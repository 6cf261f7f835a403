// Package runtime is the top of the reference runtime: a Go implementation of
// how the documented project leases environments, runs plugin workers and opens
// channels, so that each documented error comes from a real code path. It
// imports nothing of the knowledge base.
//
// From the caller to the terminal:
//
//	host         puts a whole runtime together; start here
//	environment  the facade, its drivers, configurations and runs
//	capability   what a lease may do
//	plugin       installed plugins and the two ways to find one
//	lease        the store of leases
//	worker       worker processes: life, calls, crashes, the registry of them
//	duplex       routes of channels and login terminals on the host
//	wire         the protocol between host and worker
//	sdk          the worker side of it
//	daytona      the Daytona provider, a worker; its client and a service for it
//	fixture      a worker that misbehaves on demand
//	fault        how errors are made
//	clock        time, real or fake
//
// The message templates stand as constants beside the code that raises them,
// each with the id that the catalogue gives it. Guards stand in the order in
// which they are tried.
package runtime
