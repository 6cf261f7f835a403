package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Output that is lost is reported, with the status of the command if it has one.
func TestRunReportsLostOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	for script, want := range map[string]int{"echo lost": statusOwnFailure, "echo lost; exit 9": 9} {
		cmd := exec.Command("kb", "run", "sh", "-c", script)
		var errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = full, &errs
		cmd.Run()
		if status := cmd.ProcessState.ExitCode(); status != want || !strings.Contains(errs.String(), "kb: pass the output on: write /dev/stdout: no space left on device\n") {
			t.Errorf("%s: status %d, %s", script, status, errs.String())
		}
	}
}
