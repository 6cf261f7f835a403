package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"errorkb/cmd/internal/cli"
	"errorkb/cmd/internal/enginefile"
	"errorkb/internal/diagnose"
	"errorkb/internal/kb"
	"errorkb/internal/lint"
	"errorkb/internal/render"
	"errorkb/internal/search"
	"errorkb/internal/server"
	"errorkb/internal/store"
)

// loader makes what a server answers from, of the records as they are now.
type loader struct {
	records string       // folder, "" for the bundled ones
	checked *lint.Loader // of the folder
	data    string       // data directory
	lock    *store.Lock  // of the data directory
	options render.Options
	live    bool      // records can be proven on demand
	stderr  io.Writer // for progress
	log     *slog.Logger
}

// engineFile is the diagnosis in the data directory, worked out.
const engineFile = "diagnosis"

// Load reads and checks the records, and brings the store, the index and the
// diagnosis of the data directory up to date. A directory that was
// deleted is made again. A set with errors gives a *cli.FindingsError.
func (l *loader) Load(ctx context.Context) (*server.Snapshot, error) {
	set, err := cli.RecordsBy(ctx, l.checked, l.records, l.stderr)
	if err != nil {
		return nil, err
	}
	if err := l.lock.Renew(); err != nil {
		return nil, err
	}
	proof, err := cli.Proof(l.records, set)
	if err != nil {
		return nil, err
	}
	var prove server.Prover
	if l.live {
		if prove, err = newProver(l.records, set, proof); err != nil {
			return nil, err
		}
	}
	return l.open(ctx, set, proof, prove)
}

func (l *loader) open(ctx context.Context, set *kb.Set, proof *kb.Proof, prove server.Prover) (*server.Snapshot, error) {
	var (
		records *store.Store
		index   *search.Index
		engine  *diagnose.Engine
		unmap   func() error
	)
	progress := cli.NewProgress(l.stderr, "indexing")
	defer progress.End()
	group, inner := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		records, err = store.Open(inner, l.data, set)
		return err
	})
	group.Go(func() (err error) {
		index, err = search.Open(inner, l.data, set, progress.Step)
		return err
	})
	group.Go(func() (err error) {
		engine, unmap, err = enginefile.Make(filepath.Join(l.data, engineFile), set.Version, entriesOf(set, l.options.Base), func(err error) {
			l.log.Warn("the file of the diagnosis is not used", "error", err)
		})
		if err != nil {
			return fmt.Errorf("build the diagnosis: %w", err)
		}
		return nil
	})
	closeAll := func() error {
		var errs []error
		if records != nil {
			errs = append(errs, records.Close())
		}
		if index != nil {
			errs = append(errs, index.Close())
		}
		if unmap != nil {
			errs = append(errs, unmap())
		}
		return errors.Join(errs...)
	}
	if err := group.Wait(); err != nil {
		return nil, errors.Join(err, closeAll())
	}
	options := l.options
	options.Proof, options.LiveProof = proof, l.live
	return &server.Snapshot{
		Source: records,
		Pages:  render.New(records, options),
		Search: index,
		Diagnose: func(ctx context.Context, text []byte) diagnose.Answer {
			return engine.Diagnose(ctx, text, diagnose.Options{})
		},
		Prove: prove,
		Close: closeAll,
	}, nil
}
