package eval_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"errorkb/internal/diagnose/eval"
)

// shared is the folder of evaluation material, or skips the test.
func shared(t *testing.T) string {
	dir := os.Getenv("KB_SHARED")
	if dir == "" {
		t.Skip("set KB_SHARED to the folder that holds eval/ to run this test")
	}
	return dir
}

func TestEval(t *testing.T) {
	dir := shared(t)
	report, err := eval.Run(context.Background(), filepath.Join(dir, "eval/catalogues"), filepath.Join(dir, "eval/cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	report.WriteText(os.Stdout)
}

func TestBaseline(t *testing.T) {
	dir := shared(t)
	report, err := eval.RunWith(context.Background(), filepath.Join(dir, "eval/catalogues"), filepath.Join(dir, "eval/cases.jsonl"), eval.BaselineFinder)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(report.Own, report.All)
}
