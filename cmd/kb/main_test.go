package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"errorkb/cmd/internal/clitest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"kb": main})
}

func TestScripts(t *testing.T) { clitest.Scripts(t, "testdata/records") }
