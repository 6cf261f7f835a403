package main

import (
	"context"
	"io/fs"
	"net"
	"os"

	"errorkb/cmd/internal/cli"
	"errorkb/internal/conformance"
	"errorkb/internal/kb"
	"errorkb/internal/server"
	"errorkb/records"
)

// newProver makes what a server proves records with, of a set and its evidence,
// nil for none. The folder is "" for the bundled records.
func newProver(dir string, set *kb.Set, proof *kb.Proof) (server.Prover, error) {
	var fsys fs.FS = records.FS
	if dir != "" {
		var err error
		if fsys, err = cli.Folder(dir); err != nil {
			return nil, err
		}
	}
	scenarios, err := conformance.Load(fsys)
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return func(record *kb.Record) (server.LiveRun, bool) {
		if !scenarios.Has(record) {
			return nil, false
		}
		return func(ctx context.Context, tell func(kb.LiveEvent)) (kb.LiveResult, error) {
			result, err := conformance.Prove(ctx, conformance.Config{
				Records: set, Scenarios: scenarios, Program: program, Only: []string{record.ID}, Parallel: 1,
				Trace: func(e conformance.Event) { tell(liveEvent(e)) },
			})
			if err != nil {
				return kb.LiveResult{}, err
			}
			return result.Proof.Records[0].Result(proof.Of(record.ID)), nil
		}, true
	}, nil
}

func liveEvent(e conformance.Event) kb.LiveEvent {
	if e.Heading == "" {
		return kb.LiveEvent{Step: &e.Step, Emitted: e.Emitted}
	}
	part := &kb.LivePart{Heading: e.Heading}
	if e.Solution > 0 {
		part.Solution = &e.Solution
	}
	return kb.LiveEvent{Part: part}
}

// ofThisMachine makes sure that nobody else can reach a server that starts
// programs on demand.
func ofThisMachine(addr net.Addr) error {
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsLoopback() {
		return nil
	}
	return cli.Hint(cli.Usagef("--live-proof starts programs for whoever reaches the server, and other machines reach %s", addr),
		"listen on this machine only, as with --addr 127.0.0.1:8080, or leave --live-proof out")
}
