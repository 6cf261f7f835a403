#!/usr/bin/env bash
# The gate: the same command for people and for CI. It changes nothing but stale
# generated files.
# Needs Go; the tests in a browser run when a Chromium is found, and must run
# when KB_REQUIRE_BROWSER=1.
set -euo pipefail
cd "$(dirname "$0")"

step() { printf '\n== %s\n' "$*"; }

step "format"
unformatted=$(git ls-files -z --cached --others --exclude-standard '*.go' | xargs -0 gofmt -l)
if [ -n "$unformatted" ]; then
  printf 'not formatted, run gofmt -w on:\n%s\n' "$unformatted" >&2
  exit 1
fi

step "modules"
go mod tidy -diff

step "generated files"
before=$(git ls-files -z --cached --others --exclude-standard '*_templ.go' | xargs -0 -r cat | sha256sum)
go tool templ generate >/dev/null 2>&1
after=$(git ls-files -z --cached --others --exclude-standard '*_templ.go' | xargs -0 -r cat | sha256sum)
if [ "$before" != "$after" ]; then
  echo 'generated files were stale and have been generated again; commit them (go tool templ generate)' >&2
  exit 1
fi

step "vet"
go vet ./...

step "staticcheck"
go tool -modfile=tools.mod staticcheck ./...

step "no cgo in what we ship; the diagnosis builds for the browser"
with_cgo=$(go list -deps -f '{{if and .CgoFiles (not .Standard)}}{{.ImportPath}}{{end}}' ./cmd/...)
if [ -n "$with_cgo" ]; then
  printf 'packages with cgo:\n%s\n' "$with_cgo" >&2
  exit 1
fi
GOOS=js GOARCH=wasm go vet ./cmd/kb-wasm

step "records"
go run ./cmd/kb lint --records records

step "proof"
go run ./cmd/kb prove --check --records records

if [ -n "${KB_SHARED:-}" ]; then
  step "quality of the diagnosis on the shared cases"
  go test ./internal/diagnose/eval
fi

step "tests with the race detector"
go test -race -timeout 20m ./...
